package framework

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/go-curator/curator/internal/sasl"
	"github.com/go-curator/curator/internal/zkconn"
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

// SASL begins the client's side of a SASL authentication with a server, host:port as in the
// client's list. It is called once for every connection, so each connection has its own
// mechanism. [DigestMD5] returns one. Programs can write others, such as GSSAPI.
//
// It is called on its own goroutine, never at the same time as other SASL functions or
// mechanisms of the client. It may block, and must return when ctx ends: at the end of the time
// for a handshake, about a third of the session timeout, or with Close. Until it has returned
// there is no other authentication, and so no connection; Close waits for it until its own
// context ends.
//
// An error that matches [ErrAuthFailed] is a refusal if the server has answered a token before: the
// mechanism does not accept this server, and the client tries the others, see [WithSASL]. Before
// that it ends all attempts: every operation returns it. Any other error, for example that a
// ticket server cannot be reached, ends the connection, and the client tries again; operations that
// wait meanwhile return it joined with ErrConnectionLoss. A panic is handled like an error that
// matches ErrAuthFailed. Errors and panics are logged and returned unchanged, so they must not
// contain secrets.
type SASL func(ctx context.Context, server string) (SASLMechanism, error)

// SASLMechanism is the client's side of one SASL authentication. The rules for [SASL] also
// apply to its methods. They are called one after the other.
//
// Java: javax.security.sasl.SaslClient.
type SASLMechanism interface {
	// Name returns the registered name of the mechanism, such as "GSSAPI". Errors contain it;
	// ZooKeeper's protocol does not send it.
	Name() string

	// Next takes the server's token and returns the token for the server. The first call has no
	// challenge, and returns the mechanism's initial response; an empty response is sent, too.
	// Later a challenge is nil if the server has sent none, for example because it is not set
	// up for SASL.
	//
	// If done is true the authentication is over, and the mechanism has verified the server as
	// far as it can. A nil answer is not sent then. Any other answer is sent, and the server
	// must accept it; the token in the server's reply is ignored.
	Next(ctx context.Context, challenge []byte) (answer []byte, done bool, err error)
}

// WithSASL authenticates the client by SASL, on every connection, before other requests are
// sent. If the server or the mechanism refuses the other side, the connection ends, and the client tries
// the other servers. When each server that can be reached has refused, and there were three
// refusals at least since a server served the client, it stops all attempts, and every operation
// returns [ErrAuthFailed] with the servers and their reasons. One refusal does not mean much, because
// some releases of ZooKeeper refuse a right password when two users log in at the same moment. If the
// connection is lost meanwhile, or there is no answer in the time of the handshake, the client
// tries again.
//
// SASL only authenticates the client. Later messages are neither encrypted nor signed, so use
// it with [WithTLS]. It can be combined with [WithAuthorization].
//
// Java: a JAAS file with a section Client, and ZKClientConfig's zookeeper.sasl.client. A Java
// client whose section is missing or whose server has no SASL continues without authentication;
// this client does not.
func WithSASL(start SASL) Option {
	return option(func(c *config) error {
		if start == nil {
			return errors.New("WithSASL: the function is nil")
		}
		c.conn.SASL = func(ctx context.Context, server string) (zkconn.Mechanism, error) {
			m, err := start(ctx, server)
			if m == nil {
				return nil, err
			}
			return m, err
		}
		return nil
	})
}

// DigestMD5 returns the SASL mechanism DIGEST-MD5, for [WithSASL]. The user is the id in ACLs
// of the scheme sasl. User and password must be valid UTF-8 and not empty, and have no control
// characters; the error matches [ErrInvalidOption].
//
// It proves that both sides know the password without sending it. An eavesdropper can test
// guessed passwords against the messages, so use it over TLS, with long random passwords.
// ZooKeeper 3.9 and later support it only with fips-mode=false. A program that runs with
// GODEBUG=fips140=only cannot use it. The returned function contains the password, but does not
// show it when it is formatted or logged.
//
// A server that is not set up for SASL, or does not prove that it knows the password, is refused, with
// that reason.
//
// Java: a JAAS section Client with org.apache.zookeeper.server.auth.DigestLoginModule.
func DigestMD5(user, password string) (SASL, error) {
	begin, err := sasl.DigestMD5(user, password)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	return func(context.Context, string) (SASLMechanism, error) { return digest{begin()}, nil }, nil
}

// digest is DIGEST-MD5. Each of its errors ends all attempts.
type digest struct{ *sasl.Digest }

func (d digest) Next(ctx context.Context, challenge []byte) (answer []byte, done bool, err error) {
	answer, done, err = d.Digest.Next(ctx, challenge)
	if err != nil && ctx.Err() == nil {
		err = refusal{err}
	}
	return answer, done, err
}

// refusal is an error that also matches ErrAuthFailed; its text does not change.
type refusal struct{ error }

func (r refusal) Unwrap() []error { return []error{ErrAuthFailed, r.error} }
