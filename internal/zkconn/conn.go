package zkconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/zkconn/hosts"
	"github.com/go-curator/curator/internal/zkconn/lease"
	"github.com/go-curator/curator/state"
)

// Config says how to connect. Order, Auth, SASL, Secure, Resolve, Asleep, LossMargin, UnusedLossPercent,
// MaxInFlight and the flags may be zero; all others must be set.
type Config struct {
	Servers           []string    // host:port
	Order             hosts.Order // decides which server is next, in place of Servers; nil for none
	SessionTimeout    time.Duration
	ConnectionTimeout time.Duration // how long a call waits for a connection
	LossMargin        time.Duration // zero is an eighth of the negotiated timeout
	LossPercent       int           // after this part of its timeout without an answer the session is presumed over
	UnusedLossPercent int           // LossPercent of a session that nobody relies on, see Use; zero for that of all
	ReadOnly          bool          // use a server without a quorum while there is no other
	FailFast          bool          // a call waits no longer for a connection when all servers have been tried in vain
	SyncProof         bool          // prove the session by two syncs, without a write (S9)
	MaxRequest        int           // bytes
	MaxReply          int           // bytes
	MaxInFlight       int           // calls of Do, DoAtQuorum, Start and Subscribe that are sent at a time; zero for any number
	Auth              []Auth
	SASL              SASL // authenticates every connection before anything else is sent; nil for none
	Dial              func(ctx context.Context, network, address string) (net.Conn, error)
	// Secure puts TLS on a connection to a server, host:port as it is in Servers; nil means no TLS.
	Secure func(ctx context.Context, conn net.Conn, server string) (net.Conn, error)
	// Resolve looks up a host. Each of its addresses is dialed as a server of its own. It must return
	// when ctx ends. If it is nil, Dial gets names.
	Resolve hosts.Resolve
	Logger  *slog.Logger
	// Asleep is how long the machine has slept, from any beginning; nil asks the system.
	Asleep func() time.Duration
	// OnEvent is called for every event, in order and one at a time. It must not block.
	OnEvent func(Event)
	// OnLoss is called for every StateChanged, DeadlinePassed and SessionEnded, too, in order and one at a
	// time: before OnEvent, and before a call ends because of it. It is for those who rely on the session. It
	// may be called on any goroutine, also the driver's. It must not block, and must not wait for a call. It
	// may be nil.
	OnLoss func(Event)
}

// Conn is a connection to an ensemble: one session after the other, each over one
// connection after the other. It is safe for concurrent use.
type Conn struct {
	cfg    Config
	driver *driver
	shared // with its connections

	life    context.Context // ends with Close
	endLife context.CancelFunc
	hosts   *hosts.List
	dialer  hosts.Dialer

	mechanisms mechanisms   // of Config.SASL
	granted    atomic.Int64 // the timeout of the session, zero without one
	flags

	epoch       atomic.Int64 // see Epoch
	signal      chan struct{}
	losses      losses
	monitorDone chan struct{}

	mu              sync.Mutex
	mux             *muxConn      // nil without a connection
	dialed          *muxConn      // the newest, which may still be in its handshake
	ready           chan struct{} // closed while there is a connection, and at the end
	session         session
	state           state.ConnectionState
	connectedBefore bool    // there is or was a connection
	auth            []Auth  // Config.Auth and what AddAuth has added
	events          []Event // for the monitor to deliver
	detached        detached
	observers       observers
	refusals        refusals
	rejections      rejections
	suspended       time.Duration   // when the state became Suspended, by the lease
	lastErr         error           // why there is no connection
	refusedBy       map[string]bool // servers whose last handshake failed, unless it asked for reads alone
	fatal           error           // why there will be none
	fatalWhy        error           // what is known beyond that, or nil
	closed          bool
	closeDone       chan struct{}
	closeErr        error
	ended           ended
}

