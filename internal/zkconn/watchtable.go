package zkconn

import (
	"maps"
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
	derived    derived             // the last one
}

// add registers a watch before its request is sent, so that its event cannot come too early. A watch
// that was given back already is not registered.
func (t *watchTable) add(w *Watch) {
	w.unset.Store(&t.unwatch)
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
		if t.derived == (derived{e.Path, e.Zxid}) && e.Zxid > 0 {
			t.derived = derived{}
			return
		}
		t.fire(watchKey{e.Path, WatchChildren}, e)
	case NodeDeleted:
		t.fire(watchKey{e.Path, WatchData}, e)
		t.fire(watchKey{e.Path, WatchChildren}, e)
	default:
		return // a session event of an old server, or the echo of a removal
	}
	if parent := t.persistent.fire(e); parent != "" {
		t.onEvent(WatchEvent{NodeChildrenChanged, parent, e.Zxid, e.EventID})
		t.derived = derived{parent, e.Zxid}
	}
}

// derived is a change of children that the client has told because of a recursive watch. Since 3.9 a server that was first
// asked for the other mode has both, and tells it as well, next. Only its events have a zxid.
type derived struct {
	parent string
	zxid   int64
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

// A kept watch knows the zxid up to which it has missed nothing, Watch.mark: that of the answer to its read. While the
// server itself has the watch, each reply moves it on: an event comes ahead of the first reply that shows its change. A
// persistent watch that serves it does not, because that may be refused, and neither does a request to set it again
// that is not answered.

// keptAnswered notes that the server has answered the read of a watch. It returns the requests that set the watch, if
// the server has lost it meanwhile: a persistent watch of the path was given back.
func (t *watchTable) keptAnswered(w *Watch, missing bool, zxid int64) (send []*Call) {
	state := w.kept
	w.missing, w.mark = missing, zxid
	w.kept = keptSet
	if state != keptAsked {
		w.kept = keptUnset
	}
	if state != keptAgain {
		return nil
	}
	t.drop(w)
	send = t.setAgain([]*Watch{w})
	if t.persistent.hasPersistentWatch(w.path) { // by one that came meanwhile: servers before 3.9 have one mode for a path
		send = append(send, t.persistent.adjusting(w.path))
		t.persistent.tellOf(w.path, WatchReset)
	}
	return send
}

// setAgain returns the requests that set watches of the connection again, and registers these.
func (t *watchTable) setAgain(watches []*Watch) []*Call {
	calls := keptCalls(watches)
	for _, call := range calls {
		t.restore(call)
	}
	return calls
}

// reset tells those who wait for events of a path that the server's watch of it is gone, because a persistent
// watch was given back that has served them. It returns the requests that set the kept watches again, which are
// to follow the removal.
func (t *watchTable) reset(path string) (again []*Call) {
	served := t.persistent.hasPersistentWatch(path) // by another one
	for _, kind := range []WatchKind{WatchData, WatchChildren} {
		key := watchKey{path, kind}
		first := t.watches[key]
		delete(t.watches, key)
		var lost []*Watch
		for w := range first.list() {
			switch {
			case w.kept == notKept:
				w.fire(WatchEvent{Type: WatchReset, Path: path})
				continue
			case served:
			case w.asked():
				w.kept = keptAgain
			default:
				lost = append(lost, w)
				continue
			}
			t.put(key, w)
		}
		again = append(again, t.setAgain(lost)...)
	}
	return again
}

// takeKept takes the kept watches of a connection that has ended out of the table. The reads of some were not answered:
// nobody waits for these.
func (t *watchTable) takeKept() (all []*Watch) {
	for key, first := range t.watches {
		if first.kept == notKept && first.next == nil { // as most are
			continue
		}
		delete(t.watches, key)
		for w := range first.list() {
			switch {
			case w.kept == notKept:
				t.put(key, w)
				continue
			case w.asked():
				w.over.Store(true)
				continue
			case w.kept == keptSet:
				w.mark = max(w.mark, t.seen)
			}
			w.asks = 0
			all = append(all, w)
		}
	}
	return all
}

// restore registers the watches of a call that sets them again.
func (t *watchTable) restore(call *Call) {
	for _, w := range call.kept {
		w.kept = keptUnset
		w.asks = min(w.asks, maxAsks-1) + 1
		t.add(w)
	}
}

// restored notes that the server has set the watches of a call again. It returns the requests that remove those that
// were given back meanwhile.
func (t *watchTable) restored(call *Call) (send []*Call) {
	for _, w := range call.kept {
		switch {
		case w.kept == keptFired || w.asks == maxAsks: // so many that some are not counted: it stays as if it was not set
		case w.over.Load():
			if t.watches[watchKey{w.path, w.kind}] == nil {
				send = append(send, t.removal(w)...)
			}
		default:
			if w.asks--; w.asks == 0 { // else the server was told to remove it, and to set it again
				w.kept, w.mark = keptSet, max(w.mark, t.seen)
			}
		}
	}
	call.kept = nil
	return send
}

// keptRequestSize is small enough for every server.
const keptRequestSize = 128 << 10

// keptCalls returns the requests that set watches again. Those of one zxid, and among them those of one node, share what
// they can.
func keptCalls(watches []*Watch) (calls []*Call) {
	since := map[int64][]*Watch{}
	for _, w := range watches {
		if !w.over.Load() {
			since[w.mark] = append(since[w.mark], w)
		}
	}
	for _, zxid := range slices.Sorted(maps.Keys(since)) {
		var req *jute.SetWatches
		var call *Call
		var last watchKey
		size := 0
		for _, w := range since[zxid] {
			if req == nil || size+len(w.path) > keptRequestSize {
				// Servers fail on lists that are missing instead of empty.
				req = &jute.SetWatches{
					RelativeZxid: zxid, DataWatches: []string{}, ExistWatches: []string{}, ChildWatches: []string{},
				}
				call = &Call{Op: jute.OpSetWatches, Req: req}
				calls, size, last = append(calls, call), 0, watchKey{}
			}
			call.kept = append(call.kept, w)
			if key := (watchKey{w.path, w.kind}); key != last {
				last, size = key, size+4+len(w.path)
				list := w.among(req)
				*list = append(*list, w.path)
			}
		}
	}
	return calls
}

// among returns the list of a request that the watch belongs to.
func (w *Watch) among(req *jute.SetWatches) *[]string {
	switch {
	case w.kind == WatchChildren:
		return &req.ChildWatches
	case w.missing:
		return &req.ExistWatches
	}
	return &req.DataWatches
}
