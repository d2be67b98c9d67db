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
	chroot    string

	workers
	losses lossHooks

	servers ensembleServers
	tracker tracker
	outage  outage

	states    listen.Set[state.ConnectionState]
	breaker   *breakerQueue // between the connection and states; nil for none
	outcomes  listen.Set[Event]
	unhandled listen.Set[error]
	watches   *watchHub
	watched   *Watcher // gets the events of the step Watched

	shared     sync.Map // what the recipes of the client share
	protection protection
	flights    singleflight.Group // creations of namespaces, by the server's path
	known      sync.Map           // by the same paths: the namespaces that were seen to exist

	conn    atomic.Pointer[zkconn.Conn] // set by start
	opened  chan struct{}               // closed when it is set
	closing chan struct{}               // closed when Close begins to refuse work
	ended   chan struct{}               // closed behind that, when what the recipes hold has ended
	ending  sync.Once                   // the recipes are told of that

	mu        sync.Mutex
	current   ClientState
	opening   bool          // a Start is under way
	done      chan struct{} // closed at the end of close
	err       error         // of close
	unmeasure func()        // ends what is measured of conn
}

func newCore(cfg config, servers []string, chroot string) *core {
	c := &core{
		cfg: cfg, telemetry: cfg.newTelemetry(chroot), chroot: chroot,
		servers:    ensembleServers{configured: servers, provider: cfg.provider, disconnected: newSignal()},
		protection: newProtection(), unmeasure: func() {},
		opened: make(chan struct{}), closing: make(chan struct{}), ended: make(chan struct{}), done: make(chan struct{}),
	}
	c.tracker = tracker{wake: newSignal(), debug: c.debug}
	c.outcomes.Limit(listen.MaxEvents, newLostOutcomes)
	c.unhandled.Limit(listen.MaxStates, newLostErrors)
	c.breaker = newBreakerQueue(cfg.breaker, c.states.Notify)
	c.watches = newWatchHub(&c.workers)
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
	if err := c.servers.start(ctx); err != nil {
		return err
	}
	servers, err := c.servers.firstServers()
	if err == nil {
		err = c.open(ctx, servers)
	}
	if err != nil {
		ctx, cancel := bounded(ctx, c.cfg.maxCloseWait)
		defer cancel()
		return errors.Join(err, c.servers.close(ctx))
	}
	c.measure()
	return nil
}

// beginStart returns an error unless the caller may start the client now.
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
		OnLoss:            c.onLoss,
	})
	if err != nil {
		return err
	}
	c.life, c.endLife = context.WithCancel(context.WithoutCancel(ctx))
	if c.breaker != nil {
		c.users.Start(func() { c.breaker.run(c.life) })
	}
	if c.cfg.provider != nil {
		c.users.Start(func() { c.followProvider(conn) })
	}
	if c.cfg.tracks() {
		c.users.Start(func() { c.tracker.track(c.life, conn) })
	}
	c.conn.Store(conn)
	c.current = Started
	close(c.opened)
	return nil
}

// followProvider asks the ensemble's provider until the client's life ends.
func (c *core) followProvider(conn *zkconn.Conn) {
	c.servers.follow(c.life, conn, func() {
		id, _ := conn.Session()
		c.report(func() { c.telemetry.ServersChanged(id) })
	}, func(err error) {
		c.report(func() { c.cfg.logger.Warn("zookeeper: the servers stay as they are", "error", err) })
	})
}

// measure starts the metrics of the connection, until the client is closed.
func (c *core) measure() {
	stop := c.telemetry.Follow(c.conn.Load())
	c.mu.Lock()
	if c.current == Started {
		c.unmeasure, stop = stop, func() {}
	}
	c.mu.Unlock()
	stop()
}

// stopMeasuring ends the metrics of the connection. An SDK may wait for a reader, and that for a function of
// the user's: so Close does not wait for it longer than for other code of the user's.
func (c *core) stopMeasuring() {
	c.mu.Lock()
	unmeasure := c.unmeasure
	c.mu.Unlock()
	c.users.Start(unmeasure)
}

