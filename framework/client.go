package framework

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// Client is a connection to a ZooKeeper ensemble, or a view of one (UsingNamespace).
// The zero value and a nil Client refuse every operation with ErrNotStarted.
//
// Java: CuratorFramework.
type Client struct {
	_ noCopy

	core      *core // shared with the views
	namespace string
	prefix    string // what the namespace puts before every path
	nsErr     error  // what is wrong with the namespace of a view
	view      bool
	watches   *registry // of a view that removes its watches; shared with its own views
}

// NewClient returns a client that has not been started; it does no I/O.
//
// connectString is a list of host:port with an optional chroot,
// "zk1:2181,zk2:2181,zk3:2181/app". What becomes of the list is under WithoutEnsembleTracker;
// with WithEnsembleProvider there is none. retryPolicy must not be nil; retry.None() is the
// policy of those who want none. A duration between zero and a millisecond, in
// retryPolicy or in an option, is refused with ErrInvalidOption: it is nearly always
// a number of milliseconds carried over from Java.
//
// Java: CuratorFrameworkFactory.newClient.
func NewClient(connectString string, retryPolicy retry.Policy, opts ...Option) (*Client, error) {
	cfg, err := newConfig(retryPolicy, opts)
	if err != nil {
		return nil, err
	}
	servers, chroot, err := parseConnectString(connectString, cfg.provider != nil)
	if err != nil {
		return nil, err
	}
	prefix, err := namespacePrefix(cfg.namespace)
	if err != nil {
		return nil, err
	}
	return &Client{core: newCore(cfg, servers, chroot), namespace: cfg.namespace, prefix: prefix}, nil
}

// Start starts the client and returns without waiting for a connection; operations
// wait for it themselves. ctx bounds Start and is not the client's life, which ends
// with Close; its values, such as a trace, are those of the client's own work. A
// second Start returns ErrAlreadyStarted, Start on a view ErrView.
func (c *Client) Start(ctx context.Context) error {
	switch {
	case c == nil || c.core == nil:
		return errNilClient
	case c.view:
		return ErrView
	case ctx == nil:
		return errNilContext
	}
	return c.core.start(ctx)
}

// Close ends the client: new work is refused with ErrClosed, leases end with
// locks.LossClosed, operations in the background and guaranteed deletes are given until
// ctx ends, the session is closed, and every goroutine is joined, but for those of
// listeners and watchers that do not return.
//
// Close works although ctx has ended, as at the end of a main whose context a signal
// cancelled: it then gives clean-up at most the time of WithMaxCloseWait. It is
// idempotent, allowed before Start, and returns what could not be cleaned up. Close
// on a view returns ErrView and does nothing.
func (c *Client) Close(ctx context.Context) error {
	switch {
	case c == nil || c.core == nil:
		return nil
	case c.view:
		return ErrView
	case ctx == nil:
		return errNilContext
	}
	return c.core.close(ctx)
}

// BlockUntilConnected returns nil once the client is connected, else when ctx ends. The error then
// has the last server that was tried, and why there is no connection to it.
// Only programs that want to report an unreachable ensemble early need it.
//
// Java: blockUntilConnected.
func (c *Client) BlockUntilConnected(ctx context.Context) error {
	conn, err := c.started(ctx)
	if err == nil {
		err = conn.Ready(ctx)
	}
	if err != nil {
		return &OpError{Op: "connect", Attempts: 1, Err: err}
	}
	return nil
}

// State tells whether the client is Latent, Started or Stopped. Java: getState.
func (c *Client) State() ClientState {
	if c == nil || c.core == nil {
		return Latent
	}
	return c.core.phase()
}

// ConnectionState returns the connection's current state. Before the first connection it is zero
// or, as soon as an operation has failed for want of a connection, state.Suspended.
func (c *Client) ConnectionState() state.ConnectionState {
	if conn := c.conn(); conn != nil {
		return conn.State()
	}
	return 0
}

