package cache

import (
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// answered takes over the reply to a request. Its error ends a first load.
func (r *replica) answered(req *request, call *zkconn.Call) error {
	r.requests.answered(req)
	err := call.Err
	switch {
	case err == nil:
	case call.Watch != nil && !(req.verb == check && errors.Is(err, framework.ErrNoNode)):
		r.notWatched(call.Watch)
	}
	switch {
	case err == nil:
		err = r.read(req, call)
		r.rewatch(req)
		return err
	case errors.Is(err, framework.ErrNoNode):
		r.missing(req)
		return nil
	case withoutConnection(call):
		r.lost = err // it is sent again on the next connection
		return nil
	case errors.Is(err, framework.ErrNoAuth):
		return r.leaveOut(req, err)
	default:
		answered := call.Answered() && !framework.Retryable(err) // else the server is to blame
		return r.failed(req, err, answered || errors.Is(err, framework.ErrTooLarge))
	}
}

// withoutConnection tells whether a request has failed for want of a connection or of a session, which says
// nothing of its node. What the client itself refuses on a connection is no such failure: a request too
// many, or one that is too large.
func withoutConnection(call *zkconn.Call) bool {
	switch {
	case errors.Is(call.Err, framework.ErrConnectionLoss), errors.Is(call.Err, framework.ErrSessionExpired):
		return true
	case errors.Is(call.Err, zkconn.ErrThrottled), errors.Is(call.Err, framework.ErrTooLarge):
		return false
	}
	return !call.Answered()
}

// notWatched forgets a one-shot watch that was not set.
func (r *replica) notWatched(w *zkconn.Watch) {
	for _, kind := range []zkconn.WatchKind{zkconn.WatchData, zkconn.WatchChildren} {
		if key := (watchKey{r.paths.client(w.Path()), kind}); r.watches[key] == w {
			delete(r.watches, key)
		}
	}
}

// rewatch has a node read again whose one-shot watch has fired since the request was sent: the
// server has none now.
func (r *replica) rewatch(req *request) {
	kind := zkconn.WatchData
	if req.verb == list {
		kind = zkconn.WatchChildren
	}
	if r.oneShot && r.watches[watchKey{req.path, kind}] == nil && r.tree.Get(req.path) != nil {
		r.requests.add(req.path, req.verb, req.walk, req.since)
	}
}

// read takes over what a node is.
func (r *replica) read(req *request, call *zkconn.Call) error {
	r.lost = nil
	switch res := call.Res.(type) {
	case *jute.GetDataResponse:
		return r.setData(req, res)
	case *jute.StatResponse:
		r.compareStat(req, &res.Stat)
	case *jute.GetChildren2Response:
		r.setChildren(req, res)
	}
	return nil
}

// setData takes over data and Stat.
func (r *replica) setData(req *request, res *jute.GetDataResponse) error {
	data := res.Data
	if r.cfg.compressed {
		var err error
		if data, err = r.inside.Decompress(req.path, data); err != nil {
			return r.leaveOut(req, err)
		}
	}
	r.readable(req.path, get)
	r.requests.finish(req)
	if req.path != r.paths.root && r.tree.Get(parentOf(req.path)) == nil {
		return nil // it is found when the parent is listed, if that comes to be known
	}
	accept, descend := r.choose(req.path)
	known := r.tree.Get(req.path)
	if known != nil && compareStats(&known.Value.stat, &res.Stat) == pathtree.Recreated {
		r.delete(req.path)
		known = nil
	}
	fresh := known == nil
	grown := !fresh && r.childrenChanged(known, &res.Stat)
	if fresh || compareStats(&known.Value.stat, &res.Stat) != pathtree.Same {
		r.stream.changedAt(req.path, req.event, res.Stat.Mzxid)
		r.store(req.path, content{res.Stat, data}, accept)
	} else if r.cfg.dataless {
		r.keepFresh(req.path, data)
	}
	if descend && (r.oneShot && (fresh || req.walk) || fresh && res.Stat.NumChildren > 0 || req.walk && grown) {
		r.requests.add(req.path, list, req.walk, req.since)
	}
	return nil
}

// Data of less than smallData bytes is copied out of the reply. Otherwise the whole reply, which is
// about 90 bytes longer, would stay in memory.
const smallData = 1 << 10

// store puts a node into the tree.
func (r *replica) store(path string, c content, accept bool) {
	if r.cfg.dataless {
		r.keepFresh(path, c.data)
		c.data = nil
	}
	switch {
	case len(c.data) == 0:
		c.data = nil
	case len(c.data) < smallData:
		c.data = slices.Clip(slices.Clone(c.data))
	}
	r.changed = true
	r.touched()
	r.tree.Put(path, c, accept)
}

// keepFresh keeps data for those who are told of changes.
func (r *replica) keepFresh(path string, data []byte) {
	if !r.output.heard() {
		delete(r.fresh, path)
		return
	}
	if r.fresh == nil {
		r.fresh = map[string][]byte{}
	}
	r.fresh[path] = data
}

// compareStat compares a node with its Stat, and has read what has changed.
func (r *replica) compareStat(req *request, stat *jute.Stat) {
	known := r.tree.Get(req.path)
	r.requests.finish(req)
	switch {
	case known == nil && req.path != r.paths.root:
		return // deleted since
	case known == nil, compareStats(&known.Value.stat, stat) != pathtree.Same:
		r.requests.add(req.path, get, req.walk, req.since)
		return
	}
	r.readable(req.path, get) // it is what the cache has
	if _, descend := r.choose(req.path); descend && r.childrenChanged(known, stat) {
		r.requests.add(req.path, list, req.walk, req.since)
	}
}

// childrenChanged tells whether children may have come or gone since the former connection ended.
func (r *replica) childrenChanged(known *pathtree.Node[content], stat *jute.Stat) bool {
	was := &known.Value.stat
	return stat.Pzxid > r.base || stat.Pzxid < was.Pzxid || stat.Cversion < was.Cversion
}

// setChildren takes over the names of the children of a node.
func (r *replica) setChildren(req *request, res *jute.GetChildren2Response) {
	r.requests.finish(req)
	known := r.tree.Get(req.path)
	if known == nil {
		r.readable(req.path, list)
		return
	}
	if compareStats(&known.Value.stat, &res.Stat) == pathtree.Recreated {
		r.requests.add(req.path, get, req.walk, req.since)
		return
	}
	r.readable(req.path, list)
	names := res.Children
	slices.Sort(names)
	there := map[string]bool{}
	var gone []string
	for child := range known.EveryChild() {
		if _, ok := slices.BinarySearch(names, child.Name()); ok {
			there[child.Name()] = true
		} else {
			gone = append(gone, child.Path())
		}
	}
	for _, path := range gone {
		r.delete(path)
	}
	if len(there) > 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return there[name] })
	}
	if len(names) > 0 {
		r.requests.addSource(&source{parent: req.path, names: names, walk: req.walk, since: req.since})
	}
}

