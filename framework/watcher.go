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
	kind watchKind
}

// watchKind is the kind of a watch.
type watchKind int

// The kinds; the one-shot ones have the session layer's numbers.
const (
	kindData       = watchKind(zkconn.WatchData)
	kindChildren   = watchKind(zkconn.WatchChildren)
	kindPersistent = iota + 10
	kindRecursive
)

// watchGroup is every setting of one watch; the first event of any one-shot one ends all.
type watchGroup struct {
	settings map[*watchSetting]struct{}
	fired    bool
}

// watchSetting is one call that has set a watch: a one-shot one or a subscription.
type watchSetting struct {
	watcher *Watcher
	id      watchID
	c       *Client
	watch   *zkconn.Watch
	sub     *zkconn.Subscription
}

// watch returns a new setting of the watch, and what takes it back when it was not set.
func (w *Watcher) watch(c *Client, full string, kind zkconn.WatchKind) (watch *zkconn.Watch, unset func()) {
	s := &watchSetting{watcher: w, id: watchID{c.core, full, watchKind(kind)}, c: c}
	w.mu.Lock()
	defer w.mu.Unlock()
	group := w.add(s)
	s.watch = zkconn.NewWatch(full, kind, func(e zkconn.WatchEvent) {
		w.mu.Lock()
		first := !group.fired
		group.fired = true
		for s := range group.settings {
			w.drop(s)
		}
		w.mu.Unlock()
		if first {
			w.deliver(c, e)
		}
	})
	return s.watch, s.unset
}

// add takes a setting in; w.mu is held.
func (w *Watcher) add(s *watchSetting) *watchGroup {
	group := w.set[s.id]
	if group == nil {
		group = &watchGroup{settings: map[*watchSetting]struct{}{}}
		if w.set == nil {
			w.set = map[watchID]*watchGroup{}
		}
		w.set[s.id] = group
	}
	group.settings[s] = struct{}{}
	for _, r := range s.c.registries() {
		r.add(w)
	}
	return group
}

// drop forgets a setting, and reports whether it was there; w.mu is held.
func (w *Watcher) drop(s *watchSetting) bool {
	group := w.set[s.id]
	if group == nil {
		return false
	}
	if _, ok := group.settings[s]; !ok {
		return false
	}
	delete(group.settings, s)
	if len(group.settings) == 0 {
		delete(w.set, s.id)
	}
	for _, r := range s.c.registries() {
		r.remove(w)
	}
	return true
}

// unset forgets a setting.
func (s *watchSetting) unset() {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	s.watcher.drop(s)
}

// take forgets the settings that fit and returns them: they are to be given back.
func (w *Watcher) take(fits func(s *watchSetting) bool) []*watchSetting {
	w.mu.Lock()
	defer w.mu.Unlock()
	var taken []*watchSetting
	for _, group := range w.set {
		for s := range group.settings {
			if fits(s) {
				taken = append(taken, s)
			}
		}
	}
	for _, s := range taken {
		w.drop(s)
	}
	return taken
}

// giveBack takes a watch from the session layer, without waiting for the server.
func (s *watchSetting) giveBack(conn *zkconn.Conn) {
	if s.sub != nil {
		conn.Drop(s.sub)
		return
	}
	conn.Unwatch(s.watch)
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
