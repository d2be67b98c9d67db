package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

// errAgain: the mutex's node, or one of several leases that were taken already, is gone.
// Others may wait for leases by now: everything is given back, and taken again.
var errAgain = errors.New("the leases are to be taken again")

// leased is a semaphore in Java's layout.
type leased struct {
	base   *internals // only its path
	gate   *internals // the mutex that lets one wait at a time
	leases *internals
	count  LeaseCount
	looked atomic.Bool // no other kind of lock was at the path
}

func newLeased(client *framework.Client, path string, count LeaseCount, opts []SemaphoreOption) (*leased, error) {
	cfg, err := newConfig(opts, SemaphoreOption.applySemaphore)
	if err == nil && count == nil {
		err = errNilArgument
	}
	if err != nil {
		return nil, err
	}
	s := &leased{count: count}
	if s.base, err = newInternals(client, path, cfg, rules{kind: semaphoreV2Kind, children: semaphoreV2Kind}); err != nil {
		return nil, err
	}
	gate := cfg
	gate.nodeData, gate.nodeDataGiven, gate.plainData = nil, false, cfg.nodeDataGiven
	gate.maxHold = 0 // it is held for as long as somebody waits
	if s.gate, err = newInternals(client, path+"/locks", gate, rules{
		kind: semaphoreV2Kind, lockName: lockName, driver: StandardLockInternalsDriver{}, maxLeases: 1, flat: true,
		baton: mutexBaton,
	}); err != nil {
		return nil, err
	}
	if s.leases, err = newInternals(client, path+"/leases", cfg, rules{
		kind: semaphoreV2Kind, lockName: leaseName, driver: leaseDriver{}, flat: true,
	}); err != nil {
		return nil, err
	}
	s.gate.semaphore, s.leases.semaphore = s, s
	return s, nil
}

// leaseDriver counts every child, as Java does, whatever its name.
type leaseDriver struct{ StandardLockInternalsDriver }

// FixForSorting returns the number at the end of the name, or the name.
func (leaseDriver) FixForSorting(name, _ string) string { return name[max(0, len(name)-10):] }

func (s *leased) one(ctx context.Context, wait bool) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.acquire(ctx, wait, 1, func(_ context.Context, parts []*Lease) *Lease { return parts[0] })
}

// acquire takes n leases, of which whole makes one.
func (s *leased) acquire(ctx context.Context, wait bool, n int, whole func(ctx context.Context, parts []*Lease) *Lease) (*Lease, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	return s.base.traced(ctx, wait, func(waitCtx context.Context, span *telemetry.Acquisition) (*Lease, error) {
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		c := contender{acquisition: acquisition{in: s.gate, span: span}, wait: wait, site: here()}
		err := s.enough(n)
		if err == nil {
			err = s.look(waitCtx)
		}
		for err == nil {
			var parts []*Lease
			if parts, err = s.attempt(ctx, waitCtx, span, &c, n); err == nil {
				return whole(ctx, parts), nil
			}
			if errors.Is(err, errAgain) {
				err = nil
			}
		}
		return nil, c.explain(ctx, waitCtx, err)
	})
}

// enough tells whether there can be as many leases as somebody wants together. One is
// always waited for: the maximum may rise.
func (s *leased) enough(n int) error {
	if most := s.count.Count(); n > 1 && n > most {
		return fmt.Errorf("%w: %d of %d", ErrTooManyLeases, n, most)
	}
	return nil
}

// look makes sure, once, that no other kind of lock uses the path.
func (s *leased) look(ctx context.Context) error {
	if s.looked.Load() {
		return nil
	}
	names, err := s.base.list(ctx, 0)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return err
	}
	for _, name := range names {
		if err := s.base.refuse(name); err != nil {
			return err
		}
	}
	s.looked.Store(true)
	return nil
}

// attempt takes n leases, one after the other, while nobody else does. When it fails none of
// them stays. The mutex is given back before it returns: the caller's next TryAcquire would
// find it taken.
func (s *leased) attempt(ctx, waitCtx context.Context, span *telemetry.Acquisition, c *contender, n int) (parts []*Lease, err error) {
	gate, err := c.contend(waitCtx)
	if err != nil {
		return nil, err
	}
	var holds []*hold
	var left []*recipeapi.PendingDelete
	defer func() {
		if parts == nil {
			left = append(left, withdrawAll(waitCtx, holds)...)
		}
		gate.withdraw(ErrReleased)
		gate.remove(waitCtx)
		c.settle(waitCtx, append(left, gate.leaving())...)
	}()
	for len(holds) < n {
		l := leaseContender{contender: contender{acquisition: acquisition{in: s.leases, span: c.span}, wait: c.wait, site: c.site}, s: s, gate: gate.node, n: n, taken: holds}
		h, removals, err := l.contend(waitCtx)
		c.busy = c.busy || l.busy
		left = append(left, removals...)
		if err != nil {
			return nil, err
		}
		holds = append(holds, h)
	}
	if parts = leasesOf(ctx, span, holds); parts == nil {
		return nil, errAgain // one was lost while the others were waited for
	}
	return parts, nil
}

// leaving returns the removal of the hold's node, if that has begun.
func (h *hold) leaving() *recipeapi.PendingDelete {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.removal
}

