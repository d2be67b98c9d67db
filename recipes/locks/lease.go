package locks

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
)

// Lease is one acquisition of a lock, held from the return of Acquire until Release or loss.
// Its methods may be called from several goroutines. A nil Lease, and the zero value, is one
// that was never held: its contexts have ended, its Token is -1, Release does nothing.
//
// A Lease that becomes unreachable without Release is logged and counted; its lock stays
// held, as it may be meant to, until the client is closed.
//
// Java: Lease, Locker, and what a lock knows of the thread that holds it.
type Lease struct {
	_ noCopy

	hold   *hold
	place  *place
	nested bool
	span   *telemetry.Acquisition
	ctx    context.Context

	parts []*Lease // of a lease that is several; it has no hold of its own

	released *atomic.Bool // apart, to be seen when the lease is gone
	cleanup  runtime.Cleanup

	once   sync.Once
	before error // why the hold had ended when the lease was released
	last   bool  // the node went with this lease
}

// over is the context of a lease that was never held.
var over = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrNotHeld)
	return ctx
}()

// errParentOver: the lease that was to be nested in has ended.
var errParentOver = errors.New("the outer lease has ended")

// Context ends when the lease does: with cause ErrReleased, or a *LossError when it can
// no longer be believed. It has the values of Acquire's context but not its end, and no
// deadline but that of WithMaxHold.
func (l *Lease) Context() context.Context {
	if l.never() {
		return over
	}
	return l.ctx
}

// Bind returns a copy of ctx that also ends when the lease does, with the same cause,
// and with which Acquire re-enters. It is what work under the lease should run with.
// Nothing has to be cancelled: its resources go when ctx or the lease ends.
func (l *Lease) Bind(ctx context.Context) context.Context {
	if l.never() || ctx == nil {
		return over
	}
	for _, part := range l.parts {
		ctx = part.Bind(ctx)
	}
	if l.hold == nil {
		return ctx
	}
	_ = l.Err() // looks at the clock
	bound, cancel := context.WithCancelCause(ctx)
	unbind := l.hold.bind(l.place, cancel)
	context.AfterFunc(bound, unbind) // frees the lease of ctx when ctx ends first
	return context.WithValue(l.hold.limited(bound), l.hold.in.key(), l)
}

// never tells whether the lease is nil or the zero value, which were never held.
func (l *Lease) never() bool { return l == nil || l.hold == nil && len(l.parts) == 0 }

// composed returns a lease of parts, which ends when any of them does.
func composed(ctx context.Context, parts []*Lease) *Lease {
	l := &Lease{parts: parts}
	l.ctx = l.Bind(context.WithoutCancel(ctx))
	return l
}

// Parts returns the leases that make up a lease of an InterProcessMultiLock or of
// AcquireN, in the order of their acquisition; nil for a plain lease. Releasing the whole
// releases every part, the last one first, without waiting for one before the next; a part of
// a semaphore may be released alone.
func (l *Lease) Parts() []*Lease {
	if l == nil {
		return nil
	}
	return slices.Clone(l.parts)
}

// client returns the client that a lease was acquired with.
func (l *Lease) client() *framework.Client {
	for l.hold == nil {
		l = l.parts[0]
	}
	return l.hold.in.client
}

// Err returns nil while the lease is believed, else ErrReleased or a *LossError. Err and
// Context are beliefs, on the safe side; Release is a proof.
func (l *Lease) Err() error {
	if l.never() {
		return ErrNotHeld
	}
	for _, part := range l.parts {
		_ = part.Err() // looks at the clock
	}
	if l.hold != nil && l.ctx.Err() == nil {
		l.hold.doubt()
		if err := l.hold.lost(); err != nil {
			return err // of a hold that is just ending, one context after the other
		}
	}
	return context.Cause(l.ctx)
}

// Token returns the fencing token, the czxid of the lock's node. It rises with every
// grant of an exclusive lock, over all locks of an ensemble, and is the same for
// nested leases. A resource keeps the highest it has seen and refuses lower ones. Show
// it with the first access under the lease, also if that is a read:
//
//	update t set fence = $1 where id = $2 and fence <= $1 returning v
//	update t set v = $3                where id = $2 and fence = $1
//
// (<=, not <: the holder may come back. A check on the write alone loses updates: the
// next holder may have read before a late write arrives.) Tokens of readers and of
// semaphores with more than one lease order the grants but do not exclude. A nil lease,
// and one with Parts, has the token -1, which such a resource refuses.
func (l *Lease) Token() int64 {
	if l.never() || l.hold == nil {
		return -1
	}
	return l.hold.token
}

