package locks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

// errInDoubt: the node is first, but the session cannot be believed in just now.
var errInDoubt = errors.New("the session is in doubt")

// hold is a lock's node while it is the first: what nested leases share. It refers to no
// Lease, so that a Lease which nobody holds any more can be noticed.
type hold struct {
	in      *internals
	node    seam.Created
	granted time.Time
	forget  func() // takes the hook on the session back
	over    atomic.Bool

	mu      sync.Mutex
	leases  map[chan struct{}]context.CancelCauseFunc // by the lease's slot for a nested one
	err     error                                     // why it ended: ErrReleased or a *LossError
	span    *tracing.Acquisition                      // of the outermost lease
	spanCtx context.Context                           // its values, for the span of a loss
	removal *seam.Removal                             // of the node, when the last lease is released
	removed bool
}

// grant makes a hold of the contender's node, which was seen to be the first. It is ours
// only while its session is believed in: first the hook is set, then the clock is looked
// at, so that no loss slips in between.
func (c *contender) grant() (*hold, error) {
	if c.node.Stat.EphemeralOwner != c.node.Session {
		return nil, errStartOver
	}
	h := &hold{
		in: c.in, node: c.node, granted: time.Now(),
		leases: map[chan struct{}]context.CancelCauseFunc{},
	}
	h.forget = c.in.inside.OnLoss(h.onLoss)
	conn, err := c.in.inside.Conn()
	if err != nil {
		h.forget()
		return nil, err
	}
	deadline, alive := conn.Deadline(c.node.Session)
	doubt := !time.Now().Before(deadline) || c.in.client.ErrorPolicy().IsErrorState(conn.State())
	if !alive || doubt || h.lost() != nil {
		h.forget()
		if !alive {
			return nil, errStartOver
		}
		return nil, errInDoubt
	}
	h.in.inside.Go(h.watchNode)
	if c.own != nil {
		c.own.stop()
	}
	return h, nil
}

// watchNode keeps an eye on the own node, which somebody may delete. Nobody waits for
// its answer.
func (h *hold) watchNode(ctx context.Context) {
	conn, err := h.in.inside.Conn()
	for err == nil && !h.over.Load() {
		call := newNodeWatch(conn, h.node.Path).call()
		call.Watch = zkconn.NewWatch(h.node.Path, zkconn.WatchData, h.onNode)
		if err = conn.Do(ctx, h.node.Session, call); err == nil {
			if errors.Is(call.Err, framework.ErrNoNode) {
				h.lose(LossNodeDeleted, nil)
			}
			return
		}
		if errors.Is(err, framework.ErrConnectionLoss) {
			err = conn.Ready(ctx)
		}
	}
}

// onNode takes the event of the own node's watch, which most often is our own delete.
func (h *hold) onNode(e zkconn.WatchEvent) {
	if h.over.Load() {
		return
	}
	switch e.Type {
	case zkconn.NodeDeleted:
		h.in.inside.Go(func(context.Context) { h.lose(LossNodeDeleted, nil) })
	case zkconn.NodeDataChanged, zkconn.WatchReset:
		h.in.inside.Go(h.watchNode)
	}
}

func (h *hold) onLoss(l seam.Loss) {
	switch {
	case l.Kind == seam.LossClosed:
		h.lose(LossClosed, nil)
	case l.Session != h.node.Session:
	case l.Kind == seam.LossSuspended:
		h.lose(LossSuspended, nil)
	case l.Kind == seam.LossDeadline:
		h.lose(LossDeadline, nil)
	case l.Kind == seam.LossSession:
		h.lose(LossSessionExpired, l.Err)
	}
}

// lose ends the hold; when it returns every lease's context has ended.
func (h *hold) lose(reason LossReason, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return
	}
	loss := &LossError{
		Reason: reason, Path: h.in.path, Token: h.node.Stat.Czxid,
		Held: time.Since(h.granted), Err: err,
	}
	h.end(loss)
	span, ctx := h.span, h.spanCtx
	h.in.inside.Go(func(context.Context) { // users' code, not under a lock of ours
		h.in.client.Logger().Warn("lock lost", "path", h.in.path, "reason", reason.String(), "token", loss.Token, "held", loss.Held)
		span.Lost(ctx, loss.Token, loss.Held, reason.String())
	})
}

