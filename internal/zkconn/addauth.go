package zkconn

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

// AddAuth presents a credential on the connection in use, behind what was sent on it before, and,
// once a server has accepted it, on all later connections. An error of the server's says that it
// was refused, and is not kept; the server ends the connection. After a *TransportError it is not
// known whether it is kept; it can be added again.
func (c *Conn) AddAuth(ctx context.Context, a Auth) error {
	call := &Call{Op: jute.OpAuth, Req: &jute.AuthPacket{Scheme: a.Scheme, Auth: a.Auth}, added: &a}
	if err := c.Do(ctx, 0, call); err != nil {
		return err
	}
	return call.Err
}

// credentialRefused is why a server ends a connection that has presented a credential.
func credentialRefused(request jute.Record) error {
	text := "it refuses a credential"
	if p, ok := request.(*jute.AuthPacket); ok {
		text = fmt.Sprintf("it refuses the credential of the scheme %q", p.Scheme)
	}
	return &Error{code: jute.CodeAuthFailed, text: text, driver: ErrAuthFailed}
}

// credentialAccepted keeps a credential of AddAuth for later connections.
func (c *Conn) credentialAccepted(a Auth) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := func(b Auth) bool { return a.Scheme == b.Scheme && bytes.Equal(a.Auth, b.Auth) }
	if !slices.ContainsFunc(c.auth, same) {
		c.auth = append(c.auth, a)
	}
}
