package ephemeral

import (
	"time"

	"github.com/go-curator/curator/internal/zkclient"
)

// Own returns the Node for a node that the client has just created, or has found again. waited says that
// its contender has waited behind others.
func Own(cfg Config, node zkclient.Created, waited bool) (*Node, error) {
	if node.Owner != node.Session {
		return nil, ErrGone
	}
	n := &Node{cfg: cfg, node: node, waited: waited}
	n.unhook = cfg.Client.OnLoss(node.Path, n.onLoss)
	return n, nil
}

// Hold makes h the holder of the node until Unhold, Delete or a loss. Errors: ErrInDoubt,
// ErrGone, framework.ErrClosed.
//
// Hold sets the holder first and checks the clock afterwards, so no loss is missed between the
// two (rule 11 of the lock model).
func (n *Node) Hold(h Holder) (err error) {
	if !n.setHolder(h) {
		return ErrGone
	}
	held := false
	defer func() {
		if !held {
			n.Unhold(h)
		}
	}()
	conn, err := n.cfg.Client.Conn()
	if err != nil {
		return err
	}
	deadline, alive := conn.Deadline(n.Session())
	s := conn.State()
	switch {
	case !alive:
		return ErrGone
	case !time.Now().Before(deadline), !s.IsConnected() && n.cfg.ErrorPolicy.IsErrorState(s), !n.heldBy(h):
		return ErrInDoubt
	}
	held = true
	n.tellData()
	return nil
}
