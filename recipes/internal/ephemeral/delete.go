package ephemeral

import (
	"context"

	"github.com/go-curator/curator/internal/recipeapi"
)

// Delete deletes the node in the background, until the outcome is known. Calls after the first
// do nothing: a node is deleted by one request at a time (rule H6).
func (n *Node) Delete(ctx context.Context, with recipeapi.Release) {
	n.deletion.Do(func() {
		n.startDelete()
		n.unhook()
		with.NameShared = n.cfg.NameShared
		removal := n.cfg.Client.Release(ctx, n.Path(), n.Session(), with)
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
	n.inDelete = true
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
			n.removal = &recipeapi.PendingDelete{Done: make(chan struct{}), Outcome: recipeapi.RemovalConfirmed}
			close(n.removal.Done)
		})
		return
	}
	n.mu.Lock()
	missing := n.missing
	n.inDelete, n.missing = false, false
	n.mu.Unlock()
	if missing {
		n.loseGone()
	}
}

// loseDeleted is Lose for a node that was found to be deleted.
func (n *Node) loseDeleted() {
	n.mu.Lock()
	ours := n.inDelete
	n.missing = n.missing || ours
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
func (n *Node) Deletion() *recipeapi.PendingDelete {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.removal
}
