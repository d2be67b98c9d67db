package framework

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// core is what a client and its views share.
type core struct {
	cfg config
	in  *zkclient.Client

	servers ensembleServers
	tracker tracker
	outage  outage

	states    listen.Set[state.ConnectionState]
	breaker   *breakerQueue // between the connection and states; nil for none
	outcomes  listen.Set[Event]
	unhandled listen.Set[error]
	watches   *watchHub
	watched   *Watcher      // gets the events of the step Watched
	opened    chan struct{} // closed when in is open

	life
}

// life is where a client is in its life.
type life struct {
	mu        sync.Mutex
	current   ClientState
	opening   bool          // a Start is under way
	done      chan struct{} // closed at the end of close
	err       error         // of close
	unmeasure func()        // ends what is measured of the connection
}

func newCore(cfg config, servers []string, chroot, prefix string) *core {
	c := &core{
		cfg:     cfg,
		servers: ensembleServers{configured: servers, provider: cfg.provider, disconnected: wait.NewSignal()},
		opened:  make(chan struct{}), life: life{done: make(chan struct{}), unmeasure: func() {}},
	}
	in := cfg.client
	in.Chroot, in.MaxRequest, in.Telemetry, in.ACL = chroot, cfg.conn.MaxRequest, cfg.newTelemetry(chroot), cfg.acl.of
	in.Fail, in.Unhandled = newOpError, c.unhandled.Notify
	c.in = zkclient.New(in, prefix)
	c.tracker = tracker{wake: wait.NewSignal(), debug: c.debug}
	c.outcomes.Limit(listen.MaxEvents, newLostOutcomes)
	c.unhandled.Limit(listen.MaxStates, newLostErrors)
	c.breaker = newBreakerQueue(cfg.breaker, c.states.Notify)
	c.watches = newWatchHub(c.in)
	c.watched = NewWatcher(func(_ context.Context, e WatchedEvent) {
		c.outcomes.Notify(Event{Op: "watched", Path: e.Path, Watched: &e, ctx: context.WithoutCancel(c.in.Life())})
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
		ctx, cancel := zkclient.Bounded(ctx, c.cfg.maxCloseWait)
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
	cfg := c.cfg.conn
	cfg.Servers, cfg.Logger, cfg.OnEvent = servers, c.cfg.client.Logger, c.onEvent
	cfg.Dial, cfg.Secure, cfg.Resolve = c.cfg.dialer(), c.cfg.secure(), c.cfg.resolve()
	conn, err := c.in.Open(ctx, cfg)
	if err != nil {
		return err
	}
	if c.breaker != nil {
		c.in.Callback(func() { c.breaker.run(c.in.Life()) })
	}
	if c.cfg.provider != nil {
		c.in.Callback(func() { c.followProvider(conn) })
	}
	if c.cfg.tracks() {
		c.in.Callback(func() { c.tracker.track(c.in.Life(), conn) })
	}
	c.current = Started
	close(c.opened)
	return nil
}

// followProvider asks the ensemble's provider until the client's life ends.
func (c *core) followProvider(conn *zkconn.Conn) {
	c.servers.follow(c.in.Life(), conn, func() {
		id, _ := conn.Session()
		c.in.Log(func() { c.in.Telemetry().ServersChanged(id) })
	}, func(err error) {
		c.in.Log(func() { c.cfg.client.Logger.Warn("zookeeper: the servers stay as they are", "error", err) })
	})
}

// measure starts the metrics of the connection, until the client is closed.
func (c *core) measure() {
	stop := c.in.Telemetry().Follow(c.in.Opened())
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
	c.in.Callback(unmeasure)
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
	c.in.Refuse()
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
	ctx, cancel := zkclient.Bounded(ctx, c.cfg.maxCloseWait) // it takes no time, unless it is stuck
	defer cancel()
	return c.servers.close(ctx)
}

// closeListeners waits for the listeners, but not for one that has called it.
func (c *core) closeListeners(ctx context.Context) error {
	ctx, cancel := zkclient.Bounded(ctx, c.cfg.maxCloseWait)
	defer cancel()
	return errors.Join(c.states.Close(ctx), c.outcomes.Close(ctx), c.unhandled.Close(ctx))
}

// shutDown ends a started client.
func (c *core) shutDown(ctx context.Context) error {
	c.stopMeasuring()
	c.outcomes.Notify(Event{Op: "closing", ctx: context.WithoutCancel(c.in.Life())})
	return c.in.Close(ctx, c.cfg.maxCloseWait, c.watches.close)
}

// onEvent passes on what happened to the connection, on the session layer's goroutine. The first event
// can come before open has returned: it waits, because listeners may use the client.
func (c *core) onEvent(e zkconn.Event) {
	<-c.opened
	switch e.Kind {
	case zkconn.StateChanged:
		if e.State.IsConnected() {
			c.tracker.wake.Set()
		} else {
			c.servers.disconnected.Set()
		}
		c.in.Telemetry().StateChanged(e.State)
		c.in.Log(func() {
			c.cfg.client.Logger.Info("zookeeper connection", "state", e.State.String(), "session", sessionText(e.Session))
			c.in.Telemetry().Transition(e.State, e.Session)
		})
		c.tell(e.State)
	case zkconn.SessionEnded:
		c.in.Log(func() { c.in.Telemetry().Expired(e.Session, e.Presumed) })
	case zkconn.Attempted:
		c.logAttempt(e)
		c.in.Log(func() { c.in.Telemetry().Attempted(e.Server, e.Err, e.Took) })
	case zkconn.DataLost:
		c.in.Log(func() {
			c.cfg.client.Logger.Warn("zookeeper servers are behind what this client has seen, and all of them refuse it: it begins anew, as if they had lost their data")
		})
	case zkconn.Unknown:
		c.in.Log(func() {
			c.cfg.client.Logger.Warn("zookeeper servers do not do all that ZooKeeper does", "reason", e.Err)
		})
	case zkconn.Disconnected:
		c.in.Log(func() { c.in.Telemetry().Disconnected(e.Server, e.Err) })
	case zkconn.Asked:
		c.in.Log(func() { c.in.Telemetry().Proved(e.Server, e.Err, e.Took) })
	case zkconn.EphemeralsLarge, zkconn.ListLarge:
		c.in.Log(func() { logSize(c.cfg.client.Logger, e) })
	}
}

// logSize logs that something is large, as WithJuteMaxBuffer says.
func logSize(logger *slog.Logger, e zkconn.Event) {
	switch {
	case e.Kind == zkconn.ListLarge:
		logger.Warn("zookeeper: the list of a node's children is near the size that other clients refuse to read",
			"path", e.Path, "bytes", e.Bytes, "jute.maxbuffer", e.Limit)
	case errors.Is(e.Err, zkconn.ErrUnimplemented): // a server before 3.6 needs no limit
		logger.Info("zookeeper: the ephemeral nodes of the session are not limited", "error", e.Err)
	case e.Err != nil:
		logger.Warn("zookeeper: the ephemeral nodes of the session are not limited", "error", e.Err)
	default:
		logger.Warn("zookeeper: the session has so many ephemeral nodes that servers may fail when it ends (ZOOKEEPER-4306): "+
			"creates are refused from three quarters of jute.maxbuffer on, see framework.WithJuteMaxBuffer",
			"session", sessionText(e.Session), "bytes", e.Bytes, "jute.maxbuffer", e.Limit)
	}
}

// logAttempt logs at most every 10 s that the ensemble cannot be reached, and once that it can be
// reached again.
func (c *core) logAttempt(e zkconn.Event) {
	down, over := c.outage.attempted(e, time.Now())
	switch {
	case down != nil:
		c.in.Log(func() { c.cfg.client.Logger.Warn("zookeeper: the ensemble cannot be reached", down...) })
	case over != nil:
		c.in.Log(func() { c.cfg.client.Logger.Info("zookeeper: the ensemble can be reached again", over...) })
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
	c.in.Log(func() { c.cfg.client.Logger.Debug(message, args...) })
}

// unreachablePause is the least time between two lines in the log that say that the ensemble cannot be
// reached.
const unreachablePause = 10 * time.Second

// outage describes the attempts to connect since the last one that succeeded. Only the session layer's
// goroutine uses it.
type outage struct {
	since   time.Time // of the first that failed; zero for none
	servers []string  // that were tried
	logged  time.Time // the last line; it outlives the outage
	told    bool      // there was a line
}

// attempted notes an attempt. It returns the attributes of a line that is due: that the ensemble
// cannot be reached, or that this is over.
func (o *outage) attempted(e zkconn.Event, now time.Time) (down, over []any) {
	if e.Err == nil {
		if o.told {
			over = []any{"server", e.Target, "after", now.Sub(o.since)}
		}
		*o = outage{logged: o.logged}
		return nil, over
	}
	if errors.Is(e.Err, zkconn.ErrSessionExpired) {
		return nil, nil // a server said so: it was reached, and the next attempt gets a new session
	}
	if o.since.IsZero() {
		o.since = now
	}
	if !slices.Contains(o.servers, e.Target) {
		o.servers = append(o.servers, e.Target)
	}
	// Before all servers were tried one of them may be well.
	if due := e.Round || now.Sub(o.since) >= unreachablePause; !due || now.Sub(o.logged) < unreachablePause {
		return nil, nil
	}
	o.logged, o.told = now, true
	return []any{
		"servers", slices.Clone(o.servers), "for", now.Sub(o.since),
		"server", e.Target, "error", e.Err,
	}, nil
}