// missing takes over that there is no node.
func (r *replica) missing(req *request) {
	r.lost = nil
	r.requests.finish(req)
	r.requests.drop(req.path, list)
	r.delete(req.path)
	if req.path == r.paths.root && r.oneShot && req.verb == get {
		r.requests.add(req.path, check, req.walk, req.since) // it sets the watch
	}
}

// failed takes over that a read has failed for a reason that may pass. refused says that it was refused for
// the node's sake: only that counts as a failure of the node.
func (r *replica) failed(req *request, err error, refused bool) error {
	if !r.loaded {
		return &framework.OpError{Op: jute.OpName(opOf(req.verb)), Path: req.path, Attempts: 1, Err: err}
	}
	now := time.Now()
	if refused {
		if req.fails++; req.failed.IsZero() {
			req.failed = now
		}
		if u := r.out[req.path]; u != nil && u.kept || req.fails >= maxFails || now.Sub(req.failed) >= maxFailing {
			r.giveUp(req, err)
			return nil
		}
	}
	if r.failSince.IsZero() {
		r.failSince = now
		r.warn("a cache cannot read a node, and goes on trying", "node", req.path, "error", err)
		r.updateStale()
	}
	if r.requests.fail(req) {
		r.again.Reset(r.pause)
		r.pause = min(2*r.pause, maxPause)
	}
	return nil
}
