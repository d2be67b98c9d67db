package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/tracing"
)

// Release ends the lease. The node is deleted with the last of the nested leases. The
// delete is sent even if ctx has ended, and is repeated in the background until it is
// confirmed or the session has ended. ctx bounds the wait for the confirmation. If ctx
// has ended already, Release waits for at most WithReleaseTimeout. It also stops waiting when the client has
// had no connection for 5 s.
//
// After the client's Close, Release returns ErrLockLost for a lease that Close has ended, because others may
// have been let in since. ErrReleasePending then says that the client could not close its session, so that
// the node may be there until the session times out.
//
// Release returns nil when the server confirmed that the node existed until now. Nobody else
// was let in meanwhile, even if Context ended before. It returns an error that matches
// ErrLockLost when the node was gone: others may have held the lock while this lease was relied
// on. It returns ErrReleasePending when the server has not answered yet. A second call repeats
// the result, or waits again if it was pending. The release of a nested lease that is not the
// last returns nil.
//
// When the reply to the delete is lost, the answer may be wrong in two cases. If the session
// is over as well, Release returns ErrLockLost although the delete may have been applied. If
// an operator has deleted the node of a living session and the client has not heard of it,
// Release returns nil. See docs/guarantees.md.
//
// Java: release.
func (l *Lease) Release(ctx context.Context) error {
	if l.never() {
		return nil
	}
	return l.startRelease(ctx, false)()
}

// giveBack is Release for clean-up: it waits at most WithReleaseTimeout, even if ctx never ends.
func (l *Lease) giveBack(ctx context.Context) error {
	if l.never() {
		return nil
	}
	return l.startRelease(ctx, true)()
}

// startRelease ends the lease and sends the delete. It returns a function that waits for the
// outcome, at most WithReleaseTimeout if bounded. No delete waits for the answer to another, so
// several parts are released in one round trip.
func (l *Lease) startRelease(ctx context.Context, bounded bool) (outcome func() error) {
	var span telemetry.Release
	first := false
	l.once.Do(func() {
		first = true
		ctx, span = l.span.Release(ctx, l.Token()) //nolint:fatcontext // once
		if l.hold != nil {
			l.released.Store(true)
			l.cleanup.Stop() // without this it keeps the hold in memory until the lease is collected
			l.last, l.before = l.hold.leave(ctx, l.node)
		}
	})
	wait := l.startParts(ctx, bounded)
	return func() error {
		err := wait()
		if first {
			l.endReleaseSpan(ctx, span, err)
		}
		return err
	}
}

// startParts is startRelease for the parts, or for the lease's own hold.
func (l *Lease) startParts(ctx context.Context, bounded bool) (outcome func() error) {
	if l.hold != nil {
		ctx, cancel := l.hold.lock.cleanUp(ctx, bounded) // starts now, so that the waits for all parts end together
		return func() error {
			defer cancel()
			return l.outcome(ctx)
		}
	}
	var outcomes []func() error
	for _, part := range slices.Backward(l.parts) {
		outcomes = append(outcomes, part.startRelease(ctx, bounded))
	}
	return func() error {
		var errs []error
		for _, outcome := range outcomes {
			errs = append(errs, outcome())
		}
		return errors.Join(errs...)
	}
}

// outcome waits for the outcome of the release.
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

// cleanUp returns the context that bounds a release: ctx, as long as the client has a connection, or
// WithReleaseTimeout when ctx has ended, and when the release is to be bounded in any case.
func (l *queueLock) cleanUp(ctx context.Context, bounded bool) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = neverHeld // Release with a nil context still releases
	}
	if !bounded && ctx.Err() == nil {
		return lifecycle.Reachable(ctx, l.api)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), l.cfg.releaseTimeout)
}

// endReleaseSpan ends the span of a release with its outcome, and counts the end of the hold.
func (l *Lease) endReleaseSpan(ctx context.Context, span telemetry.Release, err error) {
	if ctx == nil {
		ctx = neverHeld
	}
	var loss *LossError
	if l.last && l.before == nil {
		errors.As(err, &loss) // a loss that the delete has found
		l.hold.countReleased(ctx, loss)
	}
	outcome := tracing.OutcomeUnknown
	switch {
	case err == nil:
		outcome = tracing.OutcomeReleased
	case errors.Is(err, ErrLockLost):
		outcome = tracing.OutcomeAlreadyGone
	}
	span.End(outcome, time.Since(l.granted()))
}

// granted returns when the lease was granted. A lease of several is held since the last grant.
func (l *Lease) granted() (at time.Time) {
	if l.hold != nil {
		return l.hold.granted
	}
	for _, part := range l.parts {
		if granted := part.granted(); granted.After(at) {
			at = granted
		}
	}
	return at
}

