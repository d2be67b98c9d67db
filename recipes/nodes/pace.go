package nodes

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/wait"
)

// The pauses before a deleted node is created again. They grow, so a program that deletes the
// node again and again does not keep the server busy. After a time without a deletion they are
// short again.
const (
	firstPause = 10 * time.Millisecond
	maxPause   = 10 * time.Second
	calmTime   = 10 * time.Second
)

// takeoverPause is the first pause of a node that others may take over. A program in Java deletes
// the node and then creates its own. If ours is there again by then, it tries once more, and gives
// up without an error.
const takeoverPause = 100 * time.Millisecond

// The pauses after failed tries. A reconnect or an event of the node ends a pause early.
const (
	firstRetryPause = 50 * time.Millisecond
	maxRetryPause   = time.Minute
)

// unreadablePause is the time between checks of a node that the client may not read. Servers of
// ZooKeeper 3.8.4, 3.9.2 and later, and patched older ones, send such a client no events of the
// node.
const unreadablePause = 10 * time.Second

// retryPace returns the pauses after failed tries.
func retryPace() wait.Pace { return wait.Pace{First: firstRetryPause, Most: maxRetryPause} }

// pace is the pause of a keeper before its next task.
type pace struct {
	pause     time.Duration
	fixed     bool // nothing shortens the pause
	deletions wait.Pace
	failures  wait.Pace
}

func newPace(takeover bool) pace {
	p := pace{deletions: wait.Pace{First: firstPause, Most: maxPause, Calm: calmTime}, failures: retryPace()}
	if takeover {
		p.deletions.First = takeoverPause
	}
	return p
}

// afterDeletion has a deleted node created again after a pause.
func (p *pace) afterDeletion() { p.pause, p.fixed = p.deletions.Next(), true }

// afterFailure has a task that has failed tried again after a pause.
func (p *pace) afterFailure() { p.pause = p.failures.Next() }

// sleep waits for the pause or, if there is none, until due, which is zero for never; or for a signal or the
// end of ctx.
func (p *pace) sleep(ctx context.Context, wake wait.Signal, due time.Time) {
	until := p.pause
	if until == 0 && !due.IsZero() {
		until = max(time.Until(due), 1)
	}
	var timer <-chan time.Time
	began := time.Now()
	if until > 0 {
		t := time.NewTimer(until)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-wake:
		if left := p.pause - time.Since(began); p.fixed && left > 0 {
			p.pause = left
			return
		}
	case <-timer:
	case <-ctx.Done():
	}
	p.pause, p.fixed = 0, false
}
