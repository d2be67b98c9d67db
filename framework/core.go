package framework

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// core is what a client and its views share.
type core struct {
	cfg       config
	telemetry *telemetry.Telemetry // nil for none
	servers   []string
	chroot    string

	states       listen.Set[state.ConnectionState]
	breakerQueue *breakerQueue // what states are passed through; nil for nothing
	outcomes     listen.Set[Event]
	unhandled    listen.Set[error]
	watched      *Watcher   // of the step Watched
	watches      registry   // the watchers that are set
	watchEvents  watchInbox // what the session layer has told them
	tasks        queue      // operations in the background
	work         group      // goroutines that run them
	reports      queue      // what users' functions, log handlers and span processors are told
	callbacks    queue      // the outcomes of operations in the background
	users        group      // goroutines that run users' functions
	pending      group      // goroutines of our own: guaranteed deletes, the recipes'
	removals     atomic.Int64
	shared       sync.Map           // what the recipes of the client share
	flights      singleflight.Group // creations of namespaces, by the server's path
	known        sync.Map           // the same paths, of namespaces that were seen to exist

	protection protection

	provided     string // the ensemble provider's last answer; of Start, then of who asks again
	disconnected signal // tells who asks that the connection was lost
	tracker      tracker
	outage       outage

	conn    atomic.Pointer[zkconn.Conn] // set by start
	closing atomic.Bool

	mu        sync.Mutex
	current   ClientState
	opening   bool               // a Start is under way
	hooks     map[*hook]struct{} // what recipes want to know of the session
	life      context.Context
	endLife   context.CancelFunc
	done      chan struct{} // closed at the end of close
	err       error         // of close
	unmeasure func()        // ends what is measured of conn
}

func newCore(cfg config, servers []string, chroot string) *core {
	c := &core{
		cfg: cfg, telemetry: cfg.newTelemetry(chroot), unmeasure: func() {}, servers: servers, chroot: chroot,
		hooks: map[*hook]struct{}{}, protection: newProtection(), done: make(chan struct{}), disconnected: newSignal(),
	}
	c.tracker.wake = newSignal()
	c.breakerQueue = newBreakerQueue(cfg.breaker, c.states.Notify)
	c.watched = NewWatcher(func(_ context.Context, e WatchedEvent) {
		c.outcomes.Notify(Event{Op: "watched", Path: e.Path, Watched: &e, ctx: context.WithoutCancel(c.life)})
	})
	return c
}

func (c *core) phase() ClientState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

func (c *core) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.beginStart(); err != nil {
		return err
	}
	defer c.endStart()
	servers, err := c.firstServers(ctx)
	if err != nil {
		return err
	}
	if err := c.open(ctx, servers); err != nil {
		return errors.Join(err, c.closeProvider(ctx))
	}
	c.measure()
	return nil
}

// beginStart tells whether the client can be started now, by the caller alone.
func (c *core) beginStart() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.current == Started, c.opening:
		return ErrAlreadyStarted
	case c.current == Stopped:
		return ErrClosed
	}
	c.opening = true
	return nil
}

func (c *core) endStart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening = false
}

// open begins the life of the client.
func (c *core) open(ctx context.Context, servers []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == Stopped { // while the provider was started
		return ErrClosed
	}
	conn, err := zkconn.Open(ctx, zkconn.Config{
		Servers:           servers,
		SessionTimeout:    c.cfg.sessionTimeout,
		ConnectionTimeout: c.cfg.connectionTimeout,
		LossMargin:        c.cfg.lossMargin,
		LossPercent:       c.cfg.lossPercent,
		SyncProof:         c.cfg.syncProof,
		ReadOnly:          c.cfg.readOnly,
		MaxRequest:        c.cfg.maxData,
		MaxReply:          c.cfg.maxReply,
		Auth:              c.cfg.auth,
		SASL:              c.cfg.sasl,
		Dial:              c.cfg.dialer(),
		Secure:            c.cfg.secure(),
		Resolve:           c.cfg.resolve(),
		Logger:            c.cfg.logger,
		OnEvent:           c.onEvent,
	})
	if err != nil {
		return err
	}
	c.life, c.endLife = context.WithCancel(context.WithoutCancel(ctx))
	if c.breakerQueue != nil {
		c.users.start(func() { c.breakerQueue.run(c.life) })
	}
	if c.cfg.provider != nil {
		c.users.start(func() { c.followProvider(conn) })
	}
	if c.cfg.tracks() {
		c.users.start(func() { c.track(conn) })
	}
	c.conn.Store(conn)
	c.current = Started
	return nil
}

// close ends the client, once; a second call waits for the first.
func (c *core) close(ctx context.Context) error {
	c.mu.Lock()
	previous := c.current
	c.current = Stopped
	c.mu.Unlock()
	if previous == Stopped {
		select {
		case <-c.done:
			return c.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer close(c.done)
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if previous == Started {
		c.err = c.shutDown(ctx)
	}
	ctx, cancel = c.bounded(ctx) // what is left takes no time, unless it is stuck
	defer cancel()
	if previous == Started {
		c.err = errors.Join(c.err, c.closeProvider(ctx))
	}
	c.err = errors.Join(c.err, c.states.Close(ctx), c.outcomes.Close(ctx), c.unhandled.Close(ctx))
	return c.err
}

// bounded returns ctx or, when that has ended, a context with the time that Close takes
// all the same.
func (c *core) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), c.cfg.maxCloseWait)
}

