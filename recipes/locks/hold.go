package locks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
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
	site   callSite // of the acquisition
	traced heldTrace

	mu        sync.Mutex
	leases    map[*leaseNode]struct{} // that are not released
	outer     *leaseNode              // the outermost of these
	err       error                   // why the hold ended: ErrReleased or a *LossError; nil before
	fate      fate
	requested bool       // somebody has asked for the lock, with WithRevocable
	turn      *localLine // the hold has the turn there; nil without one

	granted time.Time   // when the first lease was made
	limit   *time.Timer // with WithMaxHold
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
func (h *hold) enlist(turn *localLine) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return false
	}
	h.turn = turn
	locksOf(h.lock.api).add(h)
	if turn != nil {
		turn.setBusy()
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
	if h.traced.ctx == nil {
		return // there was no lease yet, and the acquisition goes on
	}
	span, ctx := h.traced.span, h.traced.ctx
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
	locksOf(h.lock.api).remove(h)
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
	if h.turn.pass(node, h.lock.cfg.handover) {
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
	return h.traced.ctx != nil
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
	h.traced.metric.close(func(counted bool) {
		h.lock.api.Telemetry().Closed(ctx, h.lock.spans, counted, held, reason)
	})
}

// clientLocks is shared by all locks of one client. It has the client's holds, and the lines of
// goroutines that hand nodes over. It lives as long as the client.
type clientLocks struct {
	mu     sync.Mutex
	counts map[identity]int // of holds
	nodes  map[string]*hold // by the server's path of the node
	lines  localLines
}

// locksOf returns the clientLocks of a client.
func locksOf(api *zkclient.Client) *clientLocks { return zkclient.SharedOf[clientLocks](api) }

func (c *clientLocks) add(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts, c.nodes = map[identity]int{}, map[string]*hold{}
	}
	c.counts[h.key()]++
	c.nodes[h.node.Path()] = h
}

// remove may be called for a hold that was not added.
func (c *clientLocks) remove(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[h.node.Path()] != h {
		return // it was lost before it was added
	}
	delete(c.nodes, h.node.Path())
	key := h.key()
	if c.counts[key]--; c.counts[key] == 0 {
		delete(c.counts, key)
	}
}

// isHeld reports whether the client holds the lock now: it looks at the clock.
func (c *clientLocks) isHeld(key identity) bool {
	return slices.ContainsFunc(c.of(key), (*hold).believed)
}

// isHeld reports whether the lock's client holds it.
func (l *queueLock) isHeld() bool { return l != nil && locksOf(l.api).isHeld(l.key()) }

// of returns the holds of a lock. Their methods must be called without c.mu.
func (c *clientLocks) of(key identity) []*hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[key] == 0 {
		return nil
	}
	var all []*hold
	for _, h := range c.nodes {
		if h.key() == key {
			all = append(all, h)
		}
	}
	return all
}

// holding returns the hold of one of the nodes. It is nil if another client holds them.
func (c *clientLocks) holding(paths []string) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		if h := c.nodes[path]; h != nil {
			return h
		}
	}
	return nil
}

// holder returns the name of the node by which the client holds the lock, "" if it does not.
func (c *clientLocks) holder(key identity) string {
	if h := c.leased(key); h != nil {
		return lockqueue.Name(h.node.Path())
	}
	return ""
}

// leased returns a hold of the lock that has leases, or nil.
func (c *clientLocks) leased(key identity) *hold {
	all := c.of(key)
	if i := slices.IndexFunc(all, (*hold).leased); i >= 0 {
		return all[i]
	}
	return nil
}

// heldTrace is how a hold is traced.
type heldTrace struct {
	span   *telemetry.Acquisition // of the first lease
	ctx    context.Context        // its values, for the span of a loss; nil before there was a lease
	metric heldMetric
}

// heldMetric counts one hold in the metric of held locks. The end may be known before the
// beginning was counted.
type heldMetric struct {
	mu     sync.Mutex
	opened bool
	count  bool
	end    func(counted bool) // called once the beginning is counted; nil before the end is known
}

// open counts the beginning of the hold.
func (m *heldMetric) open(count func() bool) {
	counted := count()
	m.mu.Lock()
	m.opened, m.count = true, counted
	end := m.end
	m.mu.Unlock()
	if end != nil {
		end(counted)
	}
}

// close counts the end of the hold, now or as soon as the beginning was counted.
func (m *heldMetric) close(end func(counted bool)) {
	m.mu.Lock()
	opened, counted := m.opened, m.count
	m.end = end
	m.mu.Unlock()
	if opened {
		end(counted)
	}
}
