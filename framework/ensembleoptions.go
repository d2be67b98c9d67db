package framework

import "errors"

// WithEnsembleProvider takes the servers from p. The connect string of NewClient must then
// be "", or a chroot alone, "/app". A provider belongs to one client. Package
// framework/ensemble has one that reads DNS SRV records. If p is an EnsembleNotifier, too, the
// client learns of new servers sooner.
//
// Java: Builder.ensembleProvider.
func WithEnsembleProvider(p EnsembleProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithEnsembleProvider: the provider is nil")
		}
		c.provider = p
		return nil
	})
}

// WithoutEnsembleTracker makes the client ignore the ensemble's own configuration.
//
// By default a client reads the configuration with every new connection and watches it. If it
// has an address for clients for each server, as dynamic configurations have, the client tries
// these servers from then on, before those of the connect string. Otherwise nothing changes,
// for example with a server that has no ensemble, or whose configuration the client may not
// read. The client never ends a working connection because of the configuration.
//
// Use this option if clients cannot reach the configured addresses, for example behind proxies
// or in containers. Otherwise the client tries each of these addresses in vain before the
// connect string's. With WithTLS the configuration is always ignored, because it has no ports
// for TLS.
//
// Java: Builder.ensembleTracker(false).
func WithoutEnsembleTracker() Option {
	return option(func(c *config) error {
		c.untracked = true
		return nil
	})
}

// tracks tells whether the client follows the ensemble's configuration.
func (c *config) tracks() bool { return !c.untracked && c.tls == nil }