// flags are set once.
type flags struct {
	presumesAtTimeout atomic.Bool // see PresumeAtTimeout
}

// detached is what is left of connections that have ended.
type detached struct {
	muxes []*muxConn // whose watches are still to be told
	kept  []*Watch   // that could not be set on the next one yet
}

// session is what is known of the current session.
type session struct {
	id      int64
	timeout time.Duration
	passwd  []byte
	over    bool // ended, or given up here; it never comes back
}

type settingsKey struct{}

// WithSettings returns a context for [Open] with which set changes what Open is given. It is for packages of this
// module whose users set what package framework has no option for.
func WithSettings(ctx context.Context, set func(*Config)) context.Context {
	return context.WithValue(ctx, settingsKey{}, set)
}

// Open starts connecting and returns at once. ctx gives its values only.
func Open(ctx context.Context, cfg Config) (*Conn, error) {
	if set, ok := ctx.Value(settingsKey{}).(func(*Config)); ok {
		set(&cfg)
	}
	life, endLife := context.WithCancel(context.WithoutCancel(ctx))
	c := &Conn{
		cfg: cfg, life: life, endLife: endLife,
		signal: make(chan struct{}, 1), monitorDone: make(chan struct{}),
		losses: newLosses(cfg.OnLoss),
		ready:  make(chan struct{}), auth: slices.Clone(cfg.Auth), closeDone: make(chan struct{}),
	}
	c.lease.Start(lease.Options{
		Asleep: cfg.Asleep, Margin: cfg.LossMargin, TrustAnswers: ctx.Value(answersProve{}) != nil, Wake: c.wakeMonitor,
	})
	c.hosts = hosts.New(cfg.Servers, cfg.Resolve, cfg.Order)
	c.dialer.Dial, c.dialer.Secure = cfg.Dial, cfg.Secure
	driver, err := startDriver(c, cfg.Servers, cfg.SessionTimeout, cfg.Logger)
	if err != nil {
		endLife()
		return nil, err
	}
	c.driver = driver
	go c.monitor()
	return c, nil
}

// explain returns err, with the reason if Close or rejected credentials ended the connection.
func (c *Conn) explain(err error) error {
	lost, ok := errors.AsType[*TransportError](err)
	if !ok {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return &TransportError{Err: ErrClosed, Sent: lost.Sent}
	case c.fatal != nil:
		return &TransportError{Err: c.fatal, Detail: c.fatalWhy, Sent: lost.Sent}
	}
	return err
}

// patience bounds the time for which one call waits for connections. The time begins with the first
// wait. Several connections may end before the call is sent.
type patience struct{ timer *time.Timer }

func (p *patience) over(d time.Duration) <-chan time.Time {
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	}
	return p.timer.C
}

func (p *patience) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// connected waits for a connection: of the given session if that is not zero, and with quorum not for one
// for reads alone.
func (c *Conn) connected(ctx context.Context, session int64, quorum bool, p *patience) (*muxConn, error) {
	var wait waiting
	var inVain <-chan struct{}
	for first := true; ; first = false {
		c.mu.Lock()
		w, ready, err := c.mux, c.ready, c.refuse(session)
		c.mu.Unlock()
		if err != nil {
			c.losses.tell()
			return nil, err
		}
		switch {
		case w != nil && (session == 0 && !quorum || !w.readOnly):
			return w, nil
		case w != nil: // another connection will have the session, or a quorum
			ready = w.dead
		}
		if first { // nearly every call needs no more; who waits looks again, behind inVain
			wait = waitingOf(ctx, c.cfg.FailFast, c.cfg.ConnectionTimeout)
			inVain = wait.inVain(c.hosts)
			continue
		}
		select {
		case <-ready:
		case <-ctx.Done():
			err := ctxError(ctx, false)
			if why := c.lastError(); why != nil {
				err.Detail = join(err.Detail, why)
			}
			return nil, err
		case <-inVain:
			return nil, &TransportError{Err: wait.inVainErr, Detail: c.lastError()}
		case <-p.over(wait.atMost):
			return nil, &TransportError{Err: ErrConnectionLoss, Detail: c.lastError()}
		}
	}
}

