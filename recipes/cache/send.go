package cache

import (
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// The requests that are no reads of a node.
type probe struct{}

type syncing struct{}

// pump sends what is to be read, as far as the window and the other users of the connection allow.
func (r *replica) pump() {
	for room, sent := 0, 0; r.connected; room, sent = room-1, sent+1 {
		if sent%glance == 0 { // the others send meanwhile
			room = crowd - r.conn.Outstanding()
		}
		req := r.nextRequest()
		if req == nil || room <= 0 && r.requests.flying >= share {
			return
		}
		weight := r.weigh(req)
		if !r.requests.window.TryAcquire(weight) {
			return
		}
		r.requests.shift()
		req.weight = weight
		r.requests.flying++
		r.box.Send(r.call(req), req)
	}
}

// nextRequest returns the first request that is ready; if there is none it makes the next of a
// source ready. It returns nil if there is nothing to send.
func (r *replica) nextRequest() *request {
	for {
		if req := r.requests.first(); req != nil {
			return req
		}
		s := r.requests.source()
		if s == nil {
			return nil
		}
		path, ok := s.next()
		if !ok {
			r.requests.dropSource()
			continue
		}
		r.visit(path, s)
	}
}

// visit has a node of a source read. A node of a list that is known has been read since; a node to
// be compared that is not known has been deleted since.
func (r *replica) visit(path string, s *source) {
	known := r.tree.Get(path) != nil
	switch compares := s.compares(); {
	case !r.wants(path):
	case r.requests.get(path, get) != nil:
		r.requests.add(path, get, s.walk, s.since)
	case compares && known && !r.oneShot:
		r.requests.add(path, check, s.walk, s.since)
	case compares == known:
		r.requests.add(path, get, s.walk, s.since)
	}
}

// weigh returns how much of the window a request takes: a large node as much as several.
func (r *replica) weigh(req *request) int64 {
	const size, children = 16 << 10, 1 << 10
	n := r.tree.Get(req.path)
	switch {
	case n == nil || req.verb == check:
		return 1
	case req.verb == list:
		return min(1+int64(n.Value.stat.NumChildren)/children, window)
	default:
		return min(1+int64(n.Value.stat.DataLength)/size, window)
	}
}

// call returns what is sent for a request.
func (r *replica) call(req *request) *zkconn.Call {
	body := &jute.PathWatchRequest{Path: r.paths.server(req.path)}
	switch req.verb {
	case list:
		call := &zkconn.Call{Op: jute.OpGetChildren2, Req: body, Res: &jute.GetChildren2Response{}}
		r.watch(req.path, zkconn.WatchChildren, call, body)
		return call
	case check:
		call := &zkconn.Call{Op: jute.OpExists, Req: body, Res: &jute.StatResponse{}}
		r.watch(req.path, zkconn.WatchData, call, body)
		return call
	default:
		call := &zkconn.Call{Op: jute.OpGetData, Req: body, Res: &jute.GetDataResponse{}}
		r.watch(req.path, zkconn.WatchData, call, body)
		return call
	}
}

// watch has a read set a one-shot watch, if there are no others and it is not set.
func (r *replica) watch(path string, kind zkconn.WatchKind, call *zkconn.Call, body *jute.PathWatchRequest) {
	if !r.oneShot {
		return
	}
	key := watchKey{path, kind}
	if r.watches[key] == nil {
		r.watches[key] = r.box.Watch(body.Path, kind)
		call.Watch, body.Watch = r.watches[key], true
	}
}

// probe sends a request whose reply tells a zxid. The reply comes behind the events of all
// changes up to it.
func (r *replica) probe() {
	r.probes++
	r.box.Send(&zkconn.Call{
		Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: r.paths.full}, Res: &jute.StatResponse{},
	}, probe{})
}

// sync has the server in use catch up with its leader.
func (r *replica) sync() {
	r.box.Send(&zkconn.Call{Op: jute.OpSync, Req: &jute.PathRequest{Path: r.paths.full}, Res: &jute.SyncResponse{}}, syncing{})
}

// opOf returns the operation of a request.
func opOf(v verb) jute.Op {
	switch v {
	case list:
		return jute.OpGetChildren2
	case check:
		return jute.OpExists
	default:
		return jute.OpGetData
	}
}
