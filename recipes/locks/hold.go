package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// fate says what becomes of the node of a hold. It is decided once.
type fate int8

const (
	stays   fate = iota // some lease is not released
	deleted             // the last lease was released
	passed              // another goroutine of this client holds the node now
	evicted             // deleted although a lease is not released: see WithMaxHold
	kept                // left to the recipe that made the node: see rules.keepsLost
)

// hold is a lock from its grant until its last nested lease is released. It does not refer to
// any Lease, so that the runtime can report a Lease that was dropped.
//
// Its states, and the fate of the node:
//
//	held      there are leases, and they are believed            stays
//	ended     lost, revoked or held too long; there are leases   stays until Release, or evicted
//	released  the last lease was released                        deleted, passed, evicted or kept
type hold struct {
	lock   *queueLock
	node   *ephemeral.Node
	token  int64
	site   callSite          // of the acquisition
	record ephemeral.Release // the holder record that goes with the node, with WithLockDelay
	metric heldMetric

	mu        sync.Mutex
	leases    map[*leaseNode]struct{} // that are not released
	outer     *leaseNode              // the outermost of these
	err       error                   // why the hold ended: ErrReleased or a *LossError; nil before
	fate      fate
	listed    bool        // in clientLocks
	turn      *localLines // the hold has the turn there; nil without one
	requested bool        // somebody has asked for the lock, with WithRevocable

	granted time.Time              // when the first lease was made
	span    *telemetry.Acquisition // of that lease
	spanCtx context.Context        // its values, for the span of a loss; nil before
	limit   *time.Timer            // with WithMaxHold
}

var _ ephemeral.Holder = (*hold)(nil)

func (h *hold) key() identity { return h.lock.key() }

// Lost ends the hold when its node cannot be relied on any more.
func (h *hold) Lost(l zkclient.Loss) {
	switch l.Kind {
	case zkclient.LossClosed:
		h.lose(LossClosed, nil)
	case zkclient.LossSuspended:
		h.lose(LossSuspended, nil)
	case zkclient.LossDeadline:
		h.lose(LossDeadline, nil)
	case zkclient.LossDeleted:
		h.lose(LossNodeDeleted, nil)
	case zkclient.LossSession:
		h.lose(LossSessionExpired, l.Err)
	}
}

// Read looks for a request to revoke the lock in the node's data. Without a lease the hold keeps
// the request for its first one.
func (h *hold) Read(data []byte) {
	if !h.lock.cfg.revocable || string(data) != layout.RevokeRequest {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return
	}
	h.requested = true
	if h.outer != nil {
		h.outer.revoke()
	}
}

// enlist lists the hold among those of its client, and takes the turn over if that is not nil.
// It returns false if the hold has ended already.
func (h *hold) enlist(turn *localLines) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return false
	}
	h.listed, h.turn = true, turn
	locksOf(h.lock.api).add(h)
	if turn != nil {
		turn.setBusy(h.key())
	}
	return true
}

// lose ends the hold. When it returns the context of every lease has ended.
func (h *hold) lose(reason LossReason, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loseLocked(reason, err)
}

// loseLocked is lose with h.mu held.
func (h *hold) loseLocked(reason LossReason, err error) {
	if h.err != nil {
		return
	}
	loss := &LossError{
		Reason: reason, Path: h.lock.path, Token: h.token,
		Held: time.Since(h.granted), Err: err,
	}
	h.endLocked(loss)
	if h.spanCtx == nil {
		return // there was no lease yet, and the acquisition goes on
	}
	span, ctx := h.span, h.spanCtx
	h.lock.api.Log(func() {
		h.lock.client.Logger().Warn("lock lost", "path", h.lock.path, "reason", reason.String(), "token", loss.Token, "held", loss.Held)
		h.countReleased(ctx, loss)
		span.Lost(ctx, loss.Token, loss.Held, reason.String())
	})
}

// endLocked ends the hold and its leases with err, and passes the turn on. h.mu is held, so
// that to release a node and to hand it over is one decision (rule H1).
func (h *hold) endLocked(err error) {
	h.err = err
	h.node.Unhold(h)
	if h.listed {
		locksOf(h.lock.api).remove(h)
	}
	for lease := range h.leases {
		lease.end(err)
	}
	if h.turn == nil {
		return
	}
	node := h.node
	if !errors.Is(err, ErrReleased) || h.requested {
		node = nil
	}
	if h.turn.pass(h.key(), node, h.lock.cfg.handover) {
		h.fate = passed
	}
}

// reason returns why the hold ended, nil while it has not.
func (h *hold) reason() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// check looks at the clock: it ends the hold if the client's deadline or that of WithMaxHold has
// passed. It returns why the hold has ended, nil while it has not.
func (h *hold) check() error {
	h.node.Check()
	h.mu.Lock()
	defer h.mu.Unlock()
	if most := h.lock.cfg.maxHold; most > 0 && len(h.leases) > 0 && time.Since(h.granted) >= most {
		h.loseLocked(LossMaxHold, nil) // the timer has the node deleted
	}
	return h.err
}

// believed reports whether the hold has not ended.
func (h *hold) believed() bool { return h.check() == nil }

// leased reports whether the hold has, or had, a lease.
func (h *hold) leased() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spanCtx != nil
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
		with = h.record
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

// bind has cancel called at the end of the lease n, until unbind is called.
func (h *hold) bind(n *leaseNode, cancel context.CancelCauseFunc) (unbind func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case n.released:
		cancel(ErrReleased)
	case h.err != nil:
		cancel(h.err)
	default:
		if n.bound == nil {
			n.bound = map[*context.CancelCauseFunc]struct{}{}
		}
		n.bound[&cancel] = struct{}{}
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(n.bound, &cancel)
	}
}

// dropped logs and counts a lease that became unreachable without a release.
func (h *hold) dropped(released *atomic.Bool) {
	if released.Load() || h.reason() != nil {
		return
	}
	h.lock.api.Log(func() {
		h.lock.client.Logger().Warn("lock lease dropped without release; the lock stays held until the client is closed",
			"path", h.lock.path, "token", h.token)
		h.lock.api.Telemetry().Dropped(h.lock.spans)
	})
}

// countReleased counts the end of the hold: as a loss if loss is not nil, else as a release.
func (h *hold) countReleased(ctx context.Context, loss *LossError) {
	held, reason := time.Since(h.granted), ""
	if loss != nil {
		held, reason = loss.Held, loss.Reason.String()
	}
	h.metric.close(func(counted bool) {
		h.lock.api.Telemetry().Closed(ctx, h.lock.spans, counted, held, reason)
	})
}