// lastError returns why there is no connection, as far as is known.
func (c *Conn) lastError() error {
	c.mu.Lock()
	why := c.lastErr
	c.mu.Unlock()
	if t := c.hosts.Trying(); why == nil && t.Server != "" {
		return fmt.Errorf("%s: no answer yet", t)
	}
	return why
}

// refuse returns why a call for session cannot be sent now or later; c.mu is held.
func (c *Conn) refuse(session int64) error {
	switch {
	case c.closed:
		return &TransportError{Err: ErrClosed}
	case c.fatal != nil:
		return &TransportError{Err: c.fatal, Detail: c.fatalWhy}
	case session != 0 && (c.session.id != session || c.session.over):
		return &TransportError{Err: ErrSessionExpired}
	}
	return nil
}

// Connected waits for a connection and returns its session, zero if it is read-only.
func (c *Conn) Connected(ctx context.Context) (session int64, err error) {
	var p patience
	defer p.stop()
	w, err := c.connected(ctx, 0, false, &p)
	if err != nil {
		return 0, err
	}
	if w.readOnly {
		return 0, nil
	}
	return w.session, nil
}

// Ready waits for a connection until ctx ends, however long that is.
func (c *Conn) Ready(ctx context.Context) error {
	for {
		_, err := c.Connected(ctx)
		if lost, ok := errors.AsType[*TransportError](err); !ok || !errors.Is(lost.Err, ErrConnectionLoss) {
			return err
		}
	}
}

// Session returns the current session's id and negotiated timeout; zero without one.
func (c *Conn) Session() (id int64, timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.over {
		return 0, c.session.timeout
	}
	return c.session.id, c.session.timeout
}

// State returns the connection's state.
func (c *Conn) State() state.ConnectionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// SetServers replaces the list of servers, host:port, which must not be empty. If the server in use
// is not in the new list, its connection is ended, and the session moves to another server. An
// attempt to connect to a server that is not in the new list is ended, too.
func (c *Conn) SetServers(servers []string) {
	if c.hosts.Set(servers) {
		return
	}
	c.mu.Lock()
	w, dialed := c.mux, c.dialed
	c.mu.Unlock()
	for _, w := range []*muxConn{w, dialed} {
		if w != nil {
			w.fail(hosts.ErrGone)
		}
	}
}

// PreferServers sets a list of servers, host:port, that are tried first. It must not be empty. The
// servers of Config or SetServers are tried when the whole list has failed. It is for a list that
// comes from the ensemble itself, and never ends a connection. SetServers undoes it.
func (c *Conn) PreferServers(servers []string) { c.hosts.Prefer(servers) }

// Timeout returns the timeout of the session, or without a session the one that will be asked for.
func (c *Conn) Timeout() time.Duration { return c.timeout() }

// timeout returns the timeout of the session, or without a session the one that will be asked for.
func (c *Conn) timeout() time.Duration {
	if granted := c.granted.Load(); granted > 0 {
		return time.Duration(granted)
	}
	return c.cfg.SessionTimeout
}

// handshakeTimeout is how long a server has for the handshake. It is so short that the other servers
// can be tried before the session is over.
func (c *Conn) handshakeTimeout() time.Duration {
	timeout := c.timeout()
	total := timeout * 2 / 3
	return max(min(timeout/3, total/time.Duration(c.hosts.Size())), 100*time.Millisecond)
}

// storeMax sets a to v unless it is higher already.
func storeMax(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if v <= old || a.CompareAndSwap(old, v) {
			return
		}
	}
}

func (c *Conn) maxReply() int { return c.cfg.MaxReply }

// closing tells whether Close was called.
func (c *Conn) closing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}
