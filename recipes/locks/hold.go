package locks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

// errInDoubt: the node is first, but the session cannot be believed in just now.
var errInDoubt = errors.New("the session is in doubt")

// hold is a lock's node while it is the first: what nested leases share. It refers to no
// Lease, so that a Lease which nobody holds any more can be noticed.
type hold struct {
	in      *internals
	node    seam.Created
	token   int64
	site    site                   // of the acquisition
	watched *telemetry.Acquisition // that the watch on the node belongs to
	rearmed atomic.Bool            // and no more does
	granted time.Time
	forget  func() // takes the hook on the session back
	over    atomic.Bool
	ended   chan struct{} // closed when it is over
	left    chan struct{} // closed when the node is being deleted

	mu      sync.Mutex
	places  map[*place]struct{}    // of the leases that are not released
	err     error                  // why it ended: ErrReleased or a *LossError
	span    *telemetry.Acquisition // of the outermost lease
	spanCtx context.Context        // its values, for the span of a loss
	removal *seam.Removal          // of the node, when the last lease is released
	removed bool
	evicted bool                // the node was deleted while leases were not released
	counted bool                // among holds
	outer   weak.Pointer[Lease] // the outermost lease, while somebody has it
	asked   bool                // to let go, before there was a lease

	tally tally
}

// place is a lease's place in the tree of nested leases, without the Lease itself. All
// but slot is guarded by the hold's mu.
type place struct {
	slot     chan struct{} // holds a token while a lease is nested below this one
	nested   *place        // that lease's, while it is not released
	above    []*place      // whose slots are given back with this lease
	released bool
	cancels  map[*context.CancelCauseFunc]struct{} // of its context and of those bound to it
}

// end ends the contexts of a lease: now, and not a goroutine later.
func (p *place) end(err error) {
	for cancel := range p.cancels {
		(*cancel)(err)
	}
	clear(p.cancels)
}

// leave gives back the slots that the lease has taken. If one is nested below it they
// go with that one: else a sibling could come in beside it.
func (p *place) leave() {
	p.released = true
	if p.nested != nil {
		for _, up := range p.above {
			up.nested = p.nested
		}
		p.nested.above = append(p.nested.above, p.above...)
	} else {
		for _, up := range p.above {
			up.nested = nil
			<-up.slot
		}
	}
	p.above = nil
}

// grantAll makes holds of all the contender's nodes, or of none.
func (c *contender) grantAll() (*hold, error) {
	c.matesHolds = nil
	for _, mate := range append(slices.Clone(c.mates), c.node) {
		h, err := c.grant(mate)
		if err != nil {
			for _, other := range c.matesHolds {
				other.withdraw(err)
			}
			return nil, err
		}
		c.matesHolds = append(c.matesHolds, h)
	}
	last := len(c.matesHolds) - 1
	h := c.matesHolds[last]
	c.matesHolds = c.matesHolds[:last]
	if c.own != nil {
		c.own.stop()
		c.own = nil
	}
	return h, nil
}

// withdraw ends a hold that nobody has seen; its node stays.
func (h *hold) withdraw(err error) {
	h.forget()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.end(err)
	}
}

// grant makes a hold of a node, which was seen to be let in. It is ours only while its
// session is believed in: first the hook is set, then the clock is looked at, so that no
// loss slips in between.
func (c *contender) grant(node seam.Created) (*hold, error) {
	if node.Stat.EphemeralOwner != node.Session {
		return nil, errStartOver
	}
	h := &hold{
		in: c.in, node: node, token: node.Stat.Czxid, site: c.site, granted: time.Now(), watched: c.span,
		places: map[*place]struct{}{}, ended: make(chan struct{}), left: make(chan struct{}),
	}
	if c.writer != nil {
		h.token = c.writer.token // its own would be higher than that of a writer to come
	}
	h.forget = c.in.inside.OnLoss(h.onLoss)
	conn, err := c.in.inside.Conn()
	if err != nil {
		h.forget()
		return nil, err
	}
	deadline, alive := conn.Deadline(node.Session)
	s := conn.State() // while there is a connection the policy has no say
	doubt := !time.Now().Before(deadline) || !s.IsConnected() && c.in.client.ErrorPolicy().IsErrorState(s)
	if !alive || doubt || h.lost() != nil {
		h.forget()
		if !alive {
			return nil, errStartOver
		}
		return nil, errInDoubt
	}
	h.in.inside.Go(h.watchNode)
	h.count()
	if h.in.cfg.maxHold > 0 {
		h.in.inside.Go(h.limit)
	}
	return h, nil
}

