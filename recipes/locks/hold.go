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
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
)

// errInDoubt: the node is first, but the session cannot be believed in just now.
var errInDoubt = errors.New("the session is in doubt")

// hold is a lock's node while it is the first: what nested leases share. It refers to no
// Lease, so that a Lease which nobody holds any more can be noticed.
type hold struct {
	in      *internals
	node    recipeapi.Created
	token   int64
	site    site                   // of the acquisition
	watched *telemetry.Acquisition // that the watch on the node belongs to
	rearmed atomic.Bool            // and no more does
	granted time.Time              // when there was a lease
	waited  bool                   // before it was granted
	times   int                    // how often the node was handed over
	forget  func()                 // takes the hook on the session back
	over    atomic.Bool

	mu      sync.Mutex
	places  map[*place]struct{}      // of the leases that are not released
	err     error                    // why it ended: ErrReleased or a *LossError
	span    *telemetry.Acquisition   // of the outermost lease
	spanCtx context.Context          // its values, for the span of a loss
	removal *recipeapi.PendingDelete // of the node, when the last lease is released
	removed bool
	evicted bool               // the node was deleted while leases were not released
	counted bool               // among holds
	watch   *time.Timer        // sets the watch on the own node
	own     *nodeWatch         // that watch; nil for not yet
	unset   context.CancelFunc // ends what is about to set it
	limiter *time.Timer        // with WithMaxHold
	reader  bool               // a reader may have taken its place: see Downgrade
	wanted  bool               // somebody asked for it, with WithRevocable
	turn    bool               // to be passed on: see handover.go
	handed  bool               // the node was handed over
	outer   *place             // of the outermost lease that is not released
	asked   bool               // to let go, before there was a lease

	tally tally
}

func (h *hold) onLoss(l recipeapi.Loss) {
	switch {
	case l.Kind == recipeapi.LossClosed:
		h.lose(LossClosed, nil)
	case l.Session != h.node.Session:
	case l.Kind == recipeapi.LossSuspended:
		h.lose(LossSuspended, nil)
	case l.Kind == recipeapi.LossDeadline:
		h.lose(LossDeadline, nil)
	case l.Kind == recipeapi.LossSession:
		h.lose(LossSessionExpired, l.Err)
	}
}

// lose ends the hold; when it returns every lease's context has ended.
func (h *hold) lose(reason LossReason, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loseLocked(reason, err)
}

// loseLocked is lose; h.mu is held.
func (h *hold) loseLocked(reason LossReason, err error) {
	if h.err != nil {
		return
	}
	loss := &LossError{
		Reason: reason, Path: h.in.path, Token: h.token,
		Held: time.Since(h.granted), Err: err,
	}
	h.end(loss)
	if h.spanCtx == nil {
		return // nobody had a lease of it yet: the acquisition goes on
	}
	span, ctx := h.span, h.spanCtx
	h.in.inside.Log(func() {
		h.in.client.Logger().Warn("lock lost", "path", h.in.path, "reason", reason.String(), "token", loss.Token, "held", loss.Held)
		h.closed(ctx, loss)
		span.Lost(ctx, loss.Token, loss.Held, reason.String())
	})
}

// end ends the hold and all its leases; h.mu is held.
func (h *hold) end(err error) {
	h.err = err
	h.over.Store(true)
	if h.watch != nil {
		h.watch.Stop()
	}
	if h.unset != nil {
		h.unset() // Close waits for it, and it may wait for a connection
	}
	if h.counted {
		holds.remove(h)
	}
	for p := range h.places {
		p.end(err)
	}
	h.passTurn(err)
}

// count takes the hold into account, until it ends.
func (h *hold) count() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.counted = true
		holds.add(h)
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
	switch deadline, alive := conn.Deadline(h.node.Session); {
	case !alive:
		h.lose(LossSessionExpired, framework.ErrSessionExpired)
	case !time.Now().Before(deadline):
		h.lose(LossDeadline, nil)
	}
}

