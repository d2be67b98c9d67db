package locks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// errBusy ends a TryAcquire: a list has shown others ahead.
var errBusy = errors.New("others are ahead")

// errMaxWait is the cause of a wait's end by WithMaxWait.
var errMaxWait = errors.New("WithMaxWait has passed")

// acquisition is one call of Acquire or TryAcquire.
type acquisition struct {
	lock    *queueLock
	wait    bool
	ended   bool               // the span has ended
	ctx     context.Context    // that of the call: it decides about re-entry
	waitCtx context.Context    // bounds the wait: ctx, and WithMaxWait
	cancel  context.CancelFunc // of WithMaxWait, or nil
	span    *telemetry.Acquisition
	site    callSite

	writer *hold        // the writer whose place a reader takes; nil without one
	turn   *localLine   // the acquisition has the turn there; nil without it
	record *delayRecord // with WithLockDelay; else nil

	slow    *time.Timer // logs a slow wait; nil before others were seen
	waitsOn *queueLock  // any hold of this lock may block the wait; nil if only the nodes behind can
	seen    seen
	queued  *queuedCalls // with WithOnQueued, in a wait; else nil
}

// seen is what an acquisition has seen of others. The timer of a slow wait reads it.
type seen struct {
	mu       sync.Mutex
	busy     bool       // others were seen to hold the lock
	ahead    int32      // how many nodes of others were ahead in the last list; 0 without one
	holder   string     // the name of a node that was seen to hold it; "" if none was
	holderOf *queueLock // the queue of that node
	behind   []string   // the paths of nodes that are waited for
}

// begin starts an acquisition and its span. end ends the span, and close frees the acquisition.
func (l *queueLock) begin(ctx context.Context, wait bool) (*acquisition, error) {
	switch {
	case l == nil:
		return nil, errNilArgument
	case ctx == nil:
		return nil, zkclient.ErrNilContext
	}
	a := &acquisition{lock: l, wait: wait, ctx: ctx}
	if wait && l.cfg.onQueued != nil {
		a.queued = &queuedCalls{api: l.api, fn: l.cfg.onQueued}
	}
	caller(&a.site)
	a.waitCtx, a.span = l.api.Telemetry().Acquire(ctx, l.spans, !wait)
	if wait && l.cfg.maxWait > 0 {
		a.waitCtx, a.cancel = context.WithTimeoutCause(a.waitCtx, l.cfg.maxWait, errMaxWait)
	}
	if ctx.Err() != nil {
		defer a.close()
		_, err := a.end(nil, zkclient.ContextError(ctx))
		return nil, err
	}
	return a, nil
}

// end ends the span with the result of the acquisition.
func (a *acquisition) end(lease *Lease, err error) (*Lease, error) {
	a.ended = true
	if err != nil {
		a.span.Failed(failure(a.waitCtx, err))
		return nil, fmt.Errorf("lock %s: %w", a.lock.path, err)
	}
	lease.countHeld(a.ctx)
	a.span.Granted(lease.Token(), lease.nested)
	return lease, nil
}

// close frees the acquisition, also when code of the user panics.
func (a *acquisition) close() {
	if a.cancel != nil {
		a.cancel()
	}
	if a.slow != nil {
		a.slow.Stop()
	}
	if a.queued != nil {
		a.queued.close()
	}
	if !a.ended {
		a.span.Failed(telemetry.Failure{Err: zkclient.ErrPanicked})
	}
}

// sawBusy notes that others hold the lock, as far as they are known: step is a place in the queue of l without First.
func (a *acquisition) sawBusy(l *queueLock, step lockqueue.Step) {
	a.seen.mu.Lock()
	a.seen.busy, a.seen.holder, a.seen.holderOf, a.seen.behind = true, step.Holder, l, step.Behind
	a.seen.ahead = int32(step.Ahead)
	a.seen.mu.Unlock()
	if a.queued != nil {
		a.queued.tell(step.Ahead, step.Of)
	}
	if a.turn != nil {
		a.turn.setBusy()
	}
	a.logSlowWait()
}

// notAcquired is the error of an acquisition that saw the lock held by others. why may be nil.
func (a *acquisition) notAcquired(why error) error {
	a.seen.mu.Lock()
	defer a.seen.mu.Unlock()
	err := &NotAcquiredError{Ahead: int(a.seen.ahead), Err: why}
	if a.seen.holder != "" {
		err.Holder = a.seen.holderOf.path + "/" + a.seen.holder
	}
	return err
}

func (a *acquisition) isBusy() bool {
	a.seen.mu.Lock()
	defer a.seen.mu.Unlock()
	return a.seen.busy
}

// logSlowWait has the wait logged, once, if it lasts.
func (a *acquisition) logSlowWait() {
	if a.wait && a.slow == nil {
		a.slow = a.lock.logSlowWait(a.site, a.blocking)
	}
}

