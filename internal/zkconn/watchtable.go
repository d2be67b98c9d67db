package zkconn

import (
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

type watchKey struct {
	path string
	kind WatchKind
}

// watchTable holds the watches of one connection: at the server they end with it, too. Its
// methods return the requests that they need to be sent, at once and in order. The lock of the
// connection guards it.
type watchTable struct {
	watches    map[watchKey]*Watch // the newest of its key, the others follow
	persistent *subscriptions      // of all connections
	unwatch    func(*Watch)        // gives a watch back, with the lock of the connection
	lastEvent  int64               // the last one that came before the last reply
	seen       int64               // the highest zxid in a reply: events of earlier changes have come
}

// add registers a watch before its request is sent, so that its event cannot come too early. A watch
// that was given back already is not registered.
func (t *watchTable) add(w *Watch) {
	w.setIn.Store(t)
	if w.over.Load() { // Unwatch looks at the two in the other order
		return
	}
	t.put(watchKey{w.path, w.kind}, w)
}

func (t *watchTable) put(key watchKey, w *Watch) {
	if t.watches == nil {
		t.watches = map[watchKey]*Watch{}
	}
	if w.next = t.watches[key]; w.next != nil {
		w.next.prev = w
	}
	t.watches[key] = w
}

// onReply notes what the answer to a call says about its watches. lastEvent is the id of the last
// event.
func (t *watchTable) onReply(call *Call, code jute.Code, zxid, lastEvent int64) (send []*Call) {
	t.seen = max(t.seen, zxid)
	if len(call.kept) > 0 && code == jute.CodeOK {
		send = t.restored(call)
	}
	for watch := range call.watches {
		idle := t.answered(watch, call.Op, code)
		if watch.mark > t.lastEvent && slices.Contains(call.present, watch) {
			continue // its event came with this request, for a change after seen: the server has set no watch
		}
		switch {
		case idle:
			send = append(send, t.removal(watch)...)
		case watch.asked() && !watch.over.Load():
			send = append(send, t.keptAnswered(watch, code == jute.CodeNoNode, zxid)...)
		}
	}
	t.lastEvent = lastEvent
	return send
}

// answered drops a watch that the server did not set. It reports whether the server has set a watch
// that nobody waits for anymore, because the waiter got the event of an earlier watch or gave the
// watch back.
func (t *watchTable) answered(w *Watch, op jute.Op, code jute.Code) (idle bool) {
	if code == jute.CodeOK || code == jute.CodeNoNode && op == jute.OpExists {
		return t.watches[watchKey{w.path, w.kind}] == nil
	}
	w.over.Store(true)
	t.drop(w)
	return false
}

// remove gives a watch back. With the last waiter the server's watch is removed, too.
func (t *watchTable) remove(w *Watch) (send []*Call) {
	w.over.Store(true)
	if t.drop(w) {
		return t.removal(w)
	}
	return nil
}

// removal returns the request that removes the server's watch, unless that is the persistent one
// of a subscription.
func (t *watchTable) removal(w *Watch) []*Call {
	if t.persistent.hasPersistentWatch(w.path) {
		return nil
	}
	return []*Call{{Op: jute.OpRemoveWatches, Req: &jute.WatchesRequest{Path: w.path, Type: int32(w.kind)}}}
}

// drop removes a watch, if it is there, and reports whether it was the last for its node
// and kind.
func (t *watchTable) drop(w *Watch) (last bool) {
	key := watchKey{w.path, w.kind}
	if w.prev == nil && t.watches[key] != w {
		return false
	}
	switch {
	case w.prev != nil:
		w.prev.next = w.next
	case w.next != nil:
		t.watches[key] = w.next
	default:
		delete(t.watches, key)
		last = true
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	return last
}

// onEvent fires the watches that wait for an event.
func (t *watchTable) onEvent(e WatchEvent) {
	switch e.Type {
	case NodeCreated, NodeDataChanged:
		t.fire(watchKey{e.Path, WatchData}, e)
	case NodeChildrenChanged:
		t.fire(watchKey{e.Path, WatchChildren}, e)
	case NodeDeleted:
		t.fire(watchKey{e.Path, WatchData}, e)
		t.fire(watchKey{e.Path, WatchChildren}, e)
	default:
		return // a session event of an old server, or the echo of a removal
	}
	if parent := t.persistent.fire(e); parent != "" {
		t.onEvent(WatchEvent{NodeChildrenChanged, parent, e.Zxid, e.EventID})
	}
}

func (t *watchTable) fire(key watchKey, e WatchEvent) {
	first := t.watches[key]
	delete(t.watches, key)
	for w := range first.list() {
		if w.asked() { // the server has not read its request yet: the event is of a change before
			t.put(key, w)
			continue
		}
		w.fire(e)
	}
}

// fireAll tells every watch the same, each with its own path, and empties the table.
func (t *watchTable) fireAll(event EventType) {
	all := t.watches
	t.watches = nil
	for key, first := range all {
		for w := range first.list() {
			if w.asked() { // its read fails, and nobody waits for the event
				w.over.Store(true)
			}
			w.fire(WatchEvent{Type: event, Path: key.path})
		}
	}
}
