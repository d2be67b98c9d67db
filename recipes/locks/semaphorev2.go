package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// InterProcessSemaphoreV2 is a semaphore in the layout of Java's class of this name, with
// which it shares the leases. Leases do not nest: every Acquire takes one.
//
// A lease is a node below path/leases. There are at most as many nodes as the maximum, and one
// more for the waiting contender. A mutex at path/locks lets one contender wait at a time.
// InterProcessSemaphore needs half the requests, but cannot be shared with Java.
//
// Java: InterProcessSemaphoreV2.
type InterProcessSemaphoreV2 struct {
	_ noCopy
	s *javaSemaphore
}

// InterProcessSemaphoreMutex is an InterProcessSemaphoreV2 with one lease: a mutex that
// does not nest. Acquire with the context of its own lease returns ErrDeadlock.
//
// Java: InterProcessSemaphoreMutex.
type InterProcessSemaphoreMutex struct {
	_ noCopy
	s *javaSemaphore
}

var (
	_ InterProcessLock = (*InterProcessSemaphoreV2)(nil)
	_ InterProcessLock = (*InterProcessSemaphoreMutex)(nil)
)

// NewInterProcessSemaphoreV2 returns the semaphore at path. Every user must give the same
// positive maxLeases; that is not checked. It does no I/O. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: InterProcessSemaphoreV2.
func NewInterProcessSemaphoreV2(client *framework.Client, path string, maxLeases int, opts ...SemaphoreOption) (*InterProcessSemaphoreV2, error) {
	if err := checkLeases(maxLeases); err != nil {
		return nil, err
	}
	return NewInterProcessSemaphoreV2WithCount(client, path, constantCount(maxLeases), opts...)
}

// NewInterProcessSemaphoreV2WithCount returns the semaphore at path with a maximum that may
// change. Lowering it ends no lease.
//
// Java: InterProcessSemaphoreV2 with a SharedCountReader.
func NewInterProcessSemaphoreV2WithCount(client *framework.Client, path string, count LeaseCount, opts ...SemaphoreOption) (*InterProcessSemaphoreV2, error) {
	s, err := newJavaSemaphore(client, path, count, opts)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphoreV2{s: s}, nil
}

// NewInterProcessSemaphoreMutex returns the mutex at path; see NewInterProcessSemaphoreV2.
//
// Java: InterProcessSemaphoreMutex.
func NewInterProcessSemaphoreMutex(client *framework.Client, path string, opts ...SemaphoreOption) (*InterProcessSemaphoreMutex, error) {
	s, err := newJavaSemaphore(client, path, constantCount(1), opts)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphoreMutex{s: s}, nil
}

// Acquire waits for one lease; see InterProcessLock.
//
// Java: acquire.
func (s *InterProcessSemaphoreV2) Acquire(ctx context.Context) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.s.one(ctx, true)
}

// TryAcquire takes one lease if there is one; see InterProcessLock. It returns ErrNotAcquired also
// while another contender is acquiring a lease.
//
// Java: acquire(0, unit).
func (s *InterProcessSemaphoreV2) TryAcquire(ctx context.Context) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.s.one(ctx, false)
}

// AcquireN waits for n leases, all or none, and returns them as the Parts of one. It holds the
// semaphore's mutex meanwhile, so no other contender gets a lease. ctx and the errors are as in
// InterProcessLock. AcquireN also returns ErrTooManyLeases if n is above the maximum, or if the
// maximum falls below n during the wait, and framework.ErrInvalidOption if n is not positive.
//
// AcquireN and Java's acquire(n) on one path can deadlock. Java takes its leases one by one, and
// does not hold the mutex in between. Bound one of the two waits.
//
// Java: acquire(n).
func (s *InterProcessSemaphoreV2) AcquireN(ctx context.Context, n int) (*Lease, error) {
	if s == nil || s.s == nil {
		return nil, errNilArgument
	}
	if err := checkLeases(n); err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.s.base.path, err)
	}
	return s.s.acquire(ctx, true, n, composed)
}

