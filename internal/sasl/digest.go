// Package sasl has the SASL mechanism DIGEST-MD5 (RFC 2831), in the form of ZooKeeper's own
// client and server.
//
// A mechanism turns the server's challenges into answers. The session layer sends them, as
// requests of type 102 before all other requests of a connection. The exchange with ZooKeeper
// is:
//
//	client: an empty token                   Next(ctx, nil)       = "", false, nil
//	server: realm, nonce, ...
//	client: username, realm, response, ...   Next(ctx, challenge) = response, false, nil
//	server: rspauth
//	client: nothing                          Next(ctx, rspauth)   = nil, true, nil
//
// DIGEST-MD5 proves that both sides know the password without sending it. It does nothing else:
// later requests are neither encrypted nor signed, and an eavesdropper can test guessed
// passwords against an exchange. Use it over TLS, with long random passwords. RFC 6331 has
// moved it to historic; ZooKeeper 3.9 and later support it only with fips-mode=false. A program
// that runs with GODEBUG=fips140=only cannot use it, because Go panics at MD5 there.
//
// The password and values that are computed from it never appear in an error, or in the text of
// a value of this package.
//
// Java: org.apache.zookeeper.client.ZooKeeperSaslClient with DigestLoginModule, and the
// mechanism in com.sun.security.sasl.digest.
package sasl

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors of an exchange.
var (
	// ErrServer is returned by Next if the server does not prove that it knows the password:
	// it is not the server that it seems to be. To a wrong password of the client's, a server
	// answers with an error code instead.
	ErrServer = errors.New("the server does not prove that it knows the password")

	// ErrOver is returned by Next if the exchange is over: it was successful, or it failed.
	ErrOver = errors.New("the SASL exchange is over")
)

// digestURI is what ZooKeeper's clients and servers agree upon, whatever the server's name:
// the name of the protocol, and the name that its source has for every server.
const digestURI = "zookeeper/zk-sasl-md5"

// What RFC 2831 allows, in bytes.
const (
	maxChallenge = 2047
	maxResponse  = 4095
)

// state is what an exchange waits for.
type state int

const (
	begin     state = iota // the session layer, which asks for the initial response
	asked                  // the server's challenge
	responded              // the server's own proof
	over
)

// Digest is the client's side of one DIGEST-MD5 authentication: each connection needs one of
// its own. It is for one goroutine at a time.
//
// Its secrets are in functions, which have no text, so that they stay secret wherever it is
// formatted, logged or encoded.
type Digest struct {
	state   state
	uri     string
	cnonce  func() string
	respond func(c challenge, cnonce, uri string) (response, proof string, err error)
	proof   func() string // what the server must prove itself with; after respond
}

