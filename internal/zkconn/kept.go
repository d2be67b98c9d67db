package zkconn

import "github.com/go-curator/curator/internal/jute"

// NewKeptWatch returns a watch that outlives its connection, as those of the driver do: on the next one of the
// session it is set again, before anything else is sent, and if the node has changed meanwhile it gets the
// event of that. So it never gets WatchReset. It ends with the session. An event that comes before the answer
// to the read that sets it is not for it.
func NewKeptWatch(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	return new(Watch).InitKept(path, kind, fn)
}

// InitKept is NewKeptWatch for a Watch that is a part of another value. w must not be in use; one whose read has
// failed is not.
func (w *Watch) InitKept(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	w.Init(path, kind, fn)
	w.kept = keptAsked
	return w
}

// keptAnswered notes that the server has answered the read of a watch. It returns the request that sets the watch,
// if the persistent watch is gone that was to serve it.
func (t *watchTable) keptAnswered(w *Watch, missing bool) []*Call {
	served := w.kept == keptServed
	w.kept, w.missing = keptSet, missing
	if !served || t.persistent.hasPersistentWatch(w.path) {
		return nil
	}
	t.drop(w)
	return t.setAgain([]*Watch{w})
}

// setAgain returns the requests that set watches of the connection again, and registers these.
func (t *watchTable) setAgain(watches []*Watch) []*Call {
	var r keptRequests
	r.add(keptSince{t.seen, watches})
	for _, call := range r.calls {
		call.again = true
		t.restore(call)
	}
	return r.calls
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
		var set []*Watch
		for w := range first.list() {
			switch {
			case w.kept == notKept:
				w.fire(WatchEvent{Type: WatchReset, Path: path})
				continue
			case served:
			case w.asked():
				w.kept = keptServed // so it is set when its read is answered
			default:
				set = append(set, w)
				continue
			}
			t.put(key, w)
		}
		again = append(again, t.setAgain(set)...)
	}
	return again
}

// keptSince are watches that have missed nothing up to a zxid. It is that of the last reply on the connection
// on which they were set, and no later one: an event comes ahead of the first reply that shows its change. A
// connection that ends before it has answered that it has set them again tells nothing of them, whatever
// it has answered before.
type keptSince struct {
	zxid    int64
	watches []*Watch
}

// takeKept takes the kept watches of a connection that has ended out of the table.
func (t *watchTable) takeKept() (all []keptSince) {
	for _, call := range t.restoring {
		since := keptSince{zxid: call.Req.(*jute.SetWatches).RelativeZxid}
		for _, w := range call.kept {
			if w.kept == keptRestoring && !w.over.Load() {
				t.drop(w)
				w.kept = keptSet // another call may have it, too
				since.watches = append(since.watches, w)
			}
		}
		all = append(all, since)
	}
	t.restoring = nil
	set := keptSince{zxid: t.seen}
	for key, first := range t.watches {
		set.watches = append(set.watches, t.takeSet(key, first)...)
	}
	return append(all, set)
}

// takeSet takes those of one node out that the server has set.
func (t *watchTable) takeSet(key watchKey, first *Watch) (set []*Watch) {
	if first.kept == notKept && first.next == nil { // as most are
		return nil
	}
	delete(t.watches, key)
	for w := range first.list() {
		if w.kept == keptSet {
			set = append(set, w)
		} else {
			t.put(key, w)
		}
	}
	return set
}

// restore registers the watches of a call that sets them again.
func (t *watchTable) restore(call *Call) {
	t.restoring = append(t.restoring, call)
	for _, w := range call.kept {
		t.add(w)
	}
}

// restored notes that the server has set the watches of a call again. Calls are answered in order.
func (t *watchTable) restored(call *Call) {
	for _, w := range call.kept {
		w.kept = keptSet
	}
	t.restoring = t.restoring[1:]
	for _, later := range t.restoring {
		if !later.again {
			continue
		}
		for _, w := range later.kept { // the server was told to remove them between the two
			w.kept = keptRestoring
		}
	}
}

// keptRequests are the requests that set kept watches again. Each is small enough for every server.
type keptRequests struct {
	calls []*Call
	size  int
	last  watchKey // that was added
}

const keptRequestSize = 128 << 10

// add adds the watches of a connection that has ended. Several of one node follow each other.
func (r *keptRequests) add(since keptSince) {
	var req *jute.SetWatches
	var call *Call
	for _, w := range since.watches {
		if req == nil || r.size+len(w.path) > keptRequestSize {
			// Servers fail on lists that are missing instead of empty.
			req = &jute.SetWatches{
				RelativeZxid: since.zxid, DataWatches: []string{}, ExistWatches: []string{}, ChildWatches: []string{},
			}
			call = &Call{Op: jute.OpSetWatches, Req: req}
			r.calls, r.size, r.last = append(r.calls, call), 0, watchKey{}
		}
		w.kept = keptRestoring
		call.kept = append(call.kept, w)
		if key := (watchKey{w.path, w.kind}); key != r.last {
			r.last, r.size = key, r.size+4+len(w.path)
			list := w.among(req)
			*list = append(*list, w.path)
		}
	}
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
