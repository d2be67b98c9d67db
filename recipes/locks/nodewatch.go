package locks

import (
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// nodeWatch is a data watch on one node, for one waiter.
type nodeWatch struct {
	conn   *zkconn.Conn
	path   string
	watch  *zkconn.Watch
	events chan zkconn.EventType // has the first event of all who share it
}

// newNodeWatch returns a watch whose event goes to events, if there is room.
func newNodeWatch(conn *zkconn.Conn, events chan zkconn.EventType, path string) *nodeWatch {
	w := &nodeWatch{conn: conn, path: path, events: events}
	w.watch = zkconn.NewWatch(path, zkconn.WatchData, func(e zkconn.WatchEvent) {
		select {
		case events <- e.Type:
		default:
		}
	})
	return w
}

// call returns the read that sets the watch.
func (w *nodeWatch) call() *zkconn.Call { return dataCall(w.path, w.watch) }

func dataCall(path string, watch *zkconn.Watch) *zkconn.Call {
	return &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path, Watch: true},
		Res: &jute.GetDataResponse{}, Watch: watch,
	}
}

func (w *nodeWatch) fired() bool { return len(w.events) > 0 }

func (w *nodeWatch) stop() { w.conn.Unwatch(w.watch) }

// nodeWatches are the watches on the nodes of which one must go.
type nodeWatches struct {
	all    []*nodeWatch
	events chan zkconn.EventType
}

func newNodeWatches(conn *zkconn.Conn, dir string, names []string) *nodeWatches {
	w := &nodeWatches{events: make(chan zkconn.EventType, 1)}
	for _, name := range names {
		w.all = append(w.all, newNodeWatch(conn, w.events, dir+"/"+name))
	}
	return w
}

func (w *nodeWatches) calls() []*zkconn.Call {
	calls := make([]*zkconn.Call, len(w.all))
	for i, watch := range w.all {
		calls[i] = watch.call()
	}
	return calls
}

func (w *nodeWatches) stop() {
	for _, watch := range w.all {
		watch.stop()
	}
}
