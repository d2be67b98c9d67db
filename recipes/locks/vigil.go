package locks

import (
	"errors"
	"slices"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// vigil is what a waiter watches. What is of use again after another look at the queue
// stays set.
type vigil struct {
	told    chan struct{} // has room for one: a watch has fired
	watches []*nodeWatch
	unread  bool // the nodes were not read when the watches were set
	asked   bool // to let go as soon as it holds the lock, by the own node's data
}

// nodeWatch is a data watch on one node.
type nodeWatch struct {
	zkconn.Watch
	vigil *vigil
	role  role

	mu    sync.Mutex
	event zkconn.EventType        // 0 before there was one
	tell  func(zkconn.WatchEvent) // whom it was handed over to; nil while it is the vigil's
}

// role is why a node is watched.
type role int8

const (
	ownNode    role = iota
	markerNode      // of the node right ahead: see baton.go
	nodeAhead       // at least one of these must go
)

// fire is called with locks of the session layer held: it only passes the event on.
func (w *nodeWatch) fire(e zkconn.WatchEvent) {
	w.mu.Lock()
	w.event = e.Type
	tell := w.tell
	w.mu.Unlock()
	if tell != nil {
		tell(e)
	} else {
		w.vigil.signal()
	}
}

// fired returns the watch's event, or 0.
func (w *nodeWatch) fired() zkconn.EventType {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.event
}

// handOver gives the watch to somebody else, who is told at once of an event that there
// was already; then it reports true.
func (w *nodeWatch) handOver(tell func(zkconn.WatchEvent)) (fired bool) {
	w.mu.Lock()
	w.tell = tell
	event := w.event
	w.mu.Unlock()
	if event != 0 {
		tell(zkconn.WatchEvent{Type: event, Path: w.Path()})
	}
	return event != 0
}

// watched says what is to be watched.
type watched struct {
	role role
	path string
}

// begun tells whether something is watched already, or has told of a change: what has, has to
// be read, or it would do so again at once.
func (v *vigil) begun() bool {
	return slices.ContainsFunc(v.watches, func(w *nodeWatch) bool { return w.fired() != zkconn.WatchReset })
}

// stirred tells whether a watch has fired.
func (v *vigil) stirred() bool {
	return slices.ContainsFunc(v.watches, func(w *nodeWatch) bool { return w.fired() != 0 })
}

func (v *vigil) signal() {
	select {
	case v.told <- struct{}{}:
	default:
	}
}

// together returns the call that sets all that is wanted, of which nothing is watched yet:
// what has changed since the zxid seen fires at once. If it fails nothing is watched.
func (v *vigil) together(wanted []watched, seen int64) *zkconn.Call {
	room := make([]nodeWatch, len(wanted))
	v.watches = make([]*nodeWatch, len(wanted))
	var present, missing []*zkconn.Watch
	for i, want := range wanted {
		w := v.watch(&room[i], want)
		v.watches[i] = w
		if w.role == markerNode {
			missing = append(missing, &w.Watch)
		} else {
			present = append(present, &w.Watch)
		}
	}
	return zkconn.SetWatches(seen, present, missing)
}

// watch makes w the watch that is wanted.
func (v *vigil) watch(w *nodeWatch, want watched) *nodeWatch {
	w.role, w.vigil = want.role, v
	w.Init(want.path, zkconn.WatchData, w.fire)
	return w
}

// reading is a read that sets a watch.
type reading struct {
	*nodeWatch
	call *zkconn.Call
}

// set changes what is watched to wanted. It returns the reads that set what is missing, in
// the order of wanted, which settle is to be called with, and the watches that are of no use
// any more.
func (v *vigil) set(wanted []watched) (reads []reading, idle []*nodeWatch) {
	idle = v.watches
	v.watches = make([]*nodeWatch, 0, len(wanted))
	for _, want := range wanted {
		i := slices.IndexFunc(idle, func(w *nodeWatch) bool {
			return w.role == want.role && w.Path() == want.path && w.fired() == 0
		})
		if i >= 0 {
			v.watches = append(v.watches, idle[i])
			idle = slices.Delete(idle, i, i+1)
			continue
		}
		w := v.watch(new(nodeWatch), want)
		v.watches = append(v.watches, w)
		if w.role == markerNode {
			reads = append(reads, reading{w, existsCall(w.Path(), &w.Watch)})
		} else {
			reads = append(reads, reading{w, dataCall(w.Path(), &w.Watch)})
		}
	}
	return reads, idle
}

// settle takes over the answers to what set returned, or the error for which there are
// none. It returns that error or the first among the answers: errStartOver if the own
// node is gone, ErrNoNode if one ahead is.
func (v *vigil) settle(reads []reading, unanswered error) error {
	err := unanswered
	for _, w := range reads {
		switch {
		case unanswered != nil:
		case w.call.Err == nil:
			if w.role == ownNode {
				v.asked = asksToLetGo(w.call)
			}
			continue
		case !errors.Is(w.call.Err, framework.ErrNoNode):
			if err == nil {
				err = w.call.Err
			}
		case w.role == markerNode:
			continue
		case w.role == ownNode:
			err = errStartOver
		case err == nil:
			err = w.call.Err
		}
		v.watches = slices.DeleteFunc(v.watches, func(other *nodeWatch) bool { return other == w.nodeWatch })
	}
	return err
}

// take removes the watch on the own node from the vigil, for the hold.
func (v *vigil) take() *nodeWatch {
	i := slices.IndexFunc(v.watches, func(w *nodeWatch) bool { return w.role == ownNode })
	if i < 0 {
		return nil
	}
	own := v.watches[i]
	v.watches = slices.Delete(v.watches, i, i+1)
	return own
}

// dataCall returns the read that sets a watch on a node.
func dataCall(path string, watch *zkconn.Watch) *zkconn.Call {
	return &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path, Watch: true},
		Res: &jute.GetDataResponse{}, Watch: watch,
	}
}

// readCall is dataCall without a watch.
func readCall(path string) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path}, Res: &jute.GetDataResponse{}}
}

// existsCall is dataCall for a node that is not there yet.
func existsCall(path string, watch *zkconn.Watch) *zkconn.Call {
	return &zkconn.Call{
		Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: path, Watch: true},
		Res: &jute.StatResponse{}, Watch: watch,
	}
}
