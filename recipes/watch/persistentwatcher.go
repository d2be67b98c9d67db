package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/options"
)

// PersistentWatcher has one persistent watch for any number of listeners. It is like
// framework.Client.Watches().Add(), but with Start and Close. A nil PersistentWatcher and the
// zero value cannot be started.
//
// Java: PersistentWatcher.
type PersistentWatcher struct {
	life   lifecycle.Lifecycle
	client *framework.Client
	api    *zkclient.Client // nil for the zero value
	cfg    config
	path   string // as the client names it
	full   string // as the server names it
	sub    *zkconn.Subscription
	events listen.Set[framework.WatchedEvent]

	mu        sync.Mutex
	followers map[*follower]struct{}
	over      chan struct{} // closed when there will be no more events
	ended     bool          // over is closed
}

var _ framework.Component = (*PersistentWatcher)(nil)

// NewPersistentWatcher returns a watcher of the node at path, which need not exist, or with
// framework.PersistentRecursive of the node and everything below it. It does no I/O.
//
// Errors: framework.ErrInvalidPath; framework.ErrInvalidOption for an unknown mode and a nil option;
// framework.ErrNotStarted for a nil client.
//
// Java: PersistentWatcher.
func NewPersistentWatcher(client *framework.Client, path string, mode framework.AddWatchMode, opts ...Option) (*PersistentWatcher, error) {
	api := zkclient.Of(client)
	full, err := api.ServerPath(path)
	if err != nil {
		return nil, err
	}
	cfg, err := newConfig(opts)
	switch {
	case err != nil:
		return nil, err
	case mode != framework.PersistentRecursive && mode != framework.PersistentWatch:
		return nil, fmt.Errorf("%w: there is no mode %d", framework.ErrInvalidOption, mode)
	}
	w := &PersistentWatcher{client: client, api: api, cfg: cfg, path: path, full: full, followers: map[*follower]struct{}{}, over: make(chan struct{})}
	w.events.Limit(listen.MaxEvents, w.newLostEvents)
	w.sub = zkconn.NewSubscription(full, mode == framework.PersistentRecursive, w.onEvent)
	if cfg.background {
		w.life.InBackground(lifecycle.Background{Client: client, What: "watch " + path})
	}
	return w, nil
}

// Start sets the watch. It returns nil when the server has it: from then on every change gives an event, or
// framework.WatchReset after a reconnect. ctx bounds only Start. With WithStartInBackground it does not wait.
// When Start fails no watch is left, and it may be called again; listeners may have got events meanwhile.
//
// Errors in addition to those of framework.Component: framework.ErrUnimplemented from servers
// before 3.6; framework.ErrConnectionLoss, when the client's retry policy gives up.
//
// Java: start.
func (w *PersistentWatcher) Start(ctx context.Context) error {
	if w == nil || w.api == nil {
		return framework.ErrNotStarted
	}
	return w.explain(w.life.Start(ctx, w.subscribe, nil))
}

func (w *PersistentWatcher) subscribe(ctx context.Context) error {
	err := w.api.Retry(ctx, "addWatch", w.path, func(ctx context.Context, conn *zkconn.Conn) error {
		return conn.Subscribe(ctx, w.sub)
	})
	if err == nil && w.cfg.background { // nobody else tells that it is set
		w.tell(w.reset())
	}
	return err
}

// Close removes the watch, ends Events, and joins the listeners, which first get the earlier
// events: those of all changes that were made before Close was called, if there is a connection
// and it lasts. So Close sends a sync, and waits for its answer. It then waits until the server has
// removed the watch, or until ctx ends. With an ended ctx it waits for a second at most. Its error says that listeners are still running, or that the
// server has not answered; the watch then ends with the connection, and there are no more
// events. Close is idempotent, and allowed before Start.
//
// Java: close.
func (w *PersistentWatcher) Close(ctx context.Context) error {
	if w == nil || w.api == nil {
		return nil
	}
	if ctx == nil {
		return w.explain(w.life.Close(ctx, nil)) // which refuses it
	}
	w.end()
	ctx, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	err := w.life.Close(ctx, func(ctx context.Context) error {
		conn, err := w.api.Conn()
		if err != nil {
			return nil // the watch has ended with the client
		}
		ctx, cancel := lifecycle.Reachable(ctx, w.api)
		defer cancel()
		w.catchUp(ctx, conn)
		return conn.Unsubscribe(ctx, w.sub)
	})
	return w.explain(errors.Join(err, w.events.Close(ctx))) // a failed Start may have called listeners
}

// catchUp waits until all changes up to now have been told: their events come ahead of the answer to a
// sync. Without a connection none can come.
func (w *PersistentWatcher) catchUp(ctx context.Context, conn *zkconn.Conn) {
	told := make(chan struct{})
	if _, queued := conn.Start(0, func(*zkconn.Flight) { close(told) }, zkconn.Sync(w.full)); !queued {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// onEvent is called by the session layer, with its locks held.
func (w *PersistentWatcher) onEvent(e zkconn.WatchEvent) {
	if e.Type == zkconn.WatchClosed {
		w.end()
		return
	}
	event := framework.WatchedEvent{Type: framework.WatchReset, Path: w.api.ClientPath(e.Path), Zxid: max(e.Zxid, 0)}
	switch e.Type {
	case zkconn.NodeCreated, zkconn.NodeDeleted, zkconn.NodeDataChanged, zkconn.NodeChildrenChanged:
		event.Type = framework.EventType(e.Type)
	}
	w.tell(event)
}

// explain says which watch an error is about.
func (w *PersistentWatcher) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("watch %s: %w", w.path, err)
}

// Option is an option of NewPersistentWatcher. A nil Option is refused with
// framework.ErrInvalidOption.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

// config is what options set.
type config struct {
	background bool // Start does not wait
}

func newConfig(opts []Option) (config, error) {
	var c config
	err := options.Apply(&c, opts, Option.apply)
	return c, err
}

// WithStartInBackground has Start return nil when it has checked what it can check without a server,
// so a program may start before its servers. Start then refuses a context that has ended, a client
// that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a second
// Start. Its context does not matter any more when it has returned: the watch is set in the
// background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrUnimplemented, it follows a pause, which grows
// from a second to 30 s, or the next connection. The logger gets the first failure, the first such
// error, and the end of the failures; UnhandledErrorListenable of the client gets the first such
// error.
//
// There are no events before the watch is set. When it is set, listeners and Events get
// framework.WatchReset, with the path of the watcher: read now what the watch is about. Events of
// changes may come right before it.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: start, which does not wait, and getResetListenable.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}
