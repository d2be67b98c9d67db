package framework

import (
	"context"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
)

// Watcher receives watch events through the function it was made with. Its pointer
// is its identity: it is told of one event once however often it was set.
//
// Events come in order, one at a time, on a goroutine of the Watcher's own. The
// function may block and may call the client; events wait for it and none is lost.
// Its context ends with the client.
//
// Java: CuratorWatcher.
type Watcher struct {
	_ noCopy

	fn    func(ctx context.Context, event WatchedEvent)
	queue queue

	mu  sync.Mutex
	set map[watchID]*watchGroup
}

// NewWatcher returns a Watcher that calls fn. A Watcher without a function receives
// nothing.
func NewWatcher(fn func(ctx context.Context, event WatchedEvent)) *Watcher {
	return &Watcher{fn: fn}
}

// WatchedEvent is one event of a watch.
type WatchedEvent struct {
	Type EventType
	Path string // relative to the namespace of the view that set the watch
	Zxid int64  // of the change, zero when the server does not tell
}

// EventType is the kind of a WatchedEvent.
type EventType int

// The events of a watch.
const (
	// NodeCreated says that the node was made.
	NodeCreated EventType = iota + 1
	// NodeDeleted says that the node was deleted.
	NodeDeleted
	// NodeDataChanged says that the node's data was set.
	NodeDataChanged
	// NodeChildrenChanged says that a child was made or deleted.
	NodeChildrenChanged
	// WatchReset comes after a reconnect: changes may have been missed, read again.
	WatchReset
)

// watchID is what makes two settings of a Watcher the same watch.
type watchID struct {
	core *core
	full string
	kind zkconn.WatchKind
}

// watchGroup is every setting of one watch; the first event of any ends all.
type watchGroup struct {
	settings int
	fired    bool
}

// watch returns a new setting of the watch, and what takes it back when it was not set.
func (w *Watcher) watch(c *Client, full string, kind zkconn.WatchKind) (watch *zkconn.Watch, unset func()) {
	id := watchID{c.core, full, kind}
	w.mu.Lock()
	defer w.mu.Unlock()
	group := w.set[id]
	if group == nil {
		group = &watchGroup{}
		if w.set == nil {
			w.set = map[watchID]*watchGroup{}
		}
		w.set[id] = group
	}
	group.settings++
	forget := func() {
		if w.set[id] == group {
			delete(w.set, id)
		}
	}
	watch = zkconn.NewWatch(full, kind, func(e zkconn.WatchEvent) {
		w.mu.Lock()
		first := !group.fired
		group.fired = true
		forget()
		w.mu.Unlock()
		if first {
			w.deliver(c, e)
		}
	})
	return watch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if group.settings--; group.settings == 0 {
			forget()
		}
	}
}

func (w *Watcher) deliver(c *Client, e zkconn.WatchEvent) {
	event := WatchedEvent{Path: c.unfix(e.Path), Zxid: max(e.Zxid, 0)}
	switch e.Type {
	case zkconn.NodeCreated, zkconn.NodeDeleted, zkconn.NodeDataChanged, zkconn.NodeChildrenChanged:
		event.Type = EventType(e.Type)
	case zkconn.WatchClosed:
		return // the context that fn has got says so
	default:
		event.Type = WatchReset
	}
	core := c.core
	if w.fn != nil {
		w.queue.add(&core.users, func() { w.fn(core.life, event) })
	}
}
