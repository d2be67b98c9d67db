// Package ephemeral has the state of an ephemeral node of this client: whether the node can be
// relied on, how it is lost, and its deletion.
//
// A node can outlive its holder. A lock's node has one holder, or several in turn when it is
// handed over between goroutines. A leader latch's node has a new holder for each term. So the
// hook on the session, the watch on the node and its deletion belong to the [Node], and its
// [Holder] can change.
//
// The files:
//
//	node.go    a node and its holder
//	hold.go    how a holder takes the node, and the check of the clock before that
//	loss.go    how a loss is noticed and reported to the holder
//	watch.go   the watch on the node itself
//	delete.go  the deletion
package ephemeral

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// Errors of [Own] and [Node.Hold].
var (
	// ErrInDoubt is returned when the session cannot be relied on now. The node may be held
	// later.
	ErrInDoubt = errors.New("the session is in doubt")
	// ErrGone is returned when the node was deleted, or when its session is over.
	ErrGone = errors.New("the node is gone")
)

// Client is what a node needs of a *zkclient.Client. Tests put something between the two.
type Client interface {
	Conn() (*zkconn.Conn, error)
	OnLoss(node string, fn func(zkclient.Loss)) (remove func())
	Release(cause context.Context, full string, session int64, requests [][]zkconn.MultiOp, nameShared bool) *zkclient.Removal
	Go(fn func(ctx context.Context)) bool
}

// Config describes the nodes of a recipe.
type Config struct {
	Client      Client
	ErrorPolicy state.ErrorPolicy
	// NameShared says that another session may create a node with the same name later. The node
	// is then deleted on its own session, or not at all.
	NameShared bool
	// WatchAfter is the time from the first grant until the node is watched. Most locks are
	// held for less, and need no watch.
	WatchAfter time.Duration
	// Span is the acquisition that the first read of the node belongs to.
	Span *telemetry.Acquisition
	// Unwatched is called once if the server refuses the watch with a permanent error. Nil does
	// nothing.
	Unwatched func(err error)
}

// Holder relies on a node. Its methods are called without locks of the node.
type Holder interface {
	// Lost is called once, when the node can no longer be relied on, before the server can let
	// another contender in.
	Lost(zkclient.Loss)
	// Read is called with the node's data when the node was read. Other clients change the
	// data to ask for the lock.
	Read(data []byte)
}

// Content is what a read has shown of a node. The zero value is that of none.
type Content struct {
	data    []byte
	changed int64 // the transaction that wrote data
}

// ContentOf returns what a read of the data has shown, if it has an answer.
func ContentOf(read *zkconn.Call) Content {
	if stat := read.Stat(); stat != nil {
		return Content{read.Data(), stat.Mzxid}
	}
	return Content{}
}

// phase is how far a node's life has come. It only rises.
type phase int8

const (
	owned    phase = iota // the client's session owns the node, as far as the client knows
	gone                  // the node was deleted by others, or its session is over
	deleting              // the client deletes the node
)

// Node is an ephemeral node that a session of the client owns.
type Node struct {
	cfg    Config
	node   zkclient.Created
	waited bool   // the contender has waited behind others
	unhook func() // removes the hook on the session

	mu        sync.Mutex
	phase     phase
	holder    Holder  // nil while nobody holds the node
	placeGone bool    // see GivePlace
	content   Content // as it was read last
	unread    bool    // the holder has not been told of the data
	by        deleteBy
	watch     nodeWatch
	removal   *zkclient.Removal // set by deletion
	record    Release           // see SetRecord

	telling  sync.Mutex // held while the holder is told of a loss; taken before mu
	deletion sync.Once
}

// deleteBy is a transaction of DeleteBy that may delete the node.
type deleteBy struct {
	running bool
	missing bool // the node was deleted meanwhile
}

// Path returns the server's path of the node.
func (n *Node) Path() string { return n.node.Path }

// Czxid returns the number of the transaction that created the node. It is a fencing token.
func (n *Node) Czxid() int64 { return n.node.Czxid }

// Session returns the session that owns the node.
func (n *Node) Session() int64 { return n.node.Session }

func (n *Node) setHolder(h Holder) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.phase != owned {
		return false
	}
	n.holder, n.unread = h, n.content.changed != 0
	return true
}

func (n *Node) heldBy(h Holder) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.holder == h
}

// Unhold takes the node from h. The node stays, and may be held again.
func (n *Node) Unhold(h Holder) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holder == h {
		n.holder = nil
	}
}

// GivePlace says that another node takes the place of this one in the queue. From then on the
// node's deletion must not be marked as a release. GivePlace returns false if nobody holds the
// node.
func (n *Node) GivePlace() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.placeGone = n.placeGone || n.holder != nil
	return n.holder != nil
}

// MayMark reports whether the deletion of the node may be marked as a release: the node has
// waited, so others may wait behind it, and no other node has taken its place.
func (n *Node) MayMark() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waited && !n.placeGone
}

// Lose reports to the holder that the node cannot be relied on. When Lose returns the holder
// knows, also if another call has reported it.
func (n *Node) Lose(l zkclient.Loss) {
	n.telling.Lock()
	defer n.telling.Unlock()
	n.mu.Lock()
	if l.Kind.Final() {
		n.phase = max(n.phase, gone)
		n.stopWatch()
	}
	holder := n.holder
	n.holder = nil
	n.mu.Unlock()
	if holder != nil {
		holder.Lost(l)
	}
}

// tellData tells the holder of the node's data, once. A later holder is told of it, too.
func (n *Node) tellData() {
	n.mu.Lock()
	holder, data := n.holder, n.content.data
	tell := holder != nil && n.unread
	if tell {
		n.unread = false
	}
	n.mu.Unlock()
	if tell {
		holder.Read(data)
	}
}

// keepData keeps what was read, unless a later read has been kept already. It returns false if
// the node is not to be watched any more.
func (n *Node) keepData(read Content) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if read.changed > n.content.changed {
		n.content, n.unread = read, true
	}
	return n.phase != deleting
}

// stopWatch ends what is about to set the watch. A watch that is set goes with the node.
// n.mu is held.
func (n *Node) stopWatch() {
	if n.watch.timer != nil {
		n.watch.timer.Stop()
	}
	if n.watch.stopRead != nil {
		n.watch.stopRead() // Close waits for the read, and the read may wait for a connection
	}
}

// nodeWatch is the watch on the node itself. It stays with the node when the holder changes.
// The node's mu guards it.
type nodeWatch struct {
	started  bool               // the node is watched, or will be
	timer    *time.Timer        // has the node read; nil if a contender's watch was taken over
	stopRead context.CancelFunc // ends the read that is about to set the watch
	read     bool               // the node was read for the watch before
}
