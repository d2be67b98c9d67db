package ephemeral

import (
	"context"
	"slices"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// Release is what goes with the delete of a node, as far as the server lets it. Paths are the server's, "" for
// none.
type Release struct {
	Marker        string // is created and deleted, so that its watches fire
	HolderRecord  string // is deleted, if it has
	RecordVersion int32  // this version
}

// requests returns the requests that delete a node, the best one first: with the holder record and the
// marker, without the marker, and the node alone.
func (r Release) requests(full string) (requests [][]zkconn.MultiOp) {
	var record []zkconn.MultiOp
	node := zkconn.DeleteOp(full, zkclient.AnyVersion)
	if r.HolderRecord != "" {
		record = append(record, zkconn.DeleteOp(r.HolderRecord, r.RecordVersion))
	}
	if r.Marker != "" {
		requests = append(requests, append(slices.Clone(record),
			zkconn.CreateOpenOp(r.Marker), zkconn.DeleteOp(r.Marker, zkclient.AnyVersion), node))
	}
	if record != nil {
		requests = append(requests, append(record, node))
	}
	return append(requests, []zkconn.MultiOp{node})
}

// Remove deletes a node of a session in the background, until the outcome is known. The first request is queued
// before Remove returns, if there is a connection. With nameShared nothing is deleted when the session is over:
// see [Config]. Remove returns nil when the client is closed. cause is the trace that the delete belongs to.
func (r Release) Remove(cause context.Context, client Client, full string, session int64, nameShared bool) *zkclient.Removal {
	return client.Release(cause, full, session, r.requests(full), nameShared)
}

// Delete deletes the node in the background, until the outcome is known. Calls after the first
// do nothing: a node is deleted by one request at a time (rule H6).
func (n *Node) Delete(ctx context.Context, with Release) {
	n.deletion.Do(func() {
		n.startDelete()
		n.unhook()
		removal := with.Remove(ctx, n.cfg.Client, n.Path(), n.Session(), n.cfg.NameShared)
		n.mu.Lock()
		n.removal = removal
		n.mu.Unlock()
	})
}

// DeleteBy calls transaction, which deletes the node together with other changes, and reports
// whether it has certainly done so. Meanwhile the node's deletion is no loss. If the node was
// deleted, Deletion is confirmed from then on; otherwise the node is as before.
//
// One DeleteBy runs at a time.
func (n *Node) DeleteBy(transaction func() (deleted bool)) {
	n.mu.Lock()
	n.by.running = true
	n.mu.Unlock()
	deleted := false
	defer func() { n.endDeleteBy(deleted) }() // also when a user's retry policy panics
	deleted = transaction()
}

func (n *Node) endDeleteBy(deleted bool) {
	if deleted {
		n.deletion.Do(func() {
			n.startDelete()
			n.unhook()
			n.mu.Lock()
			defer n.mu.Unlock()
			n.removal = &zkclient.Removal{Done: make(chan struct{}), Outcome: zkclient.RemovalConfirmed}
			close(n.removal.Done)
		})
		return
	}
	n.mu.Lock()
	missing := n.by.missing
	n.by = deleteBy{}
	n.mu.Unlock()
	if missing {
		n.loseGone()
	}
}

// loseDeleted is Lose for a node that was found to be deleted.
func (n *Node) loseDeleted() {
	n.mu.Lock()
	ours := n.by.running
	n.by.missing = n.by.missing || ours
	n.mu.Unlock()
	if !ours {
		n.loseGone()
	}
}

func (n *Node) startDelete() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.phase, n.holder = deleting, nil
	n.stopWatch()
}

// Deletion returns the delete that Delete started. It is nil before, and if the client was
// closed before.
func (n *Node) Deletion() *zkclient.Removal {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.removal
}

// SetRecord says what belongs to the node, and is to be deleted with it: the record of a holder. The
// caller of Delete decides whether it is.
func (n *Node) SetRecord(with Release) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.record = with
}

// Record returns what SetRecord has set.
func (n *Node) Record() Release {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.record
}
