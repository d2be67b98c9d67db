package zkconn

import (
	"iter"
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

// WatchKind says which changes a watch is about.
type WatchKind int32

// The kinds. Exists and getData share a kind, at the server as here.
const (
	WatchData     WatchKind = WatchKind(jute.WatcherData)
	WatchChildren WatchKind = WatchKind(jute.WatcherChildren)
)

// EventType is what happened to a watched node, or to the watch.
type EventType int32

// The events; the first four have the protocol's numbers.
const (
	NodeCreated EventType = iota + 1
	NodeDeleted
	NodeDataChanged
	NodeChildrenChanged
	// WatchReset: there was another connection meanwhile, the watch is gone: read again.
	WatchReset
	// WatchSessionLost: the session is over, and the watch with it.
	WatchSessionLost
	// WatchClosed: the client is closed.
	WatchClosed
)

// WatchEvent is the one event of a watch.
type WatchEvent struct {
	Type EventType
	Path string
	Zxid int64 // of the change; -1 from servers that do not tell
	// Notice is the same for all whom one message of the server's concerns, and zero for
	// what no message told.
	Notice int64
}

// Watch waits for one event of one node. Waiters for the same node and kind share one
// watch at the server, which is removed with the last of them.
type Watch struct {
	path string
	kind WatchKind

	// Guarded by wire.mu, as the rest of the hub.
	over       bool  // fired or given back
	notice     int64 // of the message that it was fired by, if it was
	wire       *wire // where it is set
	prev, next *Watch

	fn func(WatchEvent)
}

// NewWatch returns a watch for the calls that read path. fn is called at most once, on
// a goroutine of this package and with its locks held: it must only pass the event on.
func NewWatch(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	return new(Watch).Init(path, kind, fn)
}

// Init makes w, which must not be in use, what NewWatch returns: for a Watch that is a part of
// something else.
func (w *Watch) Init(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	*w = Watch{path: path, kind: kind, fn: fn}
	return w
}

// Path returns the path of the node.
func (w *Watch) Path() string { return w.path }

func (w *Watch) fire(e WatchEvent) {
	if !w.over {
		w.over, w.notice = true, e.Notice
		w.fn(e)
	}
}

type watchKey struct {
	path string
	kind WatchKind
}

// hub holds the watches of one connection: at the server they end with it, too.
type hub struct {
	watches map[watchKey]*Watch // the newest of its key, the others follow
}

// add registers a watch before its request is sent: its event cannot come too early.
func (h *hub) add(w *Watch, on *wire) {
	w.wire = on
	key := watchKey{w.path, w.kind}
	if h.watches == nil {
		h.watches = map[watchKey]*Watch{}
	}
	if w.next = h.watches[key]; w.next != nil {
		w.next.prev = w
	}
	h.watches[key] = w
}

// replied drops a watch that the server did not set. It reports whether the server has
// set one that nobody waits for any more: its waiter has taken the event of an earlier
// watch, or was given back.
func (h *hub) replied(w *Watch, op jute.Op, code jute.Code) (idle bool) {
	if code == jute.CodeOK || code == jute.CodeNoNode && op == jute.OpExists {
		return h.watches[watchKey{w.path, w.kind}] == nil
	}
	w.over = true
	h.drop(w)
	return false
}

// drop removes a watch, if it is there, and reports whether it was the last for its node
// and kind.
func (h *hub) drop(w *Watch) (last bool) {
	key := watchKey{w.path, w.kind}
	if w.prev == nil && h.watches[key] != w {
		return false
	}
	switch {
	case w.prev != nil:
		w.prev.next = w.next
	case w.next != nil:
		h.watches[key] = w.next
	default:
		delete(h.watches, key)
		last = true
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	return last
}

// fire tells all who wait for an event; w.mu is held.
func (w *wire) fire(e WatchEvent) {
	switch e.Type {
	case NodeCreated, NodeDataChanged:
		w.hub.fire(watchKey{e.Path, WatchData}, e)
	case NodeChildrenChanged:
		w.hub.fire(watchKey{e.Path, WatchChildren}, e)
	case NodeDeleted:
		w.hub.fire(watchKey{e.Path, WatchData}, e)
		w.hub.fire(watchKey{e.Path, WatchChildren}, e)
	default:
		return // a session event of an old server, or the echo of a removal
	}
	if parent := w.conn.subs.fire(e); parent != "" {
		w.fire(WatchEvent{NodeChildrenChanged, parent, e.Zxid, e.Notice})
	}
}

func (h *hub) fire(key watchKey, e WatchEvent) {
	first := h.watches[key]
	delete(h.watches, key)
	for w := range first.chain() {
		w.fire(e)
	}
}

// chain takes apart the list that begins with w, which may be nil.
func (w *Watch) chain() iter.Seq[*Watch] {
	return func(yield func(*Watch) bool) {
		for w != nil {
			next := w.next
			w.prev, w.next = nil, nil
			if !yield(w) {
				return
			}
			w = next
		}
	}
}

// takeAll empties the hub.
func (h *hub) takeAll() []*Watch {
	var all []*Watch
	for _, first := range h.watches {
		all = slices.AppendSeq(all, first.chain())
	}
	h.watches = nil
	return all
}

// unwatch gives a watch back. With the last waiter it goes from the server, too: the
// removal is queued under the same lock as every read, so that a later read's watch is
// set behind it. The caller holds w.mu.
func (w *wire) unwatch(watch *Watch) {
	watch.over = true
	if w.hub.drop(watch) {
		w.removeWatch(watch)
	}
}

// removeWatch queues the removal of the server's watch, unless that is the persistent one
// of a subscription; the caller holds w.mu.
func (w *wire) removeWatch(watch *Watch) {
	if w.err != nil || w.conn.subs.cover(watch.path) {
		return
	}
	b, err := newBatch([]*Call{{
		Op:  jute.OpRemoveWatches,
		Req: &jute.WatchesRequest{Path: watch.path, Type: int32(watch.kind)},
	}}, maxFrame)
	if err == nil {
		w.enqueue(outgoing{batch: b})
	}
}

// Unwatch gives back a watch that has not fired; for one that has it does nothing.
// After Unwatch returns the watch's function is not called.
func (c *Conn) Unwatch(watch *Watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.orphans, watch)
	if w := watch.wire; w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unwatch(watch)
		return
	}
	watch.over = true
}

// Watches returns how many watches are set at the server, as far as is known here. A
// subscription counts as one.
func (c *Conn) Watches() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wire == nil {
		return 0
	}
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	return len(c.wire.hub.watches) + c.subs.paths()
}
