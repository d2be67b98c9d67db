package zkconn

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/go-curator/curator/internal/wait"
)

// dial is the driver's dialer.
func (c *Conn) dial(network, _ string, _ time.Duration) (net.Conn, error) {
	c.hosts.ask(c.life)
	pause, stopped := c.hosts.pause()
	if stopped {
		<-c.life.Done() // Close, or rejected credentials: the driver cannot be stopped otherwise
	}
	if wait.For(c.life, pause) != nil {
		return newCloseStub(false), nil
	}
	ctx, a := c.hosts.begin(c.life, c.handshakeTimeout())
	defer a.cancel(nil)
	c.tried(Attempting, a)
	raw, err := c.dialTarget(ctx, network, a)
	if err != nil {
		c.hosts.ended(a, false)
		err = dialError(ctx, err)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.life.Err() == nil {
			c.attemptFailed(a, err)
		}
		return nil, err
	}
	c.tried(Reached, a)
	w := newMuxConn(c, &c.shared, c.cfg.SyncProof, raw, a.target.server)
	w.attempt = a
	w.limit(c.cfg.MaxInFlight)
	c.mu.Lock()
	c.dialed = w
	closed := c.closed
	c.mu.Unlock()
	switch { // SetServers and Close see c.dialed, or are seen here
	case closed:
		w.fail(ErrClosed)
	case c.hosts.isGone(a):
		w.fail(errServerGone)
	}
	return w, nil
}

// tried tells how far an attempt has come.
func (c *Conn) tried(kind EventKind, a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.push(Event{Kind: kind, Server: a.target.server, Target: a.target.String()})
}

// attemptFailed notes that an attempt has failed; c.mu is held.
func (c *Conn) attemptFailed(a *attempt, err error) {
	c.lastErr = fromServer(a.target.String(), err)
	ours := errors.Is(err, errServerGone) || errors.Is(err, errSpoilt) // the server is not to blame
	if errors.Is(err, ErrSessionExpired) {
		c.hosts.hope()
	}
	if a.last && !ours {
		c.hosts.endRound()
	}
	c.push(Event{Kind: Attempted, Server: a.target.server, Target: a.target.String(), Round: a.last && !ours, Err: err})
	if !ours {
		c.rejections.tried(a.target.String(), errors.Is(err, ErrSessionExpired)) // which is an answer
		c.judge()
	}
}

// dialTarget returns a connection to the server of an attempt, to which a request can be sent.
func (c *Conn) dialTarget(ctx context.Context, network string, a *attempt) (net.Conn, error) {
	if a.target.err != nil {
		return nil, a.target.err
	}
	ctx, cancel := context.WithTimeout(ctx, c.handshakeTimeout())
	defer cancel()
	raw, err := callUser("WithDialer", func() (net.Conn, error) { return c.cfg.Dial(ctx, network, a.target.address) })
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, errors.New("WithDialer returned neither a connection nor an error")
	}
	if !c.unprobed.Load() {
		if a.probed, err = checkDeadlines(ctx, raw); err != nil {
			_ = raw.Close() // the reason is known
			return nil, err
		}
	}
	if c.cfg.Secure == nil {
		return raw, nil
	}
	secure, err := callUser("the TLS configuration", func() (net.Conn, error) { return c.cfg.Secure(ctx, raw, a.target.server) })
	if err != nil {
		_ = raw.Close()
		return nil, tlsError(err)
	}
	return secure, nil
}

// dialError is the error of an attempt with ctx: if that was ended, the reason.
func dialError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errServerGone) {
		return cause
	}
	return err
}
