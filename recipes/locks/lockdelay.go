package locks

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/seam"
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
// that of who waits. It costs a read and a write for every Acquire, and the node path+".holder".
//
// Chubby and Consul have it under this name; Java Curator does not.
func WithLockDelay(d time.Duration) MutexOption {
	return durationOption("WithLockDelay", d, func(c *config) { c.lockDelay = d })
}

const traceSuffix = ".holder"

// trace is what a contender knows of the lock's trace.
type trace struct {
	written string // by this acquisition
	waited  string // whose delay is over
}

// keepDelay leaves the trace of a contender that is the first, or waits for the end of the
// delay; then again is true: the queue is to be looked at again.
func (c *contender) keepDelay(ctx context.Context) (again bool, err error) {
	if c.trace == nil {
		c.trace = &trace{}
	}
	if c.trace.written == nameOf(c.node.Path) {
		return false, nil
	}
	path, own := c.in.path+traceSuffix, nameOf(c.node.Path)
	name, err := c.in.client.GetData().Undecompressed().ForPath(ctx, path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return false, err
	}
	if err == nil && string(name) != c.trace.written && string(name) != c.trace.waited {
		c.sawBusy()
		if !c.wait {
			return false, ErrNotAcquired
		}
		over, err := c.delay(ctx)
		if over {
			c.trace.waited = string(name)
		}
		return true, err
	}
	_, err = c.in.client.Create().OrSetData().Uncompressed().WithData([]byte(own)).ForPath(ctx, path)
	if err == nil {
		c.trace.written = own
	}
	return false, err
}

// delay waits for the lock delay, and reports that it is over. It is not if the client was
// closed meanwhile, or the session has ended: then the look at the queue that follows says so.
func (c *contender) delay(ctx context.Context) (over bool, err error) {
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.in.inside.OnLoss(func(l seam.Loss) {
		if l.Kind == seam.LossClosed || l.Kind == seam.LossSession {
			cancel()
		}
	})()
	if _, err := c.in.inside.Conn(); err != nil { // closed before it could be told
		return false, err
	}
	err = wait.For(bounded, c.in.cfg.lockDelay)
	if ctx.Err() != nil {
		return false, ended(ctx)
	}
	return err == nil, nil
}

// tracePath returns the server's path of the hold's trace, which is to go with its node, or "".
func (h *hold) tracePath() string {
	if h.in.cfg.lockDelay == 0 || h.err != ErrReleased {
		return ""
	}
	return h.in.full + traceSuffix
}
