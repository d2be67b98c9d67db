package framework

import "errors"

// WithEnsembleProvider takes the servers from p. The connect string of NewClient must then
// be "", or a chroot alone, "/app". A provider belongs to one client. Package
// framework/ensemble has one that reads DNS SRV records. If p is an EnsembleNotifier, too, the
// client hears of other servers sooner.
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

// WithoutEnsembleTracker does not follow the ensemble's own configuration.
//
// By default a client reads it with every new connection and watches it. If it says of each
// server where that serves clients, as dynamic configurations do, these are the servers
// from then on, ahead of those of the connect string; else nothing changes, and nothing
// does with a server that has no ensemble, or whose configuration the client may not read.
// A connection that works is never ended for this.
//
// Servers that do not know how they are reached, behind proxies or in containers, are a
// reason to turn it off: each of their names is tried in vain before the connect string's
// own. With WithTLS it is off always, because the configuration has no ports for TLS.
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
