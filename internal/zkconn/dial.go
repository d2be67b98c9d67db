package zkconn

import (
	"errors"
	"net"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// dial is the driver's dialer.
func (c *Conn) dial() (net.Conn, error) {
	pause, stopped := c.hosts.Pause(c.life)
	if stopped {
		<-c.life.Done() // Close, or rejected credentials: the driver cannot be stopped otherwise
	}
	if wait.For(c.life, pause) != nil {
		return newCloseStub(false), nil
	}
	ctx, a := c.hosts.Begin(c.life, c.handshakeTimeout())
	defer a.Finish()
	c.tried(Attempting, a)
	raw, err := c.dialer.Connect(ctx, "tcp", a, c.handshakeTimeout())
	if err != nil {
		c.hosts.Ended(a, false)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.life.Err() == nil {
			c.attemptFailed(a, err)
		}
		return nil, err
	}
	c.tried(Reached, a)
	w := newMuxConn(c, &c.shared, c.cfg.SyncProof, raw, a.Target.Server)
	w.attempt = a
	w.limit(c.cfg.MaxInFlight)
	c.mu.Lock()
	c.dialed = w
	closed := c.closed
	c.mu.Unlock()
	switch { // SetServers and Close see c.dialed, or are seen here
	case closed:
		w.fail(ErrClosed)
	case c.hosts.IsGone(a):
		w.fail(hosts.ErrGone)
	}
	return w, nil
}

// attempts is how many attempts make a round.
func (c *Conn) attempts() int { return c.hosts.Size() }

// accepted is told that a server has accepted a session.
func (c *Conn) accepted() { c.hosts.Connected(c.life) }

// tried tells how far an attempt has come.
func (c *Conn) tried(kind EventKind, a *hosts.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.push(Event{Kind: kind, Server: a.Target.Server, Target: a.Target.String()})
}

// attemptFailed notes that an attempt has failed; c.mu is held.
func (c *Conn) attemptFailed(a *hosts.Attempt, err error) {
	c.lastErr = fromServer(a.Target.String(), err)
	if errors.Is(err, ErrSessionExpired) {
		c.hosts.Hope()
	}
	blamed, round := c.hosts.Failed(a, err)
	c.push(Event{Kind: Attempted, Server: a.Target.Server, Target: a.Target.String(), Round: round, Err: err})
	if blamed {
		c.rejections.tried(a.Target.String(), errors.Is(err, ErrSessionExpired)) // which is an answer
		c.judge()
	}
}
