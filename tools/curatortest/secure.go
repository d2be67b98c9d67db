package curatortest

import (
	"fmt"
	"maps"
)

// newEmbeddedConfig is newConfig for the embedded server, which refuses the options of this
// file.
func newEmbeddedConfig(opts []Option) (config, error) {
	c, err := newConfig(opts)
	if name := c.security.embeddedMistake(); err == nil && name != "" {
		err = fmt.Errorf("%w: %s: only real servers have it: see Real and RealEnsemble", ErrInvalidOption, name)
	}
	return c, err
}

// WithTLS has real servers listen for TLS, too, on a port of its own, ZooKeeper's
// secureClientPort: see [Ensemble.TLSConnectString] and [Ensemble.TLSConfig]. The plain port
// stays. Connections between servers are not encrypted. The embedded server refuses this.
//
//	ensemble := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
//	client := curatortest.NewClient(t, ensemble.TLSConnectString(), framework.WithoutEnsembleTracker(),
//		framework.WithTLS(ensemble.TLSConfigWith(curatortest.Certificate{Subject: pkix.Name{CommonName: "orders"}})))
//
// What a client must refuse is made by settings.Server, or on the client's side: a
// certificate that has expired has a NotAfter in the past, one for another host has other
// Hosts, and one of an authority that is not trusted has UnknownAuthority.
func WithTLS(settings TLS) Option {
	return option(func(c *config) { c.security.tls = &settings })
}

// WithSASL has real servers authenticate clients by SASL's DIGEST-MD5, with a password for
// each name. Clients that do not authenticate are served, too, as everybody: see
// [WithSASLRequired]. A user is the id of ACLs of the scheme sasl. The embedded server
// refuses this.
//
// A name has letters, digits, _, - and . only. The passwords are in a file that only the
// user of the test can read, until the server is closed.
func WithSASL(users map[string]string) Option {
	users = maps.Clone(users)
	return option(func(c *config) {
		c.security.users = users
		if len(users) == 0 {
			c.invalid("WithSASL", "no users")
		}
	})
}

// WithSASLRequired has real servers with [WithSASL] serve no client that has not
// authenticated: they answer its first request, and a wrong password, with the error -124, and
// end the connection. Its session lives on until it expires. It is ZooKeeper's
// sessionRequireClientSASLAuth. The embedded server refuses this.
func WithSASLRequired() Option {
	return option(func(c *config) { c.security.saslRequired = true })
}

// WithReadOnlyMode lets a member of a real ensemble that has lost its quorum serve reads to
// clients that ask for it in their connect request; it is ZooKeeper's readonlymode.enabled.
// See [Member.AwaitReadOnly]. One server that is alone refuses this, and so does the embedded
// one.
//
// Such a server serves new sessions only, and only local ones. The servers therefore have
// ZooKeeper's local sessions, which changes what they do while there is a quorum, too: a
// session is known to its own server alone until it creates its first ephemeral node, and
// expires if its client goes to another server before.
func WithReadOnlyMode() Option {
	return option(func(c *config) { c.security.readOnly = true })
}
