package lockqueue

import "github.com/go-curator/curator/internal/zkconn"

// A contender that has one node ahead is next: when that node is gone it is first, and need not
// list the queue again (rule 6). So it does not watch the marker, and does not list in the write
// that sets its watches. This saves two clients that compete for one lock a quarter of their
// requests.
//
// Why the end of the node ahead proves that the contender is first:
//   - The list was made after the contender's node. So it showed all nodes with lower numbers,
//     and no node gets a lower number later. Decision.Next excludes what else could take the
//     place of the node ahead: the reader that a writer was downgraded to.
//   - The contender's own node exists: its watch was set before, or in the same request, and has
//     not fired.
//   - The node ahead is not of the contender's own session. When a session ends all of its nodes
//     go, and the event of the node ahead could come before that of the own node.
//
// How the node ahead ended does not matter: by a release, by its session, or by an operator. If
// an operator's transaction deletes both nodes, the contender may be let in for the moment until
// the event of its own node arrives.

// nextIsIn reports whether the contender is next and the node ahead of it is gone.
func (c *Contender) nextIsIn() bool {
	if !c.next {
		return false
	}
	for w := range c.watches.Backward() {
		if w.Tag == nodeAhead && w.Fired() == zkconn.NodeDeleted {
			return true
		}
	}
	return false
}