// Path returns the path of the lock's node, as the lock's client names it; "" for a lease
// with Parts.
//
// Java: getLockPath, Lease.getNodeName.
func (l *Lease) Path() string {
	if l.never() || l.hold == nil {
		return ""
	}
	return l.hold.in.inside.ClientPath(l.hold.node.Path)
}

// Release ends the lease. The node is deleted with the last of the nested leases, by a
// request that is sent whatever happens to ctx and repeated in the background until it
// is confirmed or the session has ended. ctx bounds the wait for the confirmation; if
// it has ended already Release waits for at most WithReleaseTimeout.
//
// It returns nil when the server confirmed that the node was there until now: nobody
// else was let in meanwhile, even if Context ended early out of caution. It returns an
// error matching ErrLockLost when the node was gone, so that others may have held the
// lock while this lease was relied on; ErrReleasePending when the server has not
// answered yet. Calling it again is allowed: it repeats the result, or waits again for
// what was pending. Releasing a nested lease that is not the last returns nil.
//
// Java: release.
func (l *Lease) Release(ctx context.Context) error {
	if l.never() {
		return nil
	}
	return l.letGo(ctx, nil)()
}

// letGo begins the release, and returns what waits for its outcome.
//
// The parts of a lease are let go the last one first, and none waits for the outcome of
// another: the requests of each client travel one behind the other. A contender for the same
// parts waits for the first of them, is told last, and finds the others free. No more than
// that depends on the order, which a connection that breaks in the middle disturbs: every
// part is a lock of its own, with a node of its own, and what its release says comes from
// that alone. Before the first request is sent the context of the whole has ended.
func (l *Lease) letGo(ctx context.Context, in lines) (outcome func() error) {
	var span telemetry.Release
	first := false
	l.once.Do(func() {
		first = true
		ctx, span = l.span.Release(ctx, l.Token())
		if l.hold != nil {
			l.released.Store(true)
			l.cleanup.Stop() // else it keeps the hold in memory until the lease is collected
			l.before, l.last = l.hold.leave(ctx, l.place, in.of(l.hold))
		}
	})
	var wait func() error
	if l.hold == nil {
		wait = l.letPartsGo(ctx, in)
	} else {
		bounded, cancel := l.hold.in.cleanUp(ctx) // now: the waits for all parts end together
		wait = func() error {
			defer cancel()
			return l.outcome(bounded)
		}
	}
	return func() error {
		err := wait()
		if first {
			l.told(ctx, span, err)
		}
		return err
	}
}

// letPartsGo is letGo for the parts.
func (l *Lease) letPartsGo(ctx context.Context, in lines) (outcome func() error) {
	if in == nil {
		in = lines{}
	}
	var outcomes []func() error
	for _, part := range slices.Backward(l.parts) {
		outcomes = append(outcomes, part.letGo(ctx, in))
	}
	return func() error {
		var errs []error
		for _, outcome := range outcomes {
			errs = append(errs, outcome())
		}
		return errors.Join(errs...)
	}
}

// lines are where the releases of a lease's parts stand, by client. Nil is for no more than one
// lease.
type lines map[any]*recipeapi.Line

// of returns the line of a hold's client.
func (in lines) of(h *hold) *recipeapi.Line {
	if in == nil {
		return nil
	}
	client := h.in.inside.Identity()
	if in[client] == nil {
		in[client] = &recipeapi.Line{}
	}
	return in[client]
}

// outcome waits for what becomes of a lease that was let go.
func (l *Lease) outcome(ctx context.Context) error {
	var loss *LossError
	lost := errors.As(l.before, &loss)
	switch {
	case lost && (!l.last || !loss.Reason.cautious()):
		return l.before
	case !l.last:
		return nil // another lease keeps the node
	case lost:
		return l.hold.outcome(ctx, l.before)
	}
	return l.hold.outcome(ctx, nil)
}
