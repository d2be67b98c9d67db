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
		removal := n.cfg.Client.Release(ctx, n.Path(), n.Session(), with)
		n.mu.Lock()
		n.removal = removal
		n.mu.Unlock()
	})
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
