package tree

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// txn is a transaction under way: what it has changed, so that it can be undone, and what
// watches are to hear of once it cannot.
type txn struct {
	state      *State
	session    int64 // whose it is
	identities []jute.ID
	zxid       int64
	now        int64 // milliseconds since 1970

	undo    []func()
	changes []change
	unread  bool // the request is a multi with an ACL that is null: it could not be read, and takes no zxid
}

// change is something that watches hear of.
type change struct {
	event     int32
	path      string
	acl       []jute.ACL
	parentACL []jute.ACL
}

// begin starts a transaction at a time. It takes its zxid even if it fails.
func (st *State) begin(now time.Time, session int64, identities []jute.ID) *txn {
	st.zxid++
	return &txn{
		state:      st,
		session:    session,
		identities: identities,
		zxid:       st.zxid,
		now:        now.UnixMilli(),
	}
}

// rollback undoes what the transaction has changed.
func (tx *txn) rollback() {
	for _, undo := range slices.Backward(tx.undo) {
		undo()
	}
}

// noZxid is that of an event which does not say where it comes from.
const noZxid int64 = -1

// commit fires the watches for what has changed, in order: for a node that was created or deleted
// first those on the node, then those on its parent.
func (tx *txn) commit() {
	data, children, zxid := &tx.state.data, &tx.state.children, noZxid
	if tx.state.release.eventsHaveZxid() {
		zxid = tx.zxid
	}
	for _, ch := range tx.changes {
		told := data.fire(ch.event, ch.path, zxid, ch.acl, nil)
		if ch.event == jute.EventNodeDataChanged {
			continue
		}
		if ch.event == jute.EventNodeDeleted {
			children.fire(ch.event, ch.path, zxid, ch.acl, told)
		}
		parent, _ := parentOf(ch.path)
		if parent == "" {
			parent = rootPath
		}
		children.fire(jute.EventNodeChildrenChanged, parent, zxid, ch.parentACL, nil)
	}
}

// attach puts a new node into the tree. It returns its Stat as it is before a quota writes to
// it.
func (tx *txn) attach(path string, parent, n *node) jute.Stat {
	creates, pzxid := parent.creates, parent.pzxid
	tx.undo = append(tx.undo, func() {
		tx.state.nodes.remove(path, parent)
		tx.state.disown(n, path)
		parent.creates, parent.pzxid = creates, pzxid
	})
	// At the end of the numbers ZooKeeper keeps the last one, and repeats it.
	if next := parent.creates + 1; next > parent.creates {
		parent.creates, parent.pzxid = next, tx.zxid
	}
	tx.state.nodes.add(path, parent, n)
	tx.state.own(n, path)
	tx.changes = append(tx.changes, change{jute.EventNodeCreated, path, n.acl, parent.acl})
	stat := n.stat()
	tx.onUndo(tx.state.quotas.created(tx.state.nodes, path, n))
	return stat
}

// onUndo appends what a rollback calls, unless it is nil.
func (tx *txn) onUndo(undo func()) {
	if undo != nil {
		tx.undo = append(tx.undo, undo)
	}
}

// detach takes a node out of the tree.
func (tx *txn) detach(path string, parent, n *node) {
	pzxid := parent.pzxid
	tx.undo = append(tx.undo, func() {
		tx.state.nodes.add(path, parent, n)
		tx.state.own(n, path)
		parent.pzxid = pzxid
	})
	parent.pzxid = tx.zxid
	tx.state.nodes.remove(path, parent)
	tx.state.disown(n, path)
	tx.changes = append(tx.changes, change{jute.EventNodeDeleted, path, n.acl, parent.acl})
	tx.onUndo(tx.state.quotas.deleted(tx.state.nodes, path, n))
}

// remove takes a node out of the tree that has a parent, as all have but the root.
func (tx *txn) remove(path string) {
	parent, _ := parentOf(path)
	tx.detach(path, tx.state.nodes.get(parent), tx.state.nodes.get(path))
}

// own puts an ephemeral node into the list of its session.
func (st *State) own(n *node, path string) {
	if owner := st.sessions[n.owner]; owner != nil && n.kind == ephemeral {
		owner.ephemerals[path] = struct{}{}
	}
}

// disown takes an ephemeral node from the list of its session.
func (st *State) disown(n *node, path string) {
	if owner := st.sessions[n.owner]; owner != nil && n.kind == ephemeral {
		delete(owner.ephemerals, path)
	}
}

// write replaces a node's data. It returns its Stat as it is before a quota writes to it.
func (tx *txn) write(path string, n *node, data []byte, version int32) jute.Stat {
	before := *n
	tx.undo = append(tx.undo, func() {
		n.data, n.version, n.mtime, n.mzxid = before.data, before.version, before.mtime, before.mzxid
	})
	n.data, n.version, n.mtime, n.mzxid = data, version, tx.now, tx.zxid
	tx.changes = append(tx.changes, change{event: jute.EventNodeDataChanged, path: path, acl: n.acl})
	stat := n.stat()
	tx.onUndo(tx.state.quotas.written(tx.state.nodes, path, before.data, data))
	return stat
}

// permits tells whether the transaction's client is granted perm by acl.
func (tx *txn) permits(acl []jute.ACL, perm int32) bool {
	return permits(acl, perm, tx.identities)
}

// EndSession removes a session and its ephemeral nodes, oldest first, in one transaction.
func (st *State) EndSession(now time.Time, sess *Session) {
	tx := st.begin(now, sess.id, nil)
	paths := slices.SortedFunc(maps.Keys(sess.ephemerals), func(a, b string) int {
		return cmp.Or(cmp.Compare(st.nodes.get(a).czxid, st.nodes.get(b).czxid), cmp.Compare(a, b))
	})
	for _, path := range paths {
		tx.remove(path)
	}
	delete(st.sessions, sess.id)
	tx.commit()
}

// Reap removes the containers whose last child has gone, and the timed nodes without
// children that have not been written for their time to live: each in a transaction of
// its own. A container that never had a child stays, unless Config.MaxNeverUsed says when it goes.
func (st *State) Reap(now time.Time) {
	var ended []string
	for path, n := range st.nodes {
		if len(n.children) > 0 {
			continue
		}
		idle := now.Sub(time.UnixMilli(n.mtime))
		goes := n.creates > 0 || st.neverUsed > 0 && idle > st.neverUsed
		if n.kind == container && goes || n.kind == timed && idle > n.ttl {
			ended = append(ended, path)
		}
	}
	slices.Sort(ended)
	for _, path := range ended {
		tx := st.begin(now, 0, nil)
		tx.remove(path)
		tx.commit()
	}
}
