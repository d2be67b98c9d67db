package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/sasl"
	"github.com/go-curator/curator/internal/zkconn"
)

// SASL begins the client's side of a SASL authentication with a server, host:port as the client
// was given it. It is called once for every connection, so that each has a mechanism of its own.
// One is [DigestMD5]'s; others, such as GSSAPI, are for programs to write.
//
// It is called on a goroutine of its own, never at the same time as another of the client's SASL
// or its mechanisms. It may block, and must return when ctx ends, which is at the end of the time
// that a server has for its handshake, about a third of the session timeout, or with Close. Until
// it has returned there is no other authentication, and so no connection; Close waits for it until
// its own context ends.
//
// An error that matches [ErrAuthFailed] ends all attempts: every operation returns it. Another one,
// as of a ticket server that cannot be reached, ends the connection, and the client tries again;
// operations that wait meanwhile return it beside ErrConnectionLoss. A panic is like an error that
// matches ErrAuthFailed. Errors and panics are logged and returned as they are: they must not
// hold secrets.
type SASL func(ctx context.Context, server string) (SASLMechanism, error)

// SASLMechanism is the client's side of one SASL authentication. All that is said of [SASL] is
// true of its methods, too. They are called one after the other.
//
// Java: javax.security.sasl.SaslClient.
type SASLMechanism interface {
	// Name returns the registered name of the mechanism, such as "GSSAPI". It is for errors: in
	// ZooKeeper's protocol it is not sent.
	Name() string

	// Next takes the server's token and returns the one that the server is to be sent. At first
	// there is no challenge, and the answer is the mechanism's initial response; an empty one is
	// sent, too. Later a challenge is nil if the server has sent none, as one does that is not set
	// up for SASL.
	//
	// With done the authentication is over, and the client has made sure of the server as far as
	// the mechanism can. A nil answer is not sent then. Another one is, and the server must accept
	// it; what it answers beyond that is not looked at.
	Next(ctx context.Context, challenge []byte) (answer []byte, done bool, err error)
}

// WithSASL authenticates the client by SASL: on every connection, before anything else is sent on
// it. A server that does not accept that ends all attempts: every operation returns
// [ErrAuthFailed]. If the connection is lost meanwhile, or nothing is heard in the time of the
// handshake, the client tries again.
//
// SASL says who the client is, and nothing more: what follows is neither encrypted nor signed.
// Use it with [WithTLS]. It goes together with [WithAuthorization].
//
// Java: a JAAS file with a section Client, and ZKClientConfig's zookeeper.sasl.client. There a
// client whose section is missing or whose server has no SASL goes on without; here it does not.
func WithSASL(start SASL) Option {
	return option(func(c *config) error {
		if start == nil {
			return errors.New("WithSASL: the function is nil")
		}
		c.sasl = func(ctx context.Context, server string) (zkconn.Mechanism, error) {
			m, err := start(ctx, server)
			if m == nil {
				return nil, err
			}
			return m, err
		}
		return nil
	})
}

// DigestMD5 returns the SASL mechanism DIGEST-MD5, for [WithSASL]. The server knows the user as
// the id of ACLs of the scheme sasl. Both must be valid UTF-8 and not empty, and have no control
// characters; the error matches [ErrInvalidOption].
//
// It proves that both sides know the password without sending it. Who listens can try passwords on
// what was sent: use it over TLS, with long random passwords. ZooKeeper 3.9 and later have it only
// with fips-mode=false. A program that runs with GODEBUG=fips140=only cannot use it. What it
// returns has the password in it, and does not show it when it is formatted or logged.
//
// If the server is not set up for SASL, or does not prove that it knows the password, operations
// return [ErrAuthFailed], with that reason.
//
// Java: a JAAS section Client with org.apache.zookeeper.server.auth.DigestLoginModule.
func DigestMD5(user, password string) (SASL, error) {
	begin, err := sasl.DigestMD5(user, password)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	return func(context.Context, string) (SASLMechanism, error) { return digest{begin()}, nil }, nil
}

// digest is DIGEST-MD5, all errors of which end all attempts.
type digest struct{ *sasl.Digest }

func (d digest) Next(ctx context.Context, challenge []byte) (answer []byte, done bool, err error) {
	answer, done, err = d.Digest.Next(ctx, challenge)
	if err != nil && ctx.Err() == nil {
		err = refusal{err}
	}
	return answer, done, err
}

// refusal is an error that matches ErrAuthFailed, too, without saying so.
type refusal struct{ error }

func (r refusal) Unwrap() []error { return []error{ErrAuthFailed, r.error} }