// DigestMD5 returns a function that begins an authentication as user: call it for each
// connection. The function is safe for concurrent use, and formatted it shows neither user nor
// password. An error is about a user or password that DIGEST-MD5 cannot carry: they must be
// valid UTF-8 and not empty, and have no control characters.
//
// ZooKeeper knows the user as the id of ACLs of the scheme sasl.
//
// Java: a JAAS section Client with org.apache.zookeeper.server.auth.DigestLoginModule.
func DigestMD5(user, password string) (func() *Digest, error) {
	for _, c := range []struct{ what, text string }{{"user", user}, {"password", password}} {
		switch {
		case c.text == "":
			return nil, fmt.Errorf("DIGEST-MD5: the %s is empty", c.what)
		case !utf8.ValidString(c.text):
			return nil, fmt.Errorf("DIGEST-MD5: the %s is not UTF-8", c.what)
		case strings.ContainsFunc(c.text, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("DIGEST-MD5: the %s has control characters", c.what)
		}
	}
	return func() *Digest {
		return &Digest{
			uri:    digestURI,
			cnonce: rand.Text,
			respond: func(c challenge, cnonce, uri string) (string, string, error) {
				return respond(c, user, password, cnonce, uri)
			},
		}
	}, nil
}

// Name returns "DIGEST-MD5".
func (d *Digest) Name() string { return "DIGEST-MD5" }

// String returns the mechanism's name and nothing of its state.
func (d *Digest) String() string { return d.Name() }

// GoString is String.
func (d *Digest) GoString() string { return d.Name() }

// Next takes what the server has sent, and returns what it is to be sent. The first call is
// for the initial response, and has an empty challenge; DIGEST-MD5 has no initial response,
// and the answer is empty, but not nil: ZooKeeper is sent an empty token. With done the server
// has proved that it knows the password, too; then the answer is nil, and nothing is to be
// sent.
//
// Errors: [ErrChallenge], [ErrServer], [ErrOver], or that of ctx, with its cause, if it has
// ended. After an error the exchange is over, and the connection must not be used. Next does
// not wait for anything.
func (d *Digest) Next(ctx context.Context, challenge []byte) (answer []byte, done bool, err error) {
	was := d.state
	d.state = over
	if ctx.Err() != nil {
		return nil, false, fmt.Errorf("DIGEST-MD5: %w", context.Cause(ctx))
	}
	if len(challenge) > maxChallenge {
		return nil, false, fmt.Errorf("%w: it has %d bytes", ErrChallenge, len(challenge))
	}
	switch was {
	case begin:
		if len(challenge) > 0 {
			return nil, false, fmt.Errorf("%w: it comes before the client's first token", ErrChallenge)
		}
		d.state = asked
		return []byte{}, false, nil
	case asked:
		if answer, err = d.answer(challenge); err != nil {
			return nil, false, err
		}
		d.state = responded
		return answer, false, nil
	case responded:
		if err := d.verify(challenge); err != nil {
			return nil, false, err
		}
		return nil, true, nil
	default:
		return nil, false, ErrOver
	}
}

// answer returns the response to the server's challenge.
func (d *Digest) answer(b []byte) ([]byte, error) {
	c, err := parseChallenge(b)
	if err != nil {
		return nil, err
	}
	response, proof, err := d.respond(c, d.cnonce(), d.uri)
	if err != nil {
		return nil, err
	}
	d.proof = func() string { return proof }
	return []byte(response), nil
}

// verify checks the server's proof.
func (d *Digest) verify(b []byte) error {
	directives, err := parseDirectives(b)
	if err != nil {
		return err
	}
	proof, times := "", 0
	for _, given := range directives {
		if given.name == "rspauth" {
			proof = given.value
			times++
		}
	}
	if times != 1 {
		return fmt.Errorf("%w: rspauth is there %d times", ErrServer, times)
	}
	if subtle.ConstantTimeCompare([]byte(strings.ToLower(proof)), []byte(d.proof())) != 1 {
		return ErrServer
	}
	return nil
}

// respond returns the response to a challenge, and the proof that the server must answer with.
// Its errors do not tell the password.
func respond(c challenge, user, password, cnonce, uri string) (response, proof string, err error) {
	name, secret, realm := latin1(user), latin1(password), latin1(c.realm)
	sent := user
	if !c.utf8 {
		// The server knows ISO 8859-1 only, in which its realm is as it stands.
		if name == user && !isASCII(user) || secret == password && !isASCII(password) {
			return "", "", fmt.Errorf("%w: no charset=utf-8, which the user or the password needs", ErrChallenge)
		}
		sent, realm = name, c.realm
	}
	const count, protection = "00000001", "auth"
	session := md5.Sum([]byte(name + ":" + realm + ":" + secret))
	a1 := hash(string(session[:]) + ":" + c.nonce + ":" + cnonce)
	digest := func(a2 string) string {
		return hash(a1 + ":" + c.nonce + ":" + count + ":" + cnonce + ":" + protection + ":" + hash(a2))
	}
	var b strings.Builder
	if c.utf8 {
		b.WriteString("charset=utf-8,")
	}
	b.WriteString("username=" + quote(sent))
	if c.hasRealm {
		b.WriteString(",realm=" + quote(c.realm))
	}
	fmt.Fprintf(&b, `,nonce=%s,nc=%s,cnonce=%s,digest-uri=%s,response=%s,qop=%s`,
		quote(c.nonce), count, quote(cnonce), quote(uri), digest("AUTHENTICATE:"+uri), protection)
	if b.Len() > maxResponse {
		return "", "", fmt.Errorf("%w: the response to it has %d bytes", ErrChallenge, b.Len())
	}
	return b.String(), digest(":" + uri), nil
}

// hash is the MD5 of s in hexadecimal.
func hash(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// latin1 returns UTF-8 text in ISO 8859-1 if that has all of its characters, and as it is
// otherwise: RFC 2831 hashes it so, for passwords that were stored before there was UTF-8.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		if r > 0xff {
			return s
		}
		b = append(b, byte(r))
	}
	return string(b)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
