package framework

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
)

// WithTLS encrypts every connection. A server's certificate is verified against its name in the
// connect string, unless the config has another ServerName. Put a client certificate into the
// config's Certificates. The TLS handshake is a part of the time that a server has to accept a
// session. It also works with WithDialer.
//
// ZooKeeper's servers listen for TLS on a separate port, secureClientPort.
//
// Java: ZKClientConfig with zookeeper.client.secure.
func WithTLS(settings *tls.Config) Option {
	return option(func(c *config) error {
		if settings == nil {
			return errors.New("WithTLS: the configuration is nil")
		}
		c.tls = settings.Clone()
		return nil
	})
}

// dialer returns how the client connects.
func (c *config) dialer() dialFunc {
	if c.dial == nil {
		return new(net.Dialer).DialContext
	}
	return c.dial
}

// secure returns how the client puts TLS on a connection to a server, nil if it does not.
func (c *config) secure() func(ctx context.Context, conn net.Conn, server string) (net.Conn, error) {
	if c.tls == nil {
		return nil
	}
	return func(ctx context.Context, conn net.Conn, server string) (net.Conn, error) {
		settings := c.tls
		if settings.ServerName == "" {
			settings = settings.Clone()
			settings.ServerName, _, _ = net.SplitHostPort(server) // it was checked by NewClient
		}
		secure := tls.Client(conn, settings)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		return secure, nil
	}
}
