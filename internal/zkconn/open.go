package zkconn

import (
	"context"
	"hash/maphash"
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

// trustAnswersKey is the key of TrustAnswers.
type trustAnswersKey struct{}

// TrustAnswers returns a context for [Open] with which every answer moves the deadline, as if the
// server that answers were the leader. That is wrong on an ensemble. It is for a test that shows that
// it can detect the consequences.
func TrustAnswers(ctx context.Context) context.Context {
	return context.WithValue(ctx, trustAnswersKey{}, true)
}

// Open starts to connect and returns at once. It uses only the values of ctx.
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
	c.ephemerals = ephemerals{limit: cfg.MaxBuffer, tell: c.reports.push, seed: maphash.MakeSeed()}
	c.lists = lists{limit: min(cfg.MaxBuffer, cfg.MaxReply), tell: c.reports.push}
	c.unknown.report = func(why error) { c.reports.push(Event{Kind: Unknown, Err: why}) }
	c.lease.Start(lease.Options{
		Asleep: cfg.Asleep, Margin: cfg.LossMargin, TrustAnswers: ctx.Value(trustAnswersKey{}) != nil, Wake: c.reports.wake,
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

// accepted is told that a server has accepted a session.
func (c *Conn) accepted() { c.hosts.Connected(c.life) }

// tried tells how far an attempt has come.
func (c *Conn) tried(kind EventKind, a *hosts.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports.push(Event{Kind: kind, Server: a.Target.Server, Target: a.Target.String()})
}