// end ends the hold and all its leases; h.mu is held.
func (h *hold) end(err error) {
	h.err = err
	h.over.Store(true)
	for _, cancel := range h.leases {
		cancel(err)
	}
}

// lost returns why the hold ended, or nil.
func (h *hold) lost() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// doubt ends the hold if its deadline has passed, whether or not that was noticed.
func (h *hold) doubt() {
	conn, err := h.in.inside.Conn()
	if err != nil {
		return
	}
	if deadline, alive := conn.Deadline(h.node.Session); alive && !time.Now().Before(deadline) {
		h.lose(LossDeadline, nil)
	}
}

// newLease adds a lease to the hold, nested in the slot up if that is not nil. It returns
// nil when the hold is over.
func (h *hold) newLease(ctx context.Context, span *tracing.Acquisition, up chan struct{}) *Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil
	}
	values := context.WithoutCancel(ctx)
	if h.spanCtx == nil {
		h.span, h.spanCtx = span, values
	}
	inner, cancel := context.WithCancelCause(values)
	lease := &Lease{hold: h, span: span, child: make(chan struct{}, 1), up: up, cancel: cancel, released: new(atomic.Bool)}
	h.leases[lease.child] = cancel
	lease.ctx = context.WithValue(inner, h.in.key(), lease)
	runtime.AddCleanup(lease, h.dropped, lease.released)
	return lease
}

// dropped reports a lease that nobody can release any more.
func (h *hold) dropped(released *atomic.Bool) {
	if !released.Load() && !h.over.Load() {
		h.in.client.Logger().Warn("lock lease dropped without release; the lock stays held until the client is closed",
			"path", h.in.path, "token", h.node.Stat.Czxid)
	}
}

// leave takes a lease out of the hold; the node goes with the last. It returns why the
// hold had ended before, and whether this was the last.
func (h *hold) leave(child chan struct{}) (before error, last bool) {
	h.mu.Lock()
	before = h.err
	delete(h.leases, child)
	last = len(h.leases) == 0
	if last && before == nil {
		h.end(ErrReleased)
	}
	h.mu.Unlock()
	if last {
		h.remove()
	}
	return before, last
}

// remove deletes the node, once, in the background.
func (h *hold) remove() {
	h.forget()
	h.mu.Lock()
	first := !h.removed
	h.removed = true
	h.mu.Unlock()
	if first {
		removal := h.in.inside.Remove(h.node.Path, h.node.Session)
		h.mu.Lock()
		h.removal = removal
		h.mu.Unlock()
	}
}

// outcome waits for the delete of the node and tells what it says about the hold, which
// had ended before for the given reason, if any.
func (h *hold) outcome(ctx context.Context, before error) error {
	h.mu.Lock()
	removal := h.removal
	h.mu.Unlock()
	if removal == nil {
		return fmt.Errorf("%w: %w", ErrReleasePending, framework.ErrClosed)
	}
	ctx, cancel := h.in.cleanUp(ctx)
	defer cancel()
	select {
	case <-removal.Done:
	default:
		select {
		case <-removal.Done:
		case <-ctx.Done():
			return ErrReleasePending
		}
	}
	switch {
	case removal.Outcome == seam.RemovalConfirmed:
		return nil
	case removal.Outcome == seam.RemovalGivenUp:
		return fmt.Errorf("%w: %w", ErrReleasePending, removal.Err)
	case before != nil:
		return before
	}
	reason := LossNodeDeleted
	if conn, err := h.in.inside.Conn(); err == nil {
		if id, _ := conn.Session(); id != h.node.Session {
			reason = LossSessionExpired
		}
	}
	return &LossError{Reason: reason, Path: h.in.path, Token: h.node.Stat.Czxid, Held: time.Since(h.granted)}
}
