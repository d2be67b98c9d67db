package framework

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// Client is a connection to a ZooKeeper ensemble, or a view of one (UsingNamespace).
// The zero value and a nil Client refuse every operation with ErrNotStarted.
//
// Java: CuratorFramework.
type Client struct {
	_ noCopy

	handle          // leads the recipes to the inside
	core      *core // shared with the views
	namespace string
	view      bool
	watches   *registry // of a view that removes its watches; shared with its own views
}

// handle has no exported method, so that only packages of this module get to the inside.
type handle = zkclient.Handle

// inside returns what the operations of the client are made of, nil for a nil Client and the zero value.
func (c *Client) inside() *zkclient.Client { return zkclient.Of(c) }

// Start starts the client and returns without waiting for a connection; operations
// wait for it themselves. ctx bounds only Start; the client lives until Close. The client's own
// work has the values of ctx, such as a trace. A second Start returns ErrAlreadyStarted, Start
// on a view ErrView.
func (c *Client) Start(ctx context.Context) error {
	switch {
	case c == nil || c.core == nil:
		return zkclient.ErrNilClient
	case c.view:
		return ErrView
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	return c.core.start(ctx)
}

// Close ends the client. New work is refused with ErrClosed, and leases end with
// locks.LossClosed. Background operations and guaranteed deletes may finish until ctx ends, or there has
// been no connection for 5 s.
// Then Close closes the session and joins every goroutine, except those of listeners and
// watchers that do not return.
//
// Close works with an ended ctx, for example at the end of a main whose context a signal
// cancelled: clean-up then takes at most the time of WithMaxCloseWait. It is idempotent and
// allowed before Start. Its error says what could not be cleaned up. Close on a view returns
// ErrView and does nothing.
func (c *Client) Close(ctx context.Context) error {
	switch {
	case c == nil || c.core == nil:
		return nil
	case c.view:
		return ErrView
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	return c.core.close(ctx)
}

// BlockUntilConnected waits until the client is connected, and returns nil. When ctx ends
// first, the error has the last server that was tried, and the reason why there is no
// connection to it. If ctx has ended already, it returns ctx's error. Only programs that want
// to report an unreachable ensemble early need it.
//
// Java: blockUntilConnected.
func (c *Client) BlockUntilConnected(ctx context.Context) error {
	conn, err := c.inside().Usable(ctx)
	if err == nil {
		err = conn.Ready(ctx)
	}
	if err != nil {
		return &OpError{Op: "connect", Attempts: 1, Err: err}
	}
	return nil
}

// State returns Latent, Started or Stopped. Java: getState.
func (c *Client) State() ClientState {
	if c == nil || c.core == nil {
		return Latent
	}
	return c.core.phase()
}

// Done returns a channel that is closed when Close begins to refuse new work. A view has its client's. For a
// nil Client and the zero value the channel is closed. Operations that are under way then may go on until
// Close returns.
//
// Java: getState with STOPPED, or CuratorListener with the event CLOSING.
func (c *Client) Done() <-chan struct{} {
	if c == nil || c.core == nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return c.core.in.Refusing()
}

// ConnectionState returns the connection's current state. Before the first connection it is
// zero or, after an operation has failed because there was no connection, state.Suspended, and
// a session timeout later state.Lost.
func (c *Client) ConnectionState() state.ConnectionState {
	if conn := c.inside().Opened(); conn != nil {
		return conn.State()
	}
	return 0
}

// Server returns the server that the client is connected to, host:port as in the client's list
// of servers; "" without a connection. The client may move to another server at any time.
// Java: getZookeeperClient().getCurrentConnectionString, which names all servers.
func (c *Client) Server() string {
	if conn := c.inside().Opened(); conn != nil {
		return conn.Server()
	}
	return ""
}

// SessionID returns the current session's id, zero when there is none.
func (c *Client) SessionID() int64 {
	if conn := c.inside().Opened(); conn != nil {
		id, _ := conn.Session()
		return id
	}
	return 0
}

// SessionTimeout returns the timeout the server granted, zero before the first
// connection. Java: getZookeeperClient().getLastNegotiatedSessionTimeoutMs.
func (c *Client) SessionTimeout() time.Duration {
	if conn := c.inside().Opened(); conn != nil {
		_, timeout := conn.Session()
		return timeout
	}
	return 0
}

// LastZxid returns the highest zxid that the client has seen in an answer of a server, zero before
// the first; it begins anew when the servers have lost their data. An answer to a write has at least
// the zxid of that write, so a program that has deleted a node, or made another change without a
// Stat, can wait for that change with the Await of a cache. Other operations of the client may have
// raised it meanwhile, also those on another goroutine.
//
// Java: none.
func (c *Client) LastZxid() int64 {
	if conn := c.inside().Opened(); conn != nil {
		return conn.LastZxid()
	}
	return 0
}

// PendingRemovals returns the number of deletes in the background: guaranteed deletes, deletes
// of released locks, and deletes of nodes that creates with a lost reply may have left. Close
// waits for them until its context ends, and its error has the number that is left. If the
// server refuses a delete, the client gives it up, and UnhandledErrorListenable gets the error.
func (c *Client) PendingRemovals() int {
	if c == nil || c.core == nil {
		return 0
	}
	return c.core.in.PendingRemovals()
}

// DefaultData returns the data a create without WithData writes.
func (c *Client) DefaultData() []byte {
	if c == nil || c.core == nil {
		return nil
	}
	return append([]byte{}, c.core.cfg.client.DefaultData...)
}

// Logger returns the client's logger, for recipes.
func (c *Client) Logger() *slog.Logger {
	if c == nil || c.core == nil {
		return slog.Default()
	}
	return c.core.cfg.client.Logger
}

// ErrorPolicy returns what the policy of WithErrorPolicy has decided, for recipes. It never blocks.
// Java: getConnectionStateErrorPolicy.
func (c *Client) ErrorPolicy() state.ErrorPolicy {
	if c == nil || c.core == nil {
		return state.StandardErrorPolicy()
	}
	return c.core.cfg.client.ErrorPolicy
}

// UsingNamespace returns a view of the client whose paths are below namespace. It
// replaces the namespace of c, "" meaning none. The first create that misses the namespace's
// own nodes creates them as containers, also in a transaction or a batch. A view is cheap,
// shares everything with its client and is never closed. If the namespace is invalid, every
// operation and recipe constructor that uses the view returns ErrInvalidPath.
//
// Java: usingNamespace.
func (c *Client) UsingNamespace(namespace string) *Client {
	if c == nil {
		return nil
	}
	return c.viewOf(namespace, c.watches)
}

// viewOf returns a view with another namespace, whose watches are also in watches, if that is not nil.
func (c *Client) viewOf(namespace string, watches *registry) *Client {
	view := &Client{core: c.core, namespace: namespace, view: true, watches: watches}
	if in := c.inside(); in != nil {
		view.handle = zkclient.NewHandle(in.View(zkclient.NamespacePrefix(namespace)))
	}
	return view
}

// viewWith returns a view of a *Client that has another inside, for the recipes.
func viewWith(client any, in *zkclient.Client) any {
	c, _ := client.(*Client)
	return &Client{handle: zkclient.NewHandle(in), core: c.core, namespace: c.namespace, view: true, watches: c.watches}
}

// Namespace returns the namespace, "" if there is none.
func (c *Client) Namespace() string {
	if c == nil {
		return ""
	}
	return c.namespace
}

// SchemaSet returns the set of WithSchemaSet, or nil, which permits everything.
//
// Java: getSchemaSet.
func (c *Client) SchemaSet() *schema.Set {
	return c.inside().Schemas()
}

// ConnectionStateListenable takes listeners for the connection's state. Every state is
// delivered, in order, on the listener's own goroutine. Its context ends with the client. A
// listener may block and may call the client, also Close, with the context that it gets. The states
// wait for it without limit: each takes a new connection or the loss of one, so they are few.
//
// The first connection is state.Connected (state.ReadOnly to a server without a quorum). If an
// operation fails earlier because there is no connection, after its retries or at the deadline
// of its context, state.Suspended comes first, once. If there is no connection for a session timeout
// after that, state.Lost comes next, and no recipe loses anything.
//
// Java: getConnectionStateListenable.
func (c *Client) ConnectionStateListenable() listen.Listenable[state.ConnectionState] {
	if c == nil || c.core == nil {
		return listen.Listenable[state.ConnectionState]{}
	}
	return c.core.states.Listenable()
}

// CuratorListenable takes listeners for other events: outcomes of InBackground with a nil
// function, events of Watched, and the closing of the client. A listener that is blocked gets every
// outcome in the end. When 65,536 events wait for it, it gets one WatchReset for each node whose
// watches have fired since; see Watcher. Java: getCuratorListenable.
func (c *Client) CuratorListenable() listen.Listenable[Event] {
	if c == nil || c.core == nil {
		return listen.Listenable[Event]{}
	}
	return c.core.outcomes.Listenable()
}

// UnhandledErrorListenable takes listeners for errors that no caller receives, such as the
// error of a guaranteed delete that was given up, or of a recipe's Start in the background that
// another try may not change. When 1,024 errors wait for a listener, it gets one error for all that
// come until it has got those.
//
// Java: getUnhandledErrorListenable.
func (c *Client) UnhandledErrorListenable() listen.Listenable[error] {
	if c == nil || c.core == nil {
		return listen.Listenable[error]{}
	}
	return c.core.unhandled.Listenable()
}

// CurrentEnsemble returns the ensemble's configuration as it was last read. It is zero
// before the first connection, with a server that has no ensemble, if the client may not
// read it, and without a tracker; see WithoutEnsembleTracker. GetConfig asks the server.
//
// Java: getCurrentConfig.
func (c *Client) CurrentEnsemble() Ensemble {
	if c == nil || c.core == nil {
		return Ensemble{}
	}
	if e := c.core.tracker.current.Load(); e != nil {
		return e.clone()
	}
	return Ensemble{}
}

// inBackground queues an operation after those that were queued before. do returns a function that
// calls the user's function with the outcome. Without a user's function do returns nil, and has put the
// outcome into the event.
func (c *Client) inBackground(ctx context.Context, op, path string, do func(ctx context.Context, event *Event) (report func(ctx context.Context))) error {
	if _, err := c.inside().Usable(ctx); err != nil {
		return &OpError{Op: op, Path: path, Err: err}
	}
	ctx = retry.Detach(context.WithoutCancel(ctx))
	event := Event{Op: op, Path: path, ctx: ctx}
	ctx = zkclient.Late(ctx)
	task := func() {
		opCtx, cancel := c.core.in.WithLife(ctx)
		defer cancel(nil)
		report := do(opCtx, &event)
		if report == nil {
			c.core.outcomes.Notify(event)
			return
		}
		c.core.in.CallbackInOrder(func() {
			ctx, cancel := c.core.in.WithLife(ctx)
			defer cancel(nil)
			report(ctx)
		})
	}
	if !c.core.in.InOrder(task) {
		return &OpError{Op: op, Path: path, Err: ErrClosed}
	}
	return nil
}