// leaseContender is one lease on its way.
type leaseContender struct {
	contender
	s     *leased
	gate  recipeapi.Created // the mutex's: while it is there nobody else waits for a lease
	n     int               // how many are wanted together
	taken []*hold           // of those
}

// contend makes the node of a lease and waits until it counts. left are the removals of
// nodes that did not come to that.
func (l *leaseContender) contend(ctx context.Context) (h *hold, left []*recipeapi.PendingDelete, err error) {
	for !l.expired() {
		h, removals, err := l.attempt(ctx)
		left = append(left, removals...)
		if !errors.Is(err, errStartOver) {
			return h, left, err
		}
		l.settle(ctx, removals...)
	}
	return nil, left, errAgain // a lease without the mutex could not wait, and would be given back
}

// expired tells whether the mutex has gone with its session.
func (l *leaseContender) expired() bool {
	conn, err := l.in.inside.Conn()
	if err != nil {
		return false // the next request says so
	}
	_, alive := conn.Deadline(l.gate.Session)
	return !alive
}

// attempt is contend with one node. When it fails, or a user's LeaseCount panics, the node
// is removed.
func (l *leaseContender) attempt(ctx context.Context) (h *hold, left []*recipeapi.PendingDelete, err error) {
	if left, err = l.create(ctx); err != nil {
		return nil, left, err
	}
	defer func() {
		if h == nil {
			left = append(left, l.in.inside.Remove(ctx, l.node.Path, l.node.Session))
		}
	}()
	h, err = l.await(ctx)
	return h, left, err
}

// await waits until there are no more leases than the maximum.
func (l *leaseContender) await(ctx context.Context) (*hold, error) {
	changed := make(chan struct{}, 1)
	change := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	remove := l.s.count.CountListenable().Add(func(context.Context, int) { change() })
	defer remove()
	warning := time.NewTimer(selfWait)
	defer warning.Stop()
	own, names := nameOf(l.node.Path), l.node.Siblings
	if nearEnd(own) {
		return nil, ErrSequenceExhausted
	}
	for {
		err := l.s.enough(l.n)
		switch {
		case err != nil:
		case !slices.Contains(names, own):
			return nil, errStartOver
		case l.lacks(names):
			return nil, errAgain
		case len(names) <= l.s.count.Count():
			h, granted := l.grant(l.node)
			if !errors.Is(granted, errInDoubt) {
				return h, granted
			}
			names, err = l.in.list(ctx, l.node.Session)
		case !l.wait:
			l.busy = true
			return nil, ErrNotAcquired
		default:
			l.busy = true
			names, err = l.next(ctx, names, changed, change, warning.C)
		}
		if err != nil {
			return nil, err
		}
	}
}

// lacks tells whether one of the leases that were taken already is lost, or its node gone.
func (l *leaseContender) lacks(names []string) bool {
	return slices.ContainsFunc(l.taken, func(h *hold) bool {
		return h.lost() != nil || !slices.Contains(names, nameOf(h.node.Path))
	})
}

// next returns the leases when they are others than names, or when the maximum changes. It
// fails when the mutex's node is gone: of two who wait here none might ever be let in,
// because both their nodes count.
func (l *leaseContender) next(ctx context.Context, names []string, changed <-chan struct{}, change func(), warning <-chan time.Time) ([]string, error) {
	conn, err := l.in.inside.Conn()
	if err != nil {
		return nil, err
	}
	var event atomic.Int32
	watch := zkconn.NewWatch(l.in.full, zkconn.WatchChildren, func(e zkconn.WatchEvent) {
		event.Store(int32(e.Type))
		change()
	})
	defer conn.Unwatch(watch)
	var res jute.GetChildren2Response
	leases := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: l.in.full, Watch: true}, Res: &res, Watch: watch}
	gate := dataCall(l.gate.Path, zkconn.NewWatch(l.gate.Path, zkconn.WatchData, func(zkconn.WatchEvent) { change() }))
	defer conn.Unwatch(gate.Watch)
	switch err := l.watchAll(ctx, conn, leases, gate); {
	case err != nil:
		if err := l.interrupted(ctx, err); err != nil {
			return nil, err
		}
		return l.in.list(ctx, l.node.Session)
	case leases.Err != nil:
		return l.refused(ctx, leases.Err, errStartOver)
	case gate.Err != nil:
		return l.refused(ctx, gate.Err, errAgain)
	case !sameNames(res.Children, names):
		return res.Children, nil
	}
	l.span.Waiting(false)
	for {
		select {
		case <-changed:
			if err := after(zkconn.EventType(event.Load())); err != nil {
				return nil, err
			}
			return l.in.list(ctx, l.node.Session)
		case <-warning:
			l.warn()
		case <-ctx.Done():
			return nil, ended(ctx)
		}
	}
}

// refused is next after the answer that a watch was not set: the error is missing for a node that
// is gone.
func (l *leaseContender) refused(ctx context.Context, err, missing error) ([]string, error) {
	if errors.Is(err, framework.ErrNoNode) {
		return nil, missing
	}
	if err := l.putOff(ctx, err); err != nil {
		return nil, err
	}
	return l.in.list(ctx, l.node.Session)
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
