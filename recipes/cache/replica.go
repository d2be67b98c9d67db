package cache

import (
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// replica is the copy of the tree, and what is to be read of it. One goroutine uses it: first that of Start, then
// the cache's own. It waits for nothing.
//
// A node that exists at the server is in one of these states:
//
//	known     the tree has what the last reply said, and no event has come since
//	wanted    it may have changed, and there is a request for it
//	left out  it cannot be read (see unread), or the selector does not want it
//
// A reply that comes after the last event of a node shows all changes, however early its request
// was sent.
type replica struct {
	cfg     *config
	root    string // the client's path
	out     output
	watches *oneShots

	tree     *pathtree.Tree[content]
	fresh    map[string][]byte // with WithoutData: the data that was read since the last version was shown
	stream   stream
	held     held
	requests requests
	unread   unreads

	last  int64 // the zxid of the last reply
	base  int64 // up to this zxid the children of all nodes in the tree are known; see restart
	epoch int64 // of the servers' data, which last and base are of
}

func newReplica(cfg *config, root string, out output, watches *oneShots) *replica {
	return &replica{
		cfg: cfg, root: root, out: out, watches: watches, tree: pathtree.New[content](root),
		held: held{maxLag: cfg.maxLag, lag: stoppedTimer()}, requests: newRequests(), unread: newUnreads(),
	}
}

// choose is config.choose.
func (r *replica) choose(path string) (accept, descend bool) {
	return r.cfg.choose(path, path == r.root)
}

// wants tells whether a node is to be read whose parent is in the tree.
func (r *replica) wants(path string) bool {
	accept, descend := r.choose(path)
	return accept || descend
}

// add has a node read.
func (r *replica) add(path string, v verb, walk bool) *request {
	return r.requests.add(path, v, walk, r.last)
}

// goOn has a node read because of what another read of it has shown.
func (r *replica) goOn(req *request, v verb) { r.requests.add(req.path, v, req.walk, req.since) }

// want has a node read. One whose parent is not known is found when the parent is listed.
func (r *replica) want(path string, v verb) {
	if path != r.root {
		parent := parentOf(path)
		if r.tree.Get(parent) == nil {
			if r.requests.walking == 0 && !r.requests.idle() {
				r.stream.ignored(path)
			}
			return
		}
		if _, descend := r.choose(parent); !descend {
			return
		}
	}
	if !r.wants(path) || r.unread.postpone(path, v) {
		return
	}
	r.held.touch()
	r.add(path, v, false).event = r.stream.events
}

// deleted takes over that a node was deleted. A request that is in flight may show another node
// that was created since, the event of which comes ahead of its reply.
func (r *replica) deleted(path string, zxid int64) {
	r.requests.drop(path, get)
	r.requests.drop(path, list)
	if n := r.tree.Get(path); n != nil {
		r.stream.deletedAt(path, n.Value.stat.Czxid, zxid, r.last)
	}
	r.delete(path)
	if r.watches.used() && path == r.root {
		r.add(path, get, false) // which looks, and waits for it
	}
}

// delete takes a node out of the tree, with what is below it.
func (r *replica) delete(path string) {
	r.forget(path)
	deleted := r.tree.Delete(path)
	if deleted == nil {
		return
	}
	r.held.change()
	if !r.watches.used() && len(r.unread.out) == 0 {
		return
	}
	for n := range deleted.Every() {
		r.watches.drop(n.Path())
		r.forget(n.Path())
	}
}

// forget takes note that a node is not left out any more.
func (r *replica) forget(path string) {
	if r.unread.forget(path) {
		r.held.change()
	}
}

// unknown is a base with which the children of every node are listed, also of one that never had any.
const unknown = -1

// restart begins to compare the tree with the server's: persistent watches have missed what has
// happened since the former connection ended, and one-shot watches are gone. It reports whether the servers
// have lost data that was seen. Their zxids begin anew then, and can be compared with none from before.
func (r *replica) restart(epoch int64) (dataLost bool) {
	dataLost = epoch != r.epoch
	switch {
	case dataLost:
		r.epoch, r.base, r.last = epoch, unknown, 0
		r.stream.take() // the deletions before
	case r.requests.walking == 0: // else the tree is compared with what it was before that
		r.base = r.last
	}
	r.requests.restart()
	for path, n := range r.unread.out {
		r.readUnread(path, n, true)
	}
	if nodes := slices.Collect(r.tree.Root().Every()); len(nodes) > 0 {
		r.requests.addSource(&source{nodes: nodes, walk: true, since: r.last})
	} else {
		r.add(r.root, get, true)
	}
	return dataLost
}

// next returns the request that is to be sent first; if none is ready it makes the next of a source ready. It
// returns nil if there is nothing to send.
func (r *replica) next() *request {
	for {
		if req := r.requests.first(); req != nil {
			return req
		}
		path, s := r.requests.nextNode()
		if s == nil {
			return nil
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
	case compares && known && !r.watches.used():
		r.requests.add(path, check, s.walk, s.since)
	case compares == known:
		r.requests.add(path, get, s.walk, s.since)
	}
}

// rewatch reads a node again whose one-shot watch fired between the request and its reply.
func (r *replica) rewatch(req *request) {
	leftOut := req.verb != list && r.unread.out[req.path] != nil
	if r.watches.hasFired(req.path, req.verb.watches()) && (r.tree.Get(req.path) != nil || leftOut) {
		r.goOn(req, req.verb)
	}
}

// setData takes over data and Stat.
func (r *replica) setData(req *request, stat *zkconn.Stat, data []byte) {
	r.succeeded(req.path, get)
	r.requests.finish(req)
	if req.path != r.root && r.tree.Get(parentOf(req.path)) == nil {
		return // it is found when the parent is listed, if that comes to be known
	}
	accept, descend := r.choose(req.path)
	known := r.tree.Get(req.path)
	if known != nil && compareStats(&known.Value.stat, stat) == pathtree.Recreated {
		r.delete(req.path)
		known = nil
	}
	fresh := known == nil
	grown := !fresh && childrenChanged(&known.Value.stat, stat, r.base)
	if fresh || compareStats(&known.Value.stat, stat) != pathtree.Same {
		r.stream.changedAt(req.path, req.event, stat.Mzxid)
		r.store(req.path, content{*stat, data}, accept)
	} else if r.cfg.dataless {
		r.keepFresh(req.path, data)
	}
	if descend && (r.watches.used() && (fresh || req.walk) || fresh && stat.NumChildren > 0 || req.walk && grown) {
		r.goOn(req, list)
	}
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
	r.held.change()
	r.tree.Put(path, c, accept)
}

// keepFresh keeps data for those who are told of changes.
func (r *replica) keepFresh(path string, data []byte) {
	if !r.out.heard() {
		delete(r.fresh, path)
		return
	}
	if r.fresh == nil {
		r.fresh = map[string][]byte{}
	}
	r.fresh[path] = data
}

// compareStat compares a node with its Stat, and has read what has changed.
func (r *replica) compareStat(req *request, stat *zkconn.Stat) {
	known := r.tree.Get(req.path)
	r.requests.finish(req)
	switch {
	case known == nil && req.path != r.root:
		return // deleted since
	case known == nil, compareStats(&known.Value.stat, stat) != pathtree.Same:
		r.goOn(req, get)
		return
	}
	r.succeeded(req.path, get) // it is what the cache has
	if _, descend := r.choose(req.path); descend && childrenChanged(&known.Value.stat, stat, r.base) {
		r.goOn(req, list)
	}
}

// setChildren takes over the names of the children of a node.
func (r *replica) setChildren(req *request, stat *zkconn.Stat, names []string) {
	r.requests.finish(req)
	known := r.tree.Get(req.path)
	if known == nil {
		r.succeeded(req.path, list)
		return
	}
	if compareStats(&known.Value.stat, stat) == pathtree.Recreated {
		r.goOn(req, get)
		return
	}
	r.succeeded(req.path, list)
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
	r.requests.finish(req)
	r.requests.drop(req.path, list)
	r.delete(req.path)
	if req.path == r.root && r.watches.used() && req.verb == get {
		r.goOn(req, check) // it sets the watch
	}
}

// leaveOut takes over that a node may not be read, or not be understood.
func (r *replica) leaveOut(req *request, err error) {
	r.requests.finish(req)
	if len(r.unread.out) == r.unread.kept {
		r.out.warn("a cache leaves out nodes that it cannot read, and what is below them", "first", req.path, "error", err)
	}
	r.requests.drop(req.path, list)
	r.watches.keepData(req.path, func() { r.delete(req.path) }) // when the data changes, the node is read again
	r.unread.leaveOut(req.path, err, errors.Is(err, framework.ErrNoAuth))
}

// refused takes over that a server has refused a read for the node's sake. It reports whether the node is left
// out, because its reads go on failing: what the cache has of it stays then.
func (r *replica) refused(req *request, err error) (leftOut bool) {
	if req.fails++; req.failed.IsZero() {
		req.failed = time.Now()
	}
	if !r.unread.isKept(req.path) && req.fails < maxFails && time.Since(req.failed) < maxFailing {
		return false
	}
	r.requests.finish(req)
	fail := []verb{req.verb}
	if _, descend := r.choose(req.path); descend && req.walk {
		fail = append(fail, list) // what is read later compares no children
	}
	err = req.failure(req.fails, err)
	if r.unread.keep(req.path, err, fail...) {
		r.out.warn("a cache goes on without a node that it cannot read", "node", req.path, "error", err)
		r.held.change()
	}
	return true
}

// succeeded takes note that a read of a node has succeeded.
func (r *replica) succeeded(path string, v verb) {
	if !r.unread.succeeded(path, v) {
		return
	}
	if r.unread.isKept(path) {
		r.out.info("a cache can read a node again", "node", path)
	}
	r.forget(path)
}

// readUnread reads a node that is left out.
func (r *replica) readUnread(path string, n *unread, walk bool) {
	if n.get {
		r.add(path, get, walk)
	}
	if n.list {
		r.add(path, list, walk)
	}
}

// exact tells whether a version can be exact.
func (r *replica) exact() bool { return !r.watches.used() && r.unread.kept == 0 }

// readFresh has the data read of the changes since shown that were not kept: nobody was told of
// changes when they were read, or the node is shown because of a node below it that was created since. It
// reports whether there are such.
func (r *replica) readFresh(shown *pathtree.Node[content], walk bool) (missing bool) {
	pathtree.Diff(shown, r.tree.Root(), compare, func(c pathtree.Change[content]) bool {
		if c.New == nil || r.cfg.shape == childrenOnly && c.New.Path() == r.root {
			return true
		}
		path := c.New.Path()
		if _, ok := r.fresh[path]; ok {
			return true
		}
		if n := r.unread.out[path]; n == nil || !n.kept || !n.get {
			r.add(path, get, walk)
			missing = true
		}
		return true
	})
	return missing
}

// publish returns the tree as it is. The changes are not held back any more.
func (r *replica) publish(zxid int64, exact, heard bool) version {
	v := version{
		root: r.tree.Publish(), epoch: r.epoch, zxid: zxid, exact: exact, fresh: r.fresh, told: r.stream.take(),
		unread: r.unread.names(), heard: heard,
	}
	r.fresh = nil
	if r.held.release(); !r.requests.idle() {
		r.held.touch()
	}
	return v
}