// Server returns the server that the client is connected to, host:port as the client was given
// it; "" without a connection. It may be another one by the time it is used.
// Java: getZookeeperClient().getCurrentConnectionString, which names all servers.
func (c *Client) Server() string {
	if conn := c.conn(); conn != nil {
		return conn.Server()
	}
	return ""
}

// SessionID returns the current session's id, zero when there is none.
func (c *Client) SessionID() int64 {
	if conn := c.conn(); conn != nil {
		id, _ := conn.Session()
		return id
	}
	return 0
}

// SessionTimeout returns the timeout the server granted, zero before the first
// connection. Java: getZookeeperClient().getLastNegotiatedSessionTimeoutMs.
func (c *Client) SessionTimeout() time.Duration {
	if conn := c.conn(); conn != nil {
		_, timeout := conn.Session()
		return timeout
	}
	return 0
}

// PendingRemovals returns how many deletes go on in the background: those that were
// guaranteed, those of released locks, and of what creates may have left whose replies were
// lost. Close waits for them until its context ends, and says how much is left. One that is
// given up, since the server refuses it, is told to UnhandledErrorListenable.
func (c *Client) PendingRemovals() int {
	if c == nil || c.core == nil {
		return 0
	}
	return int(c.core.removals.Load())
}

// DefaultData returns the data a create without WithData writes.
func (c *Client) DefaultData() []byte {
	if c == nil || c.core == nil {
		return nil
	}
	return append([]byte{}, c.core.cfg.defaultData...)
}

// Logger returns the client's logger, for recipes.
func (c *Client) Logger() *slog.Logger {
	if c == nil || c.core == nil {
		return slog.Default()
	}
	return c.core.cfg.logger
}

// ErrorPolicy returns the policy of WithErrorPolicy, for recipes.
// Java: getConnectionStateErrorPolicy.
func (c *Client) ErrorPolicy() state.ErrorPolicy {
	if c == nil || c.core == nil {
		return state.StandardErrorPolicy()
	}
	return c.core.cfg.errorPolicy
}

// UsingNamespace returns a view of the client whose paths are below namespace. It
// replaces the namespace of c, "" meaning none. The namespace's own nodes are created,
// as containers, by the first create that misses them, also one in a transaction or a batch. A view is cheap, shares
// everything with its client and is never closed. An invalid namespace is reported by
// every operation and recipe constructor that uses the view, as ErrInvalidPath.
//
// Java: usingNamespace.
func (c *Client) UsingNamespace(namespace string) *Client {
	if c == nil {
		return nil
	}
	prefix, err := namespacePrefix(namespace)
	return &Client{core: c.core, namespace: namespace, prefix: prefix, nsErr: err, view: true, watches: c.watches}
}

// Namespace returns the namespace, "" if there is none.
func (c *Client) Namespace() string {
	if c == nil {
		return ""
	}
	return c.namespace
}

// ConnectionStateListenable takes listeners for the connection's state. Every state
// is delivered, in order, on a goroutine of the listener's own; the context ends with
// the client. A listener may block and may call the client, also Close, with the context
// it was given.
//
// The first connection is state.Connected (state.ReadOnly to a server without a quorum). If an
// operation fails before because there is no connection, when its retries or the deadline of
// its context are over, state.Suspended comes ahead of it, once. LOST never does: there is no
// session yet.
//
// Java: getConnectionStateListenable.
func (c *Client) ConnectionStateListenable() listen.Listenable[state.ConnectionState] {
	if c == nil || c.core == nil {
		return listen.Listenable[state.ConnectionState]{}
	}
	return c.core.states.Listenable()
}

// CuratorListenable takes listeners for events that have none of their own: outcomes of
// InBackground with a nil function, events of Watched, and that the client is being
// closed. Java: getCuratorListenable.
func (c *Client) CuratorListenable() listen.Listenable[Event] {
	if c == nil || c.core == nil {
		return listen.Listenable[Event]{}
	}
	return c.core.outcomes.Listenable()
}

// UnhandledErrorListenable takes listeners for errors that no caller receives, such as
// that of a guaranteed delete that was given up.
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