// ParticipantNodes lists the nodes of the leases, and the node of the contender that waits, in
// order. Errors: ctx's error, or the server's.
//
// Java: getParticipantNodes.
func (s *InterProcessSemaphoreV2) ParticipantNodes(ctx context.Context) ([]string, error) {
	if s == nil || s.s == nil {
		return nil, errNilArgument
	}
	return s.s.leases.participants(ctx)
}

// Acquire waits for the mutex; see InterProcessLock. With the context of its own lease it returns
// ErrDeadlock.
//
// Java: acquire.
func (m *InterProcessSemaphoreMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, true)
}

// TryAcquire takes the mutex if it is free; see InterProcessSemaphoreV2.TryAcquire.
//
// Java: acquire(0, unit).
func (m *InterProcessSemaphoreMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, false)
}

func (m *InterProcessSemaphoreMutex) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if m == nil || m.s == nil {
		return nil, errNilArgument
	}
	if m.s.leases.ownedBy(ctx) {
		return nil, fmt.Errorf("lock %s: %w: it does not nest", m.s.base.path, ErrDeadlock)
	}
	return m.s.one(ctx, wait)
}

// IsAcquiredInThisProcess reports whether the client that this mutex was made with holds it,
// through this object or another. It looks at the clock: a hold is over when its deadline has
// passed, also if nobody has been told yet. It does not talk to the server.
//
// Java: isAcquiredInThisProcess.
func (m *InterProcessSemaphoreMutex) IsAcquiredInThisProcess() bool {
	return m != nil && m.s != nil && m.s.leases.isHeld()
}

// lock returns the semaphore's path, nil for a nil lock and for the zero value.
func (s *InterProcessSemaphoreV2) lock() *queueLock {
	if s == nil || s.s == nil {
		return nil
	}
	return s.s.base
}

// lock returns the semaphore's path, nil for a nil lock and for the zero value.
func (m *InterProcessSemaphoreMutex) lock() *queueLock {
	if m == nil || m.s == nil {
		return nil
	}
	return m.s.base
}

// LeaseCount is a semaphore's maximum that may change, such as a shared.Count. Count must
// return the new value before the listeners are called.
//
// Java: SharedCountReader.
type LeaseCount interface {
	// Count returns the last known maximum.
	Count() int
	// CountListenable takes listeners for changes.
	CountListenable() listen.Listenable[int]
}

// constantCount is a maximum that does not change.
type constantCount int

func (c constantCount) Count() int { return int(c) }

func (c constantCount) CountListenable() listen.Listenable[int] { return listen.Listenable[int]{} }

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
	client, cfg, err := newConfig(client, opts, SemaphoreOption.applySemaphore)
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
	contender, err := s.mutex.contender(a, 1)
	if err != nil {
		return nil, err
	}
	mutexes, err := s.mutex.queueUp(a, contender)
	if err != nil {
		return nil, err
	}
	mutex := mutexes[0]
	var holds []*hold
	defer func() {
		if parts == nil {
			withdrawAll(a, holds)
		}
		mutex.withdraw(a.waitCtx)
		a.awaitRemovals(append(holds, mutex)...)
	}()
	for len(holds) < n {
		h, err := s.takeOne(a, mutex, n, holds)
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

// takeOne holds the node of one of n leases, without a lease, after those that were taken already. It is
// woken when the maximum changes, and when one of those may be lost: a waiter that has a connection again
// may have looked before the loss.
func (s *javaSemaphore) takeOne(a *acquisition, mutex *hold, n int, taken []*hold) (*hold, error) {
	spec, err := s.leases.spec(a, 1)
	if err != nil {
		return nil, err
	}
	spec.Rules, spec.Guard = leaseRules{rules: s.leases.rules, s: s, n: n, taken: taken}, mutex.node
	contender := lockqueue.New(spec)
	defer s.count.CountListenable().Add(func(context.Context, int) { contender.Wake() })()
	if len(taken) > 0 {
		defer s.base.api.OnLoss("", func(zkclient.Loss) { contender.Wake() })()
	}
	holds, err := s.leases.queueUp(a, contender)
	switch {
	case errors.Is(err, lockqueue.ErrGuardGone):
		return nil, errAgain // a lease without the mutex could not wait, and would be given back
	case err != nil:
		return nil, err
	}
	return holds[0], nil
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