// leave releases a lease of the hold. The node goes with the last one. leave returns
// whether this was the last lease, and why the hold had ended before.
func (h *hold) leave(ctx context.Context, n *leaseNode) (last bool, before error) {
	if h.lock.cfg.handover > 0 {
		_ = h.check() // only a hold that is believed is handed over (rule H1)
	}
	h.mu.Lock()
	before = h.err
	delete(h.leases, n)
	last = len(h.leases) == 0
	if last && h.limit != nil {
		h.limit.Stop()
	}
	if h.outer == n {
		h.outer = h.nextOuter(n)
	}
	n.end(ErrReleased)
	n.leave()
	if last && before == nil {
		h.endLocked(ErrReleased)
	}
	h.mu.Unlock()
	if last {
		h.remove(ctx)
	}
	return last, before
}

// nextOuter returns the lease that is outermost after n, the outermost so far. h.mu is held.
func (h *hold) nextOuter(n *leaseNode) *leaseNode {
	if n.nested != nil {
		return n.nested
	}
	for other := range h.leases { // shared leases are all alike
		return other
	}
	return nil
}

// abandon ends a hold that has no lease. Its node stays.
func (h *hold) abandon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.endLocked(ErrReleased)
	}
}

// withdraw ends a hold that has no lease, and deletes its node.
func (h *hold) withdraw(ctx context.Context) {
	h.abandon()
	h.remove(ctx)
}

// remove deletes the node in the background, unless the node was handed over or is kept.
func (h *hold) remove(ctx context.Context) {
	h.mu.Lock()
	if h.fate == stays {
		h.fate = deleted
		if h.lock.keepsLost && !errors.Is(h.err, ErrReleased) {
			h.fate = kept
		}
	}
	with, goes := h.releaseLocked(), h.fate == deleted || h.fate == evicted
	h.mu.Unlock()
	if goes {
		h.node.Delete(ctx, with)
	}
}

// releaseLocked returns the marker and the holder record that are part of the node's delete (rule
// 5 of the lock model). There is a marker if it proves to the waiter right behind that it is next.
// The record is deleted only if the lock was not lost. h.mu is held.
func (h *hold) releaseLocked() (with ephemeral.Release) {
	if errors.Is(h.err, ErrReleased) {
		with = h.node.Record()
	}
	if h.lock.marksRelease && h.fate != evicted && h.node.MayMark() {
		with.Marker = layout.ReleaseMarker(h.node.Path())
	}
	return with
}

// outcome waits until the delete of the node has an answer, or until ctx ends. It returns the
// error of Release. before is the reason for which the hold had ended already, or nil:
//
//	fate     confirmed   missing                          given up
//	deleted  nil         before, else a LossError         see givenUp
//	evicted  before      before                           before
//	kept     before
//	passed   nil
func (h *hold) outcome(ctx context.Context, before error) error {
	h.mu.Lock()
	fate := h.fate
	h.mu.Unlock()
	switch fate {
	case passed:
		return nil
	case kept:
		return before
	}
	removal := h.node.Deletion()
	if removal == nil {
		return h.givenUp(ctx, before, framework.ErrClosed)
	}
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
	case fate == evicted: // others may have been let in since
		return before
	case removal.Outcome == zkclient.RemovalConfirmed:
		return nil
	case removal.Outcome == zkclient.RemovalGivenUp:
		return h.givenUp(ctx, before, removal.Err)
	case before != nil:
		return before
	}
	return h.missing()
}

// givenUp returns the error for a node whose delete has no answer. A session that has ended for certain took the
// node with it. If it lived until the client was closed, so did the node.
func (h *hold) givenUp(ctx context.Context, before, why error) error {
	switch end := h.lock.api.SessionEnd(ctx, h.node.Session()); {
	case end == zkconn.SessionMayLive:
		return fmt.Errorf("%w: %w", ErrReleasePending, why)
	case end == zkconn.SessionExpired && before == nil:
		return h.lossOf(LossSessionExpired)
	}
	return before
}

// missing returns the error for a node that was found missing.
func (h *hold) missing() error {
	reason := LossNodeDeleted
	if h.node.Expired() {
		reason = LossSessionExpired
	}
	return h.lossOf(reason)
}

// lossOf returns the error of a loss that the release has found.
func (h *hold) lossOf(reason LossReason) error {
	return &LossError{Reason: reason, Path: h.lock.path, Token: h.token, Held: time.Since(h.granted)}
}
