package watch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
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
		w.tell(framework.WatchedEvent{Type: framework.WatchReset, Path: w.path})
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
	call := &zkconn.Call{Op: jute.OpSync, Req: &jute.PathRequest{Path: w.full}, Res: &jute.SyncResponse{}}
	if _, queued := conn.Start(0, func(*zkconn.Flight) { close(told) }, call); !queued {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// Listenable takes listeners for the events, which have paths of the client.
// framework.WatchReset comes after every reconnect, because changes may have been missed. To
// miss no event, add listeners before Start.
//
// Up to 65,536 events wait for a listener that is slow. When more come, they are dropped until it has
// got those that wait; it then gets one framework.WatchReset, and later events behind that.
//
// Java: getListenable and getResetListenable; there the queue has no limit.
func (w *PersistentWatcher) Listenable() listen.Listenable[framework.WatchedEvent] {
	if w == nil {
		return listen.Listenable[framework.WatchedEvent]{}
	}
	return w.events.Listenable()
}

// Events iterates over the events after the beginning of the loop, until ctx ends, Close is
// called or the client is closed. Events during the loop body are queued, up to the limit of
// Listenable, with one framework.WatchReset for those that were dropped; events that are still queued at
// the end are dropped. Several loops may run at the same time, each with all events. A loop may begin
// before Start.
//
// Java: none.
func (w *PersistentWatcher) Events(ctx context.Context) iter.Seq[framework.WatchedEvent] {
	return func(yield func(framework.WatchedEvent) bool) {
		if w == nil || w.api == nil || ctx == nil {
			return
		}
		f := w.newFollower()
		w.add(f)
		defer w.remove(f)
		for {
			select {
			case <-f.wake:
			case <-ctx.Done():
				return
			case <-w.over:
				return
			case <-w.client.Done():
				return // without a watch nothing else tells of it
			}
			for e, ok := f.next(); ok; e, ok = f.next() {
				if w.finished() || ctx.Err() != nil || !yield(e) {
					return
				}
			}
		}
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

// tell hands an event to the listeners and the loops.
func (w *PersistentWatcher) tell(event framework.WatchedEvent) {
	w.events.Notify(event)
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.followers {
		f.add(event)
	}
}

// end ends Events.
func (w *PersistentWatcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.over)
	}
}

func (w *PersistentWatcher) finished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

func (w *PersistentWatcher) add(f *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followers[f] = struct{}{}
}

func (w *PersistentWatcher) remove(f *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.followers, f)
}

// explain says which watch an error is about.
func (w *PersistentWatcher) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("watch %s: %w", w.path, err)
}