// watchNode keeps an eye on the own node, which somebody may delete. Nobody waits for
// its answer.
func (h *hold) watchNode(ctx context.Context) {
	conn, err := h.in.inside.Conn()
	if err != nil || h.over.Load() {
		return
	}
	ctx, traced := h.watched.Watch(ctx, conn, h.node.Path, !h.rearmed.Swap(true))
	tries := 0
	defer func() { traced.End(tries, err) }()
	for tries == 0 || !h.over.Load() {
		tries++
		call := dataCall(h.node.Path, zkconn.NewWatch(h.node.Path, zkconn.WatchData, h.onNode))
		if err = conn.Do(ctx, h.node.Session, call); err == nil {
			err = call.Err
			switch {
			case errors.Is(err, framework.ErrNoNode):
				h.lose(LossNodeDeleted, nil)
			case err == nil:
				h.revoke(call.Res.(*jute.GetDataResponse).Data)
			}
			return
		}
		if errors.Is(err, framework.ErrConnectionLoss) {
			err = conn.Ready(ctx)
		}
		if err != nil {
			return
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
		Reason: reason, Path: h.in.path, Token: h.token,
		Held: time.Since(h.granted), Err: err,
	}
	h.end(loss)
	span, ctx := h.span, h.spanCtx
	h.in.inside.Report(func() {
		h.in.client.Logger().Warn("lock lost", "path", h.in.path, "reason", reason.String(), "token", loss.Token, "held", loss.Held)
		h.closed(ctx, loss)
		span.Lost(ctx, loss.Token, loss.Held, reason.String())
	})
}

// end ends the hold and all its leases; h.mu is held.
func (h *hold) end(err error) {
	h.err = err
	h.over.Store(true)
	close(h.ended)
	if h.counted {
		holds.remove(h)
	}
	for p := range h.places {
		p.end(err)
	}
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
		h.span, h.spanCtx = span, values
	}
	inner, cancel := context.WithCancelCause(values)
	p := &place{slot: make(chan struct{}, 1), cancels: map[*context.CancelCauseFunc]struct{}{&cancel: {}}}
	if up != nil {
		up.nested, p.above = p, []*place{up}
	}
	h.places[p] = struct{}{}
	lease := &Lease{hold: h, place: p, nested: up != nil, span: span, released: new(atomic.Bool)}
	lease.ctx = context.WithValue(inner, h.in.key(), lease)
	if h.outer == (weak.Pointer[Lease]{}) {
		h.outer = weak.Make(lease)
		if h.asked {
			h.tell(lease)
		}
	}
	runtime.AddCleanup(lease, h.dropped, lease.released)
	return lease
}

// dropped reports a lease that nobody can release any more.
func (h *hold) dropped(released *atomic.Bool) {
	if released.Load() || h.over.Load() {
		return
	}
	h.in.inside.Report(func() {
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
// It returns why the hold had ended before, and whether this was the last.
func (h *hold) leave(ctx context.Context, p *place) (before error, last bool) {
	h.mu.Lock()
	before = h.err
	delete(h.places, p)
	last = len(h.places) == 0
	p.end(ErrReleased)
	p.leave()
	if last && before == nil {
		h.end(ErrReleased)
	}
	h.mu.Unlock()
	if last {
		h.remove(ctx)
	}
	return before, last
}

// remove deletes the node, once, in the background, as a part of ctx's trace.
func (h *hold) remove(ctx context.Context) { h.delete(ctx, false) }

// delete is remove; with evict the node goes although leases are not released.
func (h *hold) delete(ctx context.Context, evict bool) {
	h.forget()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.removed {
		h.removed, h.evicted = true, evict
		close(h.left)
		h.removal = h.in.inside.Remove(ctx, h.node.Path, h.node.Session)
	}
}

// outcome waits for the delete of the node and tells what it says about the hold, which
// had ended before for the given reason, if any.
func (h *hold) outcome(ctx context.Context, before error) error {
	h.mu.Lock()
	removal, evicted := h.removal, h.evicted
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
	case evicted: // others may have been let in since
		return before
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
	return &LossError{Reason: reason, Path: h.in.path, Token: h.token, Held: time.Since(h.granted)}
}