// blocking returns the hold that the acquisition waits for, and where it was acquired. It
// returns nil if that is another client's.
func (a *acquisition) blocking() (*hold, callSite) {
	locks := locksOf(a.lock.api)
	var h *hold
	if a.waitsOn != nil {
		h = locks.leased(a.waitsOn.key())
	} else {
		a.seen.mu.Lock()
		behind := a.seen.behind
		a.seen.mu.Unlock()
		h = locks.holding(behind)
	}
	if h == nil {
		return nil, callSite{}
	}
	return h, h.site
}

// passTurn passes the turn on, if no hold does.
func (a *acquisition) passTurn() {
	if a.turn != nil {
		a.turn.pass(nil, 0)
		a.turn = nil
	}
}

// awaitRemovals waits for the deletion of nodes, so that the next place is not behind them.
func (a *acquisition) awaitRemovals(holds ...*hold) {
	var removals []*zkclient.Removal
	for _, h := range holds {
		removals = append(removals, h.node.Deletion())
	}
	lockqueue.AwaitRemovals(a.waitCtx, a.lock.cfg.releaseTimeout, removals...)
}

// explain turns the reason for the end of a wait into the caller's error. ErrNotAcquired says
// that the lock was seen to be held by others.
func (a *acquisition) explain(err error) error {
	switch {
	case errors.Is(err, errBusy), errors.Is(err, ErrNotAcquired) && a.waitCtx.Err() == nil: // else it may be that of another lock, as ctx's cause
		return a.notAcquired(nil)
	case errors.Is(err, lockqueue.ErrPlaceLost):
		if reason := a.writer.reason(); reason != nil {
			return reason
		}
		return a.writer.missing() // the hold is about to be told
	case errors.Is(err, lockqueue.ErrNothingToWatch), errors.Is(err, framework.ErrInvalidBuilder):
		return fmt.Errorf("%w: WithDriver: %w", framework.ErrInvalidOption, err)
	}
	maxWait := errors.Is(context.Cause(a.waitCtx), errMaxWait) // ctx may have ended since, during the clean-up
	busy := a.isBusy()
	switch {
	case a.waitCtx.Err() == nil, errors.Is(err, ErrKindMismatch):
		return err
	case a.writer != nil && a.ctx.Err() == nil && errors.Is(context.Cause(a.waitCtx), ErrNotHeld):
		return context.Cause(a.waitCtx) // the writer's lease has ended
	case maxWait && busy:
		return a.notAcquired(fmt.Errorf("WithMaxWait(%v) has passed", a.lock.cfg.maxWait))
	case maxWait:
		return fmt.Errorf("%w: no answer within %v: %s", framework.ErrConnectionLoss, a.lock.cfg.maxWait, err.Error())
	case busy:
		return a.notAcquired(zkclient.ContextError(a.ctx))
	}
	return err
}

// failure describes the error of an acquisition whose wait had the context waitCtx.
func failure(waitCtx context.Context, err error) telemetry.Failure {
	return telemetry.Failure{
		Err: err, Busy: errors.Is(err, ErrNotAcquired), Lost: errors.Is(err, ErrNotHeld),
		MaxWait: errors.Is(context.Cause(waitCtx), errMaxWait),
	}
}

// selfWait is the time after which a wait for a lease of the same client is logged. Usually such
// an acquisition waits for its own caller, because the caller passed an older context down.
const selfWait = 10 * time.Second

// logSlowWait logs, after selfWait, that an acquisition at site waits for a lease of its own
// client. blocking returns the hold of that lease, and its call site. It returns nil if another
// client holds the lock.
func (l *queueLock) logSlowWait(site callSite, blocking func() (*hold, callSite)) *time.Timer {
	return time.AfterFunc(selfWait, func() {
		h, held := blocking()
		if h == nil {
			return
		}
		advice := "pass the lease's context down"
		if h.lock.flat {
			advice = "release it first: leases of this lock do not nest"
		}
		l.api.Log(func() {
			l.client.Logger().Warn("lock waits for a lease of this client; if that is its own caller's, "+advice,
				"path", l.path, "waiting", site.String(), "held", held.String(), "token", h.token)
		})
	})
}

// newLease adds a lease to the hold. It is nested in up if that is not nil; the caller has taken
// up's slot. newLease returns nil if the hold has ended or the lease of up was released.
func newLease(ctx context.Context, h *hold, span *telemetry.Acquisition, up *leaseNode) *Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || up != nil && up.released {
		return nil
	}
	values := context.WithoutCancel(ctx)
	if h.traced.ctx == nil {
		h.traced.span, h.traced.ctx, h.granted = span, values, time.Now()
		h.startMaxHold()
	}
	inner, cancel := context.WithCancelCause(values)
	n := newLeaseNode(up, cancel)
	h.leases[n] = struct{}{}
	lease := &Lease{hold: h, node: n, nested: up != nil, span: span, released: new(atomic.Bool)}
	lease.ctx = context.WithValue(h.withDeadline(inner), h.key(), lease)
	lease.cleanup = runtime.AddCleanup(lease, h.dropped, lease.released)
	weakly := weak.Make(lease)
	n.revoke = func() { h.tellRevoked(weakly.Value()) }
	if h.outer == nil {
		h.outer = n
		if h.requested {
			n.revoke()
		}
	}
	return lease
}
