package zkconn

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn/hosts"
	"github.com/go-curator/curator/internal/zkconn/lease"
)

type settingsKey struct{}

// WithSettings returns a context for [Open] with which set changes what Open is given. It is for packages of this
// module whose users set what package framework has no option for.
func WithSettings(ctx context.Context, set func(*Config)) context.Context {
	return context.WithValue(ctx, settingsKey{}, set)
}

// answersProve is the key of TrustAnswers.
type answersProve struct{}

// TrustAnswers returns a context for [Open] with which every answer moves the deadline, as if the
// server that answers were the leader. That is wrong on an ensemble. It is for a test that shows that
// it can detect the consequences.
func TrustAnswers(ctx context.Context) context.Context {
	return context.WithValue(ctx, answersProve{}, true)
}

// Open starts connecting and returns at once. ctx gives its values only.
func Open(ctx context.Context, cfg Config) (*Conn, error) {
	if set, ok := ctx.Value(settingsKey{}).(func(*Config)); ok {
		set(&cfg)
	}
	life, endLife := context.WithCancel(context.WithoutCancel(ctx))
	c := &Conn{
		cfg: cfg, life: life, endLife: endLife, monitorDone: make(chan struct{}),
		hosts:   hosts.New(cfg.Servers, cfg.Resolve, cfg.Order),
		dialer:  hosts.Dialer{Dial: cfg.Dial, Secure: cfg.Secure},
		reports: newReports(cfg.OnLoss),
		link:    link{ready: make(chan struct{})},
		auth:    auth{sasl: cfg.SASL, limit: cfg.MaxRequest, credentials: slices.Clone(cfg.Auth)},
		end:     ending{done: make(chan struct{})},
	}
	c.maxReply = cfg.MaxReply
	c.lease.Start(lease.Options{
		Asleep: cfg.Asleep, Margin: cfg.LossMargin, TrustAnswers: ctx.Value(answersProve{}) != nil, Wake: c.reports.wake,
	})
	driver, err := startDriver(c, cfg.Servers, cfg.SessionTimeout, cfg.Logger)
	if err != nil {
		endLife()
		return nil, err
	}
	c.driver = driver
	go c.monitor()
	return c, nil
}

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
	raw, err := c.dialer.Connect(ctx, a, c.handshakeTimeout())
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
	w := newMuxConn(c, &c.shared, c.cfg.SyncProof, raw, peer{server: a.Target.Server, attempt: a})
	w.limit(c.cfg.MaxInFlight)
	c.mu.Lock()
	c.link.dialed = w
	closed := c.end.closed
	c.mu.Unlock()
	switch { // SetServers and Close see c.link.dialed, or are seen here
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
	c.reports.push(Event{Kind: kind, Server: a.Target.Server, Target: a.Target.String()})
}

// Close refuses new calls, waits for the answers to those that were sent, closes the
// session at the server and joins every goroutine. When ctx ends first the rest is cut
// off, and the error says that the session was left to its timeout. Close is idempotent.
func (c *Conn) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.end.closed {
		c.mu.Unlock()
		<-c.end.done
		return c.end.err
	}
	c.end.closed = true
	w := c.link.mux
	session := c.session.id
	hadSession := c.session.live()
	if w == nil && c.end.fatal == nil {
		close(c.link.ready)
	}
	c.lease.End()
	c.mu.Unlock()

	driverDone := make(chan struct{})
	go func() {
		defer close(driverDone)
		c.hosts.Stop()
		c.driver.close()
	}()
	if w != nil {
		// The driver's Close waits no longer than a second for the answer, but the driver hangs up as
		// soon as it has it, whenever that is.
		select {
		case <-w.dead:
		case <-ctx.Done():
		}
	}
	c.endLife()
	c.failWires()
	<-driverDone
	<-c.driver.ended
	c.failWires() // one that was being dialed meanwhile
	c.workers.Wait()
	c.reports.wake()
	<-c.monitorDone
	returned := c.auth.mechanisms.wait(ctx)

	c.mu.Lock()
	c.link.tellDetached(WatchClosed)
	c.persistent.tell(WatchClosed)
	c.link.tell(WatchClosed)
	switch {
	case hadSession && c.closedByServer.Load():
		c.end.sessions.closed = session
	case hadSession:
		c.end.err = &TransportError{Err: ErrConnectionLoss, Detail: errSessionLeft, Sent: true}
	}
	if !returned {
		c.end.err = join(c.end.err, errMechanismLeft)
	}
	close(c.end.done)
	defer c.mu.Unlock()
	return c.end.err
}

var errSessionLeft = errors.New("the server did not confirm the end of the session, which ends by its timeout")

// SessionEnd returns how a session has ended, if that is certain: then its ephemeral nodes are gone, or the
// transaction is on its way that deletes them. If Close was called, or closing says that it will be, the answer
// waits for the end of Close, but not longer than ctx.
func (c *Conn) SessionEnd(ctx context.Context, session int64, closing bool) SessionEnd {
	if closing || c.closing() {
		select {
		case <-c.end.done:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end.sessions.of(session)
}

func (c *Conn) failWires() {
	c.mu.Lock()
	w, dialed := c.link.mux, c.link.dialed
	c.mu.Unlock()
	if w != nil {
		w.fail(ErrClosed)
		<-w.delivery.done // by another goroutine, perhaps
	}
	if dialed != nil {
		dialed.fail(ErrClosed)
	}
}
