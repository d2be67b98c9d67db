package cache

import (
	"slices"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// event takes over what a watch tells.
func (r *replica) event(e zkconn.WatchEvent) {
	path := r.paths.client(e.Path)
	if r.oneShot {
		r.fired(path, e.Type)
	}
	r.events++
	switch e.Type {
	case zkconn.NodeCreated, zkconn.NodeDataChanged:
		r.want(path, get)
	case zkconn.NodeChildrenChanged:
		if r.oneShot {
			r.want(path, list)
		}
	case zkconn.NodeDeleted:
		r.deleted(path, e.Zxid)
	case zkconn.WatchReset:
		if r.oneShot && r.connected { // somebody has taken the watch away
			r.want(path, get)
			r.want(path, list)
		}
	}
}

// fired takes note that the server has no one-shot watch on a node any more.
func (r *replica) fired(path string, e zkconn.EventType) {
	if e != zkconn.NodeChildrenChanged {
		delete(r.watches, watchKey{path, zkconn.WatchData})
	}
	if e != zkconn.NodeDataChanged && e != zkconn.NodeCreated {
		delete(r.watches, watchKey{path, zkconn.WatchChildren})
	}
}

// want has a node read. One whose parent is not known is found when the parent is listed.
func (r *replica) want(path string, v verb) {
	if path != r.paths.root {
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
	if !r.wants(path) {
		return
	}
	if r.postponed(path, v) {
		return
	}
	r.touched()
	r.requests.add(path, v, false, r.last).event = r.events
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
	if r.oneShot && path == r.paths.root {
		r.requests.add(path, get, false, r.last) // which looks, and waits for it
	}
}

// suspended takes over that the connection has ended.
func (r *replica) suspended() {
	r.connected = false
	if r.cutSince.IsZero() {
		r.cutSince = time.Now()
	}
	r.updateStale()
}

// restart begins to compare the tree with the server's: persistent watches have missed what has
// happened since the former connection ended, and one-shot watches are gone.
func (r *replica) restart(epoch int64) {
	r.connected, r.probes, r.unasked = true, 0, 0
	switch {
	case epoch != r.epoch:
		r.dataLost(epoch)
	case r.requests.walking == 0: // else the tree is compared with what it was before that
		r.base = r.last
	}
	clear(r.watches)
	r.requests.restart()
	for path, u := range r.out {
		r.readOut(path, u, true)
	}
	if nodes := slices.Collect(r.tree.Root().Every()); len(nodes) > 0 {
		r.requests.addSource(&source{nodes: nodes, walk: true, since: r.last})
		return
	}
	r.requests.add(r.paths.root, get, true, r.last)
}

// unknown is a base with which the children of every node are listed, also of one that never had any.
const unknown = -1

// dataLost takes over that the servers have lost data that was seen. Their zxids begin anew, and can be
// compared with none from before. What was shown stays until all nodes are compared.
func (r *replica) dataLost(epoch int64) {
	r.epoch, r.base, r.last, r.shown.zxid = epoch, unknown, 0, 0
	r.stream.take() // the deletions before
}

// replied takes note of the zxid of a reply.
func (r *replica) replied(zxid int64) {
	r.last = max(r.last, zxid)
	r.replies++
}
