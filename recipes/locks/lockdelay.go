package locks

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/wait"
)

// The lock delay needs a trace of the holder that outlives its session: a persistent node
// beside the lock's path with the name of the holder's node. A release deletes it in the
// transaction in which the holder's node goes; so who comes to be the first, and finds it with
// another name, knows that a holder was lost.

// WithLockDelay keeps the mutex from others for d after its holder was lost: by the end of
// its session, by Close, by the deletion of its node, or because it did not believe in the lock
// any more when it released it. It is for resources that check no token: what the lost holder
// has sent already has d to arrive. Every user of the mutex must have the option; the delay is
// that of who waits, from when this object found that the holder was lost: TryAcquire, which
// does not wait, gets the lock when it finds so again d later. It costs a read and a write for
// every Acquire, and the node path+".holder".
//
// Chubby and Consul have it under this name; Java Curator does not.
func WithLockDelay(d time.Duration) MutexOption {
	return durationOption("WithLockDelay", d, func(c *config) { c.lockDelay = d })
}

const traceSuffix = ".holder"

// absence is since when the last holder that was lost is known to be gone.
type absence struct {
	mu     sync.Mutex
	holder string // what it has left in the trace
	noted  time.Time
}

// since returns when the absence of a holder was noted: now, if that is news.
func (a *absence) since(holder string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holder != holder {
		a.holder, a.noted = holder, time.Now()
	}
	return a.noted
}

// keepDelay leaves the trace of a contender that is the first, or waits for the end of the
// delay; then again is true: the queue is to be looked at again.
func (c *contender) keepDelay(ctx context.Context) (again bool, err error) {
	path, own := c.in.path+traceSuffix, []byte(nameOf(c.node.Path))
	op := c.in.client.TransactionOp()
	write := op.SetData().Uncompressed().ForPath(path, own)
	holder, err := c.in.client.GetData().Undecompressed().ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		write = op.Create().Uncompressed().WithData(own).ForPath(path)
	case err != nil:
		return false, err
	case bytes.Equal(holder, own): // by an earlier try
		return false, nil
	default:
		if over, err := c.sitOut(ctx, string(holder)); !over {
			return err == nil, err
		}
	}
	// Without the node it would be in place of the trace of who has the lock now.
	there := op.Check().ForPath(c.in.inside.ClientPath(c.node.Path))
	_, err = c.in.client.Transaction().ForOperations(ctx, there, write)
	again = errors.Is(err, framework.ErrNoNode) || errors.Is(err, framework.ErrNodeExists) || framework.MaybeApplied(err)
	if again {
		err = nil
	}
	return again, err
}

// sitOut tells whether the delay is over after the loss of a holder, which has left a trace.
// If it is not, and err is nil, the contender has waited for that, unless something else has
// happened.
func (c *contender) sitOut(ctx context.Context, holder string) (over bool, err error) {
	names, err := c.in.list(ctx, c.node.Session)
	if err != nil || !slices.Contains(names, nameOf(c.node.Path)) {
		return false, err // it may be the trace of who has the lock now
	}
	left := c.in.cfg.lockDelay - time.Since(c.in.absence.since(holder))
	if left <= 0 {
		return true, nil
	}
	c.sawBusy()
	if !c.wait {
		return false, ErrNotAcquired
	}
	c.pause(ctx, left)
	if ctx.Err() != nil {
		return false, ended(ctx)
	}
	return false, nil
}

// pause waits for d, or until the contender's session is over or the client is closed.
func (c *contender) pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	forget := c.in.inside.OnLoss(func(l recipeapi.Loss) {
		if l.Kind == recipeapi.LossClosed || l.Kind == recipeapi.LossSession && l.Session == c.node.Session {
			cancel()
		}
	})
	defer forget()
	conn, err := c.in.inside.Conn()
	if err != nil {
		return
	}
	if _, alive := conn.Deadline(c.node.Session); alive {
		_ = wait.For(ctx, d) // whatever has ended it, the queue is to be looked at
	}
}

// trace returns the server's path of the lock's trace, "" without a delay.
func (in *internals) trace() string {
	if in.cfg.lockDelay == 0 {
		return ""
	}
	return in.full + traceSuffix
}

// tracePath returns the path of the hold's trace, which is to go with its node, or "".
func (h *hold) tracePath() string {
	if h.err != ErrReleased {
		return ""
	}
	return h.in.trace()
}