// shutDown ends a started client in the order in which things depend on each other.
func (c *core) shutDown(ctx context.Context) error {
	var errs []error
	conn := c.conn.Load()
	c.closing.Store(true)
	c.mu.Lock()
	unmeasure := c.unmeasure
	c.mu.Unlock()
	unmeasure()
	c.outcomes.Notify(Event{Op: "closing", ctx: context.WithoutCancel(c.life)})
	c.fireHooks(recipeapi.Loss{Kind: recipeapi.LossClosed})
	left := c.work.wait(ctx) + c.pending.wait(ctx)
	if left > 0 {
		errs = append(errs, fmt.Errorf("%d operations in the background are left undone", left))
	}
	c.pending.close()
	c.work.close()
	c.endLife()
	ctx, cancel := c.bounded(ctx) // the server is told all the same
	defer cancel()
	c.awaitServer(ctx, conn)
	errs = append(errs, conn.Close(ctx))
	c.watchEvents.close(ctx)                   // what was told before is in the queues of the watchers
	c.pending.wait(context.WithoutCancel(ctx)) // these and those see that life has ended
	c.work.wait(context.WithoutCancel(ctx))
	c.users.close()
	// One of them may have called Close, and does not return before it.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), c.cfg.maxCloseWait)
	defer cancel()
	if n := c.users.wait(ctx); n > 0 {
		errs = append(errs, fmt.Errorf("%d functions of watchers, log handlers or in the background have not returned", n))
	}
	return errors.Join(errs...)
}

// awaitServer gives a client that is just reconnecting the time to close its session,
// which would otherwise keep its ephemeral nodes until its timeout.
func (c *core) awaitServer(ctx context.Context, conn *zkconn.Conn) {
	if id, _ := conn.Session(); id != 0 {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.maxCloseWait)
		defer cancel()
		_ = conn.Ready(ctx) // if not, Close says that the session is left
	}
}

// acceptedBeforeClose marks the context of an operation that was accepted before Close began, and
// is still given its time.
type acceptedBeforeClose struct{}

// connection returns the session layer of a client that is started and not closed; late
// says that the operation was accepted before Close began.
func (c *core) connection(late bool) (*zkconn.Conn, error) {
	conn := c.conn.Load()
	switch {
	case conn == nil && c.phase() == Stopped:
		return nil, ErrClosed
	case conn == nil:
		return nil, ErrNotStarted
	case c.closing.Load() && !late:
		return nil, ErrClosed
	}
	return conn, nil
}

// conn returns the session layer of a client, nil if it has none.
func (c *Client) conn() *zkconn.Conn {
	if c == nil || c.core == nil {
		return nil
	}
	return c.core.conn.Load()
}

// started returns the session layer, if the client can be used with ctx.
func (c *Client) started(ctx context.Context) (*zkconn.Conn, error) {
	switch {
	case c == nil || c.core == nil:
		return nil, errNilClient
	case ctx == nil:
		return nil, errNilContext
	}
	return c.core.connection(ctx.Value(acceptedBeforeClose{}) != nil)
}

// onEvent passes on what happened to the connection, on the session layer's goroutine.
func (c *core) onEvent(e zkconn.Event) {
	switch e.Kind {
	case zkconn.StateChanged:
		if e.State.IsConnected() {
			c.tracker.wake.set()
		} else {
			c.disconnected.set()
		}
		c.telemetry.StateChanged(e.State)
		c.report(func() {
			c.cfg.logger.Info("zookeeper connection", "state", e.State.String(), "session", sessionText(e.Session))
			c.telemetry.Transition(e.State, e.Session)
		})
		if c.cfg.errorPolicy.IsErrorState(e.State) {
			c.fireHooks(recipeapi.Loss{Kind: recipeapi.LossSuspended, Session: e.Session})
		}
		c.tell(e.State)
	case zkconn.DeadlinePassed:
		c.fireHooks(recipeapi.Loss{Kind: recipeapi.LossDeadline, Session: e.Session})
	case zkconn.SessionEnded:
		c.fireHooks(recipeapi.Loss{Kind: recipeapi.LossSession, Session: e.Session, Err: e.Err})
		c.report(func() { c.telemetry.Expired(e.Session, e.Presumed) })
	case zkconn.Attempted:
		c.logAttempt(e)
		c.report(func() { c.telemetry.Attempted(e.Server, e.Err, e.Took) })
	case zkconn.DataLost:
		c.report(func() {
			c.cfg.logger.Warn("zookeeper servers are behind what this client has seen, and all of them refuse it: it begins anew, as if they had lost their data")
		})
	case zkconn.Disconnected:
		c.report(func() { c.telemetry.Disconnected(e.Server, e.Err) })
	case zkconn.Asked:
		c.report(func() { c.telemetry.Proved(e.Server, e.Err, e.Took) })
	}
}

// logAttempt logs at most every 10 s that the ensemble cannot be reached, and once that it can be
// reached again.
func (c *core) logAttempt(e zkconn.Event) {
	down, over := c.outage.attempted(e, time.Now())
	switch {
	case down != nil:
		c.report(func() { c.cfg.logger.Warn("zookeeper: the ensemble cannot be reached", down...) })
	case over != nil:
		c.report(func() { c.cfg.logger.Info("zookeeper: the ensemble can be reached again", over...) })
	}
}

// report runs what ends in a user's code, a log handler as a rule, behind what was
// reported before: it must hold nothing of ours up.
func (c *core) report(fn func()) { c.reports.add(&c.users, fn) }

func sessionText(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
