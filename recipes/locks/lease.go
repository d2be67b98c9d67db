package locks

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
)

// Lease is one acquisition of a lock, held from the return of Acquire until Release or loss.
// Its methods may be called from several goroutines. A nil Lease, and the zero value, was
// never held: its contexts have ended, its Token is -1, Release does nothing.
//
// A Lease that becomes unreachable without Release is logged and counted. Its lock stays
// held until the client is closed, because that may be intended.
//
// Java: Lease, Locker, and the thread that holds a lock.
type Lease struct {
	_ noCopy

	hold   *hold
	node   *leaseNode // its place among nested leases
	nested bool
	span   *telemetry.Acquisition
	ctx    context.Context

	parts []*Lease // of a lease that is several; it has no hold of its own

	released *atomic.Bool // outlives the lease: see dropped
	cleanup  runtime.Cleanup

	once   sync.Once
	before error // why the hold had ended when the lease was released
	last   bool  // this was the last lease of the hold
}

// neverHeld is the context of a lease that was never held.
var neverHeld = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrNotHeld)
	return ctx
}()

// Context returns a context that ends with the lease. Its cause is ErrReleased, or a *LossError
// when the lease was lost. It has the values of Acquire's context, but does not end with it. It
// has a deadline only with WithMaxHold.
func (l *Lease) Context() context.Context {
	if l.never() {
		return neverHeld
	}
	return l.ctx
}

// Bind returns a copy of ctx that also ends when the lease does, with the same cause.
// Acquire with it re-enters. Work under the lease should run with it. Nothing has to be
// cancelled: its resources are freed when ctx or the lease ends.
func (l *Lease) Bind(ctx context.Context) context.Context {
	if l.never() || ctx == nil {
		return neverHeld
	}
	for _, part := range l.parts {
		ctx = part.Bind(ctx) //nolint:fatcontext // it ends with the first of them
	}
	if l.hold == nil {
		return ctx
	}
	_ = l.Err() // looks at the clock
	bound, cancel := context.WithCancelCause(ctx)
	unbind := l.hold.bind(l.node, cancel)
	context.AfterFunc(bound, unbind) // frees the lease of ctx when ctx ends first
	return context.WithValue(l.hold.withDeadline(bound), l.hold.key(), l)
}

// never reports whether the lease is nil or the zero value. Neither was ever held.
func (l *Lease) never() bool { return l == nil || l.hold == nil && len(l.parts) == 0 }

// composed returns a lease of parts, which ends when any of them does.
func composed(ctx context.Context, parts []*Lease) *Lease {
	l := &Lease{parts: parts}
	l.ctx = l.Bind(context.WithoutCancel(ctx))
	return l
}

// Parts returns the leases that make up a lease of an InterProcessMultiLock or of
// AcquireN, in the order of their acquisition. It returns nil for a plain lease. The release
// of the whole releases every part, the last one first, all in one round trip. A part of a
// semaphore may be released alone.
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
	return l.hold.lock.client
}

// Err returns nil while the client believes in the lease, otherwise ErrReleased or a
// *LossError. It checks the clock and sends no request. Err and Context may report a loss too
// early. Verify and Release ask the server.
func (l *Lease) Err() error {
	if l.never() {
		return ErrNotHeld
	}
	var ended error // of a hold that is just ending, one context after the other
	for _, part := range l.parts {
		if err := part.Err(); ended == nil {
			ended = err
		}
	}
	if l.hold != nil && l.ctx.Err() == nil {
		ended = l.hold.check()
	}
	if cause := context.Cause(l.ctx); cause != nil {
		return cause
	}
	return ended
}

// Token returns the fencing token, the czxid of the lock's node. It rises with every
// grant of an exclusive lock, over all locks of an ensemble. It is the same for nested
// leases, and for leases that WithLocalHandover has handed over. A resource keeps the highest
// token it has seen and refuses lower ones. Send it with the first access under the lease, also
// if that is a read:
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

// Path returns the path of the lock's node, as the lock's client names it. It returns "" for a
// lease with Parts.
//
// Java: getLockPath, Lease.getNodeName.
func (l *Lease) Path() string {
	if l.never() || l.hold == nil {
		return ""
	}
	return l.hold.lock.api.ClientPath(l.hold.node.Path())
}

// lostByFault reports whether the lease was lost by a fault. WithMaxHold and a revocation are no
// faults: somebody wanted them.
func (l *Lease) lostByFault() bool {
	var loss *LossError
	return errors.As(l.Err(), &loss) && loss.Reason != LossMaxHold && loss.Reason != LossRevoked
}

// holds returns the hold of a lease, or those of its parts.
func (l *Lease) holds() []*hold {
	if l.hold != nil {
		return []*hold{l.hold}
	}
	var holds []*hold
	for _, part := range l.parts {
		holds = append(holds, part.holds()...)
	}
	return holds
}

// carried returns the live lease of this lock that ctx carries, or nil.
func (l *queueLock) carried(ctx context.Context) *Lease {
	lease, _ := ctx.Value(l.key()).(*Lease)
	if lease.Err() != nil {
		return nil
	}
	return lease
}

// ownedBy reports whether ctx carries a live lease of this lock.
func (l *queueLock) ownedBy(ctx context.Context) bool {
	return l != nil && ctx != nil && l.carried(ctx) != nil
}

// countHeld counts the beginning of the lease's holds, unless it is nested.
func (l *Lease) countHeld(ctx context.Context) {
	if l.nested {
		return
	}
	for _, part := range l.parts {
		part.countHeld(ctx)
	}
	if h := l.hold; h != nil {
		h.traced.metric.open(func() bool { return h.lock.api.Telemetry().Opened(ctx, h.lock.spans) })
	}
}

// limited is a context with the deadline of WithMaxHold.
type limited struct {
	context.Context
	deadline time.Time
}

// Deadline returns the lease's deadline or that of the context, whichever is earlier.
func (l limited) Deadline() (time.Time, bool) {
	if d, ok := l.Context.Deadline(); ok && d.Before(l.deadline) {
		return d, true
	}
	return l.deadline, true
}

// withDeadline returns ctx with the deadline of WithMaxHold, if there is one.
func (h *hold) withDeadline(ctx context.Context) context.Context {
	if h.lock.cfg.maxHold == 0 {
		return ctx
	}
	return limited{ctx, h.granted.Add(h.lock.cfg.maxHold)}
}
