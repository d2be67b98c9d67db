package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// errAgain is returned when the mutex's node, or one of several leases that were taken already, is
// gone. Others may wait for leases by now, so everything is given back, and taken again.
var errAgain = errors.New("the leases are to be taken again")

// javaSemaphore is a semaphore in Java's layout. A mutex at path/locks lets one contender wait at a
// time. Below path/leases there may be at most as many nodes as the maximum.
type javaSemaphore struct {
	base   *queueLock // only its path
	mutex  *queueLock
	leases *queueLock
	count  LeaseCount
	looked atomic.Bool // no other kind of lock was at the path
}

func newJavaSemaphore(client *framework.Client, path string, count LeaseCount, opts []SemaphoreOption) (*javaSemaphore, error) {
	cfg, err := newConfig(opts, SemaphoreOption.applySemaphore)
	if err == nil && count == nil {
		err = fmt.Errorf("%w: the count is nil", framework.ErrInvalidOption)
	}
	if err != nil {
		return nil, err
	}
	s := &javaSemaphore{count: count}
	if s.base, err = newQueueLock(client, path, cfg, rules{kind: semaphoreV2Kind, children: semaphoreV2Kind}); err != nil {
		return nil, err
	}
	mutex := cfg
	mutex.nodeData, mutex.nodeDataGiven, mutex.plainData = nil, false, cfg.nodeDataGiven
	mutex.maxHold = 0 // it is held for as long as somebody waits
	if s.mutex, err = newQueueLock(client, path+"/"+layout.LocksDir, mutex, rules{
		kind: semaphoreV2Kind, lockName: layout.LockMark, driver: StandardLockInternalsDriver{}, maxLeases: 1, flat: true,
		marksRelease: true, marks: anyNode, next: anyNode,
	}); err != nil {
		return nil, err
	}
	if s.leases, err = newQueueLock(client, path+"/"+layout.LeasesDir, cfg, rules{
		kind: semaphoreV2Kind, lockName: layout.LeaseMark, driver: leaseDriver{}, flat: true,
	}); err != nil {
		return nil, err
	}
	return s, nil
}

// leaseDriver counts every child with any name, as Java does.
type leaseDriver struct{ StandardLockInternalsDriver }

// FixForSorting returns the number at the end of the name, or the name.
func (leaseDriver) FixForSorting(name, _ string) string { return layout.Tail(name) }

func (s *javaSemaphore) one(ctx context.Context, wait bool) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.acquire(ctx, wait, 1, func(_ context.Context, parts []*Lease) *Lease { return parts[0] })
}

// acquire takes n leases. whole makes one lease of them.
func (s *javaSemaphore) acquire(ctx context.Context, wait bool, n int, whole func(ctx context.Context, parts []*Lease) *Lease) (*Lease, error) {
	a, err := s.base.begin(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer a.close()
	a.waitsOn = s.leases
	if err = s.enough(n); err == nil {
		err = s.look(a.waitCtx)
	}
	for err == nil {
		var parts []*Lease
		if parts, err = s.attempt(a, n); err == nil {
			return a.end(whole(ctx, parts), nil)
		}
		if errors.Is(err, errAgain) {
			err = nil
		}
	}
	return a.end(nil, a.explain(err))
}

// enough returns an error if n leases are more than the maximum. One lease is always waited for,
// because the maximum may rise.
func (s *javaSemaphore) enough(n int) error {
	if most := s.count.Count(); n > 1 && n > most {
		return fmt.Errorf("%w: %d of %d", ErrTooManyLeases, n, most)
	}
	return nil
}

// look makes sure, once, that no other kind of lock uses the path.
func (s *javaSemaphore) look(ctx context.Context) error {
	if s.looked.Load() {
		return nil
	}
	names, err := lockqueue.List(ctx, s.base.api, s.base.path, s.base.full, 0)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return err
	}
	if err := s.base.Check(names); err != nil {
		return err
	}
	s.looked.Store(true)
	return nil
}

// attempt takes n leases, one after the other, while it holds the mutex. When it fails it gives
// back all of them. It waits until the mutex's node is deleted, because the caller's next
// TryAcquire would find the mutex taken.
func (s *javaSemaphore) attempt(a *acquisition, n int) (parts []*Lease, err error) {
	mutex, err := s.contend(a, s.mutex, func(*lockqueue.Spec) {})
	if err != nil {
		return nil, err
	}
	var holds []*hold
	defer func() {
		if parts == nil {
			withdrawAll(a, holds)
		}
		mutex.withdraw(a.waitCtx)
		a.awaitRemovals(append(holds, mutex)...)
	}()
	for len(holds) < n {
		h, err := s.contend(a, s.leases, func(spec *lockqueue.Spec) {
			spec.Rules = leaseRules{rules: s.leases.rules, s: s, n: n, taken: holds}
			spec.Guard, spec.Changed = mutex.node, s.changes(len(holds) > 0)
		})
		if err != nil {
			return nil, err
		}
		holds = append(holds, h)
	}
	if parts = leasesOf(a, holds); parts == nil {
		return nil, errAgain // one was lost while the others were waited for
	}
	return parts, nil
}

// contend holds a node of one of the queues, without a lease. change completes the description of the place.
func (s *javaSemaphore) contend(a *acquisition, l *queueLock, change func(*lockqueue.Spec)) (h *hold, err error) {
	spec, err := l.spec(a)
	if err != nil {
		return nil, err
	}
	change(spec)
	h, err = l.first(a, lockqueue.New(spec))
	if errors.Is(err, lockqueue.ErrGuardGone) {
		err = errAgain // a lease without the mutex could not wait, and would be given back
	}
	return h, err
}

// changes returns what wakes a waiter when the maximum changes, or, with leases that it has taken
// already, when one may be lost: a waiter that has a connection again may have looked before the loss.
func (s *javaSemaphore) changes(taken bool) func(wake func()) (stop func()) {
	return func(wake func()) (stop func()) {
		unlisten := s.count.CountListenable().Add(func(context.Context, int) { wake() })
		if !taken {
			return unlisten
		}
		forget := s.base.api.OnLoss("", func(zkclient.Loss) { wake() })
		return func() { forget(); unlisten() }
	}
}

// leaseRules let a lease in while there are at most as many as the maximum.
type leaseRules struct {
	rules
	s     *javaSemaphore
	n     int     // how many are wanted together
	taken []*hold // those that are held already
}

// Check refuses to go on when the maximum has fallen, or a lease that was taken is lost.
func (r leaseRules) Check(names []string) error {
	if err := r.s.enough(r.n); err != nil {
		return err
	}
	for _, h := range r.taken {
		if h.reason() != nil || !slices.Contains(names, lockqueue.Name(h.node.Path())) {
			return errAgain
		}
	}
	return nil
}

// Decide counts the leases.
func (r leaseRules) Decide(queue []string, _ string) lockqueue.Decision {
	return lockqueue.Decision{Admitted: len(queue) <= r.s.count.Count(), Children: true}
}

func (s *javaSemaphore) telemetryOf() (*telemetry.Telemetry, telemetry.Lock) {
	if s == nil {
		return nil, telemetry.Lock{}
	}
	return s.base.telemetryOf()
}