// newLease adds a lease to the hold, nested in up if that is not nil, whose slot it has
// taken. It returns nil when the hold is over or the lease of up was released.
func (h *hold) newLease(ctx context.Context, span *telemetry.Acquisition, up *place) *Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || up != nil && up.released {
		return nil
	}
	values := context.WithoutCancel(ctx)
	if h.spanCtx == nil {
		h.span, h.spanCtx, h.granted = span, values, time.Now()
		h.limit()
	}
	inner, cancel := context.WithCancelCause(values)
	p := &place{slot: make(chan struct{}, 1), cancels: map[*context.CancelCauseFunc]struct{}{&cancel: {}}}
	if up != nil {
		up.nested, p.above = p, []*place{up}
	}
	h.places[p] = struct{}{}
	lease := &Lease{hold: h, place: p, nested: up != nil, span: span, released: new(atomic.Bool)}
	lease.ctx = context.WithValue(h.limited(inner), h.in.key(), lease)
	lease.cleanup = runtime.AddCleanup(lease, h.dropped, lease.released)
	p.lease = weak.Make(lease)
	if h.outer == nil {
		h.outer = p
		if h.asked {
			h.tellLocked(lease)
		}
	}
	return lease
}

// dropped reports a lease that nobody can release any more.
func (h *hold) dropped(released *atomic.Bool) {
	if released.Load() || h.over.Load() {
		return
	}
	h.in.inside.Log(func() {
		h.in.client.Logger().Warn("lock lease dropped without release; the lock stays held until the client is closed",
			"path", h.in.path, "token", h.token)
		h.in.inside.Telemetry().Dropped(h.in.seen)
	})
}

// bind lets cancel end with the lease at p, until unbind is called.
func (h *hold) bind(p *place, cancel context.CancelCauseFunc) (unbind func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case p.released:
		cancel(ErrReleased)
	case h.err != nil:
		cancel(h.err)
	default:
		p.cancels[&cancel] = struct{}{}
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(p.cancels, &cancel)
	}
}

// leave takes a lease out of the hold and ends its contexts; the node goes with the last.
// It returns why the hold had ended before, and whether this was the last. The delete stands in
// line if that is not nil.
func (h *hold) leave(ctx context.Context, p *place, line *recipeapi.Line) (before error, last bool) {
	h.mu.Lock()
	before = h.err
	delete(h.places, p)
	last = len(h.places) == 0
	if h.outer == p {
		h.outer = h.next(p)
	}
	p.end(ErrReleased)
	p.leave()
	if last && before == nil {
		h.end(ErrReleased)
	}
	h.mu.Unlock()
	if last {
		h.delete(ctx, false, line)
	}
	return before, last
}

// next returns the outermost place when p, which was that, is left; h.mu is held.
func (h *hold) next(p *place) *place {
	if p.nested != nil {
		return p.nested
	}
	for other := range h.places { // shared ones are all alike
		return other
	}
	return nil
}

// remove deletes the node, once, in the background, as a part of ctx's trace.
func (h *hold) remove(ctx context.Context) { h.delete(ctx, false, nil) }

// delete is remove; with evict the node goes although leases are not released.
func (h *hold) delete(ctx context.Context, evict bool, line *recipeapi.Line) {
	h.forget()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.removed {
		h.removed, h.evicted = true, evict
		if h.limiter != nil {
			h.limiter.Stop()
		}
		if h.handed {
			return
		}
		with := recipeapi.Release{HolderRecord: h.tracePath(), Line: line}
		if h.passesBaton(evict) {
			with.Marker = marker(h.node.Path)
		}
		h.removal = h.in.inside.Release(ctx, h.node.Path, h.node.Session, with)
	}
}

// outcome waits for the delete of the node, until ctx ends, and tells what it says about the
// hold, which had ended before for the given reason, if any.
func (h *hold) outcome(ctx context.Context, before error) error {
	h.mu.Lock()
	removal, evicted, handed := h.removal, h.evicted, h.handed
	h.mu.Unlock()
	if handed {
		return nil
	}
	if removal == nil {
		return fmt.Errorf("%w: %w", ErrReleasePending, framework.ErrClosed)
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
	case evicted: // others may have been let in since
		return before
	case removal.Outcome == recipeapi.RemovalConfirmed:
		return nil
	case removal.Outcome == recipeapi.RemovalGivenUp:
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
	return &LossError{Reason: reason, Path: h.in.path, Token: h.token, Held: time.Since(h.granted)}
}
