package zkconn

import (
	"maps"
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

// InitKept is Init for a watch that outlives its connection, as those of the driver do: on the next one of the
// session it is set again, before anything else is sent, and if the node has changed meanwhile it gets the
// event of that. So it never gets WatchReset. It ends with the session. An event that comes before the answer
// to the read that sets it is not for it.
//
// It may get the event of a change that its read has shown already, if a persistent watch of the path is given back, or
// SetWatches sets one, while the connection is just beginning.
func (w *Watch) InitKept(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	w.Init(path, kind, fn)
	w.kept = keptAsked
	return w
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
