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
	asked   bool // to let go as soon as it holds the lock, by the own node's data
}

// nodeWatch is a data watch on one node.
type nodeWatch struct {
	role  role
	path  string
	watch *zkconn.Watch
	call  *zkconn.Call // the read that sets it, until it is answered

	mu    sync.Mutex
	event zkconn.EventType        // 0 before there was one
	tell  func(zkconn.WatchEvent) // whom it is for
}

// role is why a node is watched.
type role int

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
	tell(e)
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
		tell(zkconn.WatchEvent{Type: event, Path: w.path})
	}
	return event != 0
}

// dataCall returns the read that sets a watch on a node.
func dataCall(path string, watch *zkconn.Watch) *zkconn.Call {
	return &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path, Watch: true},
		Res: &jute.GetDataResponse{}, Watch: watch,
	}
}

// existsCall is dataCall for a node that is not there yet.
func existsCall(path string, watch *zkconn.Watch) *zkconn.Call {
	return &zkconn.Call{
		Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: path, Watch: true},
		Res: &jute.StatResponse{}, Watch: watch,
	}
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

// together returns the call that sets all that is wanted, of which nothing is watched yet:
// what has changed since the zxid seen fires at once. If it fails nothing is watched.
func (v *vigil) together(wanted []watched, seen int64) *zkconn.Call {
	v.watches = make([]*nodeWatch, len(wanted))
	var present, missing []*zkconn.Watch
	for i, want := range wanted {
		w := v.newWatch(want)
		v.watches[i] = w
		if w.role == markerNode {
			missing = append(missing, w.watch)
		} else {
			present = append(present, w.watch)
		}
	}
	return zkconn.SetWatches(seen, present, missing)
}

func (v *vigil) newWatch(want watched) *nodeWatch {
	w := &nodeWatch{role: want.role, path: want.path, tell: v.signal}
	w.watch = zkconn.NewWatch(w.path, zkconn.WatchData, w.fire)
	return w
}

// gone tells whether the event has come that a node ahead is gone, or has changed.
func (v *vigil) gone() bool {
	return slices.ContainsFunc(v.watches, func(w *nodeWatch) bool { return w.role == nodeAhead && w.fired() != 0 })
}

// set changes what is watched to wanted. It returns the reads that set what is missing, in
// the order of wanted, after which settle is to be called, and the watches that are of no
// use any more.
func (v *vigil) set(wanted []watched) (calls []*zkconn.Call, idle []*nodeWatch) {
	idle = v.watches
	v.watches = make([]*nodeWatch, 0, len(wanted))
	for _, want := range wanted {
		i := slices.IndexFunc(idle, func(w *nodeWatch) bool {
			return w.role == want.role && w.path == want.path && w.fired() == 0
		})
		if i >= 0 {
			v.watches = append(v.watches, idle[i])
			idle = slices.Delete(idle, i, i+1)
			continue
		}
		w := v.newWatch(want)
		w.call = dataCall(w.path, w.watch)
		if w.role == markerNode {
			w.call = existsCall(w.path, w.watch)
		}
		v.watches, calls = append(v.watches, w), append(calls, w.call)
	}
	return calls, idle
}

func (v *vigil) signal(zkconn.WatchEvent) {
	select {
	case v.told <- struct{}{}:
	default:
	}
}

// reads returns those that are to set watches in a role.
func (v *vigil) reads(r role) (calls []*zkconn.Call) {
	for _, w := range v.watches {
		if w.role == r && w.call != nil {
			calls = append(calls, w.call)
		}
	}
	return calls
}

// settle takes over the answers to what set returned, or the error for which there are
// none. It returns that error or the first among the answers: errStartOver if the own
// node is gone, ErrNoNode if one ahead is.
func (v *vigil) settle(unanswered error) error {
	err := unanswered
	v.watches = slices.DeleteFunc(v.watches, func(w *nodeWatch) bool {
		call := w.call
		w.call = nil
		switch {
		case call == nil:
			return false
		case unanswered != nil:
			return true
		case call.Err == nil:
			if w.role == ownNode {
				v.asked = asksToLetGo(call)
			}
			return false
		case !errors.Is(call.Err, framework.ErrNoNode):
			if err == nil {
				err = call.Err
			}
		case w.role == markerNode:
			return false
		case w.role == ownNode:
			err = errStartOver
		case err == nil:
			err = call.Err
		}
		return true
	})
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
