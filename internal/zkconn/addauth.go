package zkconn

import (
	"bytes"
	"context"
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

// credentialAnswered keeps a credential of AddAuth for later connections if it was accepted. If it
// was not, that is for the caller of AddAuth alone.
func (c *Conn) credentialAnswered(added *Auth, accepted bool) {
	switch {
	case added != nil && accepted:
		c.keepAuth(*added)
	case added == nil && !accepted:
		c.credentialsRejected(nil)
	}
}

func (c *Conn) keepAuth(a Auth) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := func(b Auth) bool { return a.Scheme == b.Scheme && bytes.Equal(a.Auth, b.Auth) }
	if !slices.ContainsFunc(c.auth, same) {
		c.auth = append(c.auth, a)
	}
}