// close ends the client, once; a second call waits for the first. Each waits for the listeners by itself:
// a listener may have called one of them.
func (c *core) close(ctx context.Context) error {
	c.mu.Lock()
	previous := c.current
	c.current = Stopped
	c.mu.Unlock()
	if previous == Stopped {
		select {
		case <-c.done:
			return errors.Join(c.err, c.closeListeners(ctx))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	close(c.closing)
	c.tellClosed()
	close(c.ended)
	c.end(ctx, previous == Started)
	return errors.Join(c.err, c.closeListeners(ctx))
}

// end is what only the first close does.
func (c *core) end(ctx context.Context, started bool) {
	defer close(c.done) // also when a provider of the user panics
	if started {
		c.err = c.shutDown(ctx)
		c.err = errors.Join(c.err, c.closeServers(ctx))
	}
}

func (c *core) closeServers(ctx context.Context) error {
	ctx, cancel := bounded(ctx, c.cfg.maxCloseWait) // it takes no time, unless it is stuck
	defer cancel()
	return c.servers.close(ctx)
}

// closeListeners waits for the listeners, but not for one that has called it.
func (c *core) closeListeners(ctx context.Context) error {
	ctx, cancel := bounded(ctx, c.cfg.maxCloseWait)
	defer cancel()
	return errors.Join(c.states.Close(ctx), c.outcomes.Close(ctx), c.unhandled.Close(ctx))
}

// shutDown ends a started client in the order in which things depend on each other.
func (c *core) shutDown(ctx context.Context) error {
	conn := c.conn.Load()
	ctx, stop := bounded(ctx, c.cfg.maxCloseWait)
	defer stop()
	ctx, alone := conn.Reachable(ctx)
	defer alone()
	c.stopMeasuring()
	c.outcomes.Notify(Event{Op: "closing", ctx: context.WithoutCancel(c.life)})
	left := c.finish(ctx)
	ctx, cancel := bounded(ctx, c.cfg.maxCloseWait) // the server is told all the same
	defer cancel()
	c.awaitServer(ctx, conn)
	closed := conn.Close(ctx)
	c.watches.close(ctx) // what was told before is in the queues of the watchers
	return errors.Join(left, closed, c.join(ctx, c.cfg.maxCloseWait))
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

// tellClosed tells the recipes that the client is closed, once. When it returns they know: an operation must not
// be refused while a lease is believed.
func (c *core) tellClosed() {
	c.ending.Do(func() { c.losses.fire(recipeapi.Loss{Kind: recipeapi.LossClosed}) })
}

// isClosing reports whether Close refuses work.
func (c *core) isClosing() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// acceptedBeforeClose marks the context of an operation that was accepted before Close began, and
// is still given its time.
type acceptedBeforeClose struct{}

// connection returns the session layer of a client that is started and not closed. late says that the
// operation was accepted before Close began.
func (c *core) connection(late bool) (*zkconn.Conn, error) {
	conn := c.conn.Load()
	switch {
	case conn == nil && c.phase() == Stopped:
		return nil, ErrClosed
	case conn == nil:
		return nil, errClientNotStarted
	case !late && c.isClosing():
		c.tellClosed()
		return nil, ErrClosed
	}
	return conn, nil
}

// onLoss tells the recipes what they can no longer rely on. It may be called on any goroutine.
func (c *core) onLoss(e zkconn.Event) {
	switch e.Kind {
	case zkconn.StateChanged:
		if e.Session != 0 && c.cfg.errorPolicy.IsErrorState(e.State) { // without a session nothing is held
			c.losses.fire(recipeapi.Loss{Kind: recipeapi.LossSuspended, Session: e.Session})
		}
	case zkconn.DeadlinePassed:
		c.losses.fire(recipeapi.Loss{Kind: recipeapi.LossDeadline, Session: e.Session})
	case zkconn.SessionEnded:
		c.losses.fire(recipeapi.Loss{Kind: recipeapi.LossSession, Session: e.Session, Err: e.Err})
	}
}

// onEvent passes on what happened to the connection, on the session layer's goroutine. The first event
// can come before open has returned: it waits, because listeners may use the client.
func (c *core) onEvent(e zkconn.Event) {
	<-c.opened
	switch e.Kind {
	case zkconn.StateChanged:
		if e.State.IsConnected() {
			c.tracker.wake.set()
		} else {
			c.servers.disconnected.set()
		}
		c.telemetry.StateChanged(e.State)
		c.report(func() {
			c.cfg.logger.Info("zookeeper connection", "state", e.State.String(), "session", sessionText(e.Session))
			c.telemetry.Transition(e.State, e.Session)
		})
		c.tell(e.State)
	case zkconn.SessionEnded:
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

// tell passes a state on to the listeners.
func (c *core) tell(s state.ConnectionState) {
	if c.breaker != nil {
		c.breaker.add(s)
		return
	}
	c.states.Notify(s)
}

func (c *core) debug(message string, args ...any) {
	c.report(func() { c.cfg.logger.Debug(message, args...) })
}

func sessionText(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
