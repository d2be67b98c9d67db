package ephemeral

import (
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// A loss is noticed in four ways: the session layer calls onLoss (suspended, deadline, session
// over, closed), the holder asks for the clock by Check, the watch on the node fires (watch.go),
// or a request of the recipe finds that the node is missing and calls Lose.
//
// The holder is told of the first loss only, and before anybody else can be let in (rule 11 of
// the lock model). That needs good clocks and a running process. Without them there is the
// token, [Node.Czxid].

// onLoss is the hook on the session.
func (n *Node) onLoss(l zkclient.Loss) {
	if l.Kind == zkclient.LossClosed || l.Session == n.Session() {
		n.Lose(l)
	}
}

// Check checks the clock, the session, and whether the watch has told that the node is gone. If another
// goroutine is just telling the holder of a loss, Check waits for that. An event comes ahead of the
// replies that show the same, so behind such a reply the hold is over.
func (n *Node) Check() {
	conn, err := n.cfg.Client.Conn()
	if err != nil {
		return
	}
	switch deadline, alive := conn.Deadline(n.Session()); {
	case !alive:
		n.Lose(zkclient.Loss{Kind: zkclient.LossSession, Session: n.Session(), Err: zkconn.ErrSessionExpired})
	case !time.Now().Before(deadline):
		n.Lose(zkclient.Loss{Kind: zkclient.LossDeadline, Session: n.Session()})
	case n.isGone():
		n.loseGone()
	}
}

// loseGone tells the holder that somebody else has deleted the node.
func (n *Node) loseGone() {
	n.Lose(zkclient.Loss{Kind: zkclient.LossDeleted, Session: n.Session()})
}

// isGone reports whether the node is known to be gone. Its holder may not have been told yet.
func (n *Node) isGone() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.phase == gone
}

// Expired reports whether the session that owns the node is over.
func (n *Node) Expired() bool {
	conn, err := n.cfg.Client.Conn()
	if err != nil {
		return false // the next request returns the error
	}
	_, alive := conn.Deadline(n.Session())
	return !alive
}
