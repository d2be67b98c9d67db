package curatortest

import (
	"fmt"
	"maps"
)

// newEmbeddedConfig is newConfig for the embedded server. The options of this file are errors for it.
func newEmbeddedConfig(opts []Option) (config, error) {
	c, err := newConfig(opts)
	if name := c.security.embeddedMistake(); err == nil && name != "" {
		err = fmt.Errorf("%w: %s: only for real servers: see Real and RealEnsemble", ErrInvalidOption, name)
	}
	return c, err
}

// WithTLS makes real servers also listen for TLS, on a separate port, ZooKeeper's
// secureClientPort: see [Ensemble.TLSConnectString] and [Ensemble.TLSConfig]. The plain port
// stays. Connections between servers are not encrypted. An embedded server refuses this option.
//
//	ensemble := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
//	client := curatortest.NewClient(t, ensemble.TLSConnectString(), framework.WithoutEnsembleTracker(),
//		framework.WithTLS(ensemble.TLSConfigWith(curatortest.Certificate{Subject: pkix.Name{CommonName: "orders"}})))
//
// settings.Server makes certificates that a client must refuse: an expired certificate has a
// NotAfter in the past, a certificate for another host has other Hosts, and a certificate of an
// untrusted authority has UnknownAuthority. Certificates of clients are made in the same way.
func WithTLS(settings TLS) Option {
	return option(func(c *config) { c.security.tls = &settings })
}

// WithSASL makes real servers authenticate clients by SASL's DIGEST-MD5, with a password for
// each name. Clients that do not authenticate are also served: see [WithSASLRequired]. A user
// is the id in ACLs of the scheme sasl. An embedded server refuses this option.
//
// A name has only letters, digits, _, - and . characters. The passwords are in a file that only
// the user of the test can read, until the server is closed.
func WithSASL(users map[string]string) Option {
	users = maps.Clone(users)
	return option(func(c *config) {
		c.security.users = users
		if len(users) == 0 {
			c.invalid("WithSASL", "no users")
		}
	})
}

// WithSASLRequired makes real servers with [WithSASL] serve only clients that have
// authenticated: they answer the first request of other clients, and a wrong password, with the
// error -124, and end the connection. The session of such a client lives until it expires. It
// is ZooKeeper's sessionRequireClientSASLAuth. An embedded server refuses this option.
func WithSASLRequired() Option {
	return option(func(c *config) { c.security.saslRequired = true })
}

// WithReadOnlyMode lets a member of a real ensemble that has lost its quorum serve reads to
// clients that ask for it in their connect request; it is ZooKeeper's readonlymode.enabled.
// See [Member.AwaitReadOnly]. A standalone real server and an embedded server refuse this
// option.
//
// A member without a quorum serves only new, local sessions. The servers therefore have
// ZooKeeper's local sessions, also while there is a quorum: only its server knows a session
// until it creates its first ephemeral node, and the session expires if its client moves to
// another server before.
func WithReadOnlyMode() Option {
	return option(func(c *config) { c.security.readOnly = true })
}
