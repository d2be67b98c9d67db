package zkserver

import "github.com/go-curator/curator/internal/jute"

// store is the state that requests act on. The Server's lock guards it.
type store struct {
	config Config
	clock  *clock

	tree     tree
	zxid     int64 // of the last transaction
	sessions map[int64]*session
	nextID   int64 // of the next session
	data     watchTable
	children watchTable
}

// newStore returns a store as a server has it that starts for the first time.
func newStore(config Config, clock *clock) *store {
	return &store{
		config:   config,
		clock:    clock,
		tree:     newTree(),
		zxid:     config.FirstZxid,
		sessions: map[int64]*session{},
		nextID:   firstSessionID(clock.now()),
		data:     newWatchTable(),
		children: newWatchTable(),
	}
}

// watches returns how many watches clients have set. A persistent one is in both tables.
func (st *store) watches() int {
	return st.data.count(func(watchMode) bool { return true }) +
		st.children.count(func(mode watchMode) bool { return mode == oneShot })
}

// forget takes away the watches of a connection.
func (st *store) forget(c *conn) {
	st.data.removeConn(c)
	st.children.removeConn(c)
}

// txn is a transaction under way: what it has changed, so that it can be undone, and what
// watches are to hear of once it cannot.
type txn struct {
	store      *store
	session    int64 // whose it is
	identities []jute.ID
	zxid       int64
	now        int64 // milliseconds since 1970

	undo    []func()
	changes []change
}

// change is something that watches hear of.
type change struct {
	event     int32
	path      string
	acl       []jute.ACL
	parentACL []jute.ACL
}

// begin starts a transaction. It takes its zxid even if it fails.
func (st *store) begin(session int64, identities []jute.ID) *txn {
	st.zxid++
	return &txn{
		store:      st,
		session:    session,
		identities: identities,
		zxid:       st.zxid,
		now:        st.clock.now().UnixMilli(),
	}
}

// rollback undoes what the transaction has changed.
func (tx *txn) rollback() {
	for i := len(tx.undo) - 1; i >= 0; i-- {
		tx.undo[i]()
	}
}

// commit tells the watches what has changed, in order: of a node that came or went first
// those on the node, then those on its parent.
func (tx *txn) commit() {
	data, children := &tx.store.data, &tx.store.children
	for _, ch := range tx.changes {
		told := data.fire(ch.event, ch.path, ch.acl, nil)
		if ch.event == jute.EventNodeDataChanged {
			continue
		}
		if ch.event == jute.EventNodeDeleted {
			children.fire(ch.event, ch.path, ch.acl, told)
		}
		parent, _ := parentOf(ch.path)
		if parent == "" {
			parent = rootPath
		}
		children.fire(jute.EventNodeChildrenChanged, parent, ch.parentACL, nil)
	}
}

// attach puts a new node into the tree.
func (tx *txn) attach(path string, parent, n *node) {
	creates, pzxid := parent.creates, parent.pzxid
	tx.undo = append(tx.undo, func() {
		tx.store.tree.remove(path, parent)
		tx.store.disown(n, path)
		parent.creates, parent.pzxid = creates, pzxid
	})
	// At the end of the numbers ZooKeeper keeps the last one, and repeats it.
	if next := parent.creates + 1; next > parent.creates {
		parent.creates, parent.pzxid = next, tx.zxid
	}
	tx.store.tree.add(path, parent, n)
	if n.kind == ephemeral {
		if owner := tx.store.sessions[n.owner]; owner != nil {
			owner.ephemerals[path] = struct{}{}
		}
	}
	tx.changes = append(tx.changes, change{jute.EventNodeCreated, path, n.acl, parent.acl})
}

// detach takes a node out of the tree.
func (tx *txn) detach(path string, parent, n *node) {
	pzxid := parent.pzxid
	tx.undo = append(tx.undo, func() {
		tx.store.tree.add(path, parent, n)
		if owner := tx.store.sessions[n.owner]; owner != nil && n.kind == ephemeral {
			owner.ephemerals[path] = struct{}{}
		}
		parent.pzxid = pzxid
	})
	parent.pzxid = tx.zxid
	tx.store.tree.remove(path, parent)
	tx.store.disown(n, path)
	tx.changes = append(tx.changes, change{jute.EventNodeDeleted, path, n.acl, parent.acl})
}

// disown takes an ephemeral node from the list of its session.
func (st *store) disown(n *node, path string) {
	if owner := st.sessions[n.owner]; owner != nil && n.kind == ephemeral {
		delete(owner.ephemerals, path)
	}
}

// write replaces a node's data.
func (tx *txn) write(path string, n *node, data []byte, version int32) {
	before := *n
	tx.undo = append(tx.undo, func() {
		n.data, n.version, n.mtime, n.mzxid = before.data, before.version, before.mtime, before.mzxid
	})
	n.data, n.version, n.mtime, n.mzxid = data, version, tx.now, tx.zxid
	tx.changes = append(tx.changes, change{event: jute.EventNodeDataChanged, path: path, acl: n.acl})
}

// permits tells whether the transaction's client is granted perm by acl.
func (tx *txn) permits(acl []jute.ACL, perm int32) bool {
	return permits(acl, perm, tx.identities)
}
