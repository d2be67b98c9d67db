package locks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
)

// kind is a kind of lock, for the tests that every kind must pass.
type kind struct {
	name string
	// lock makes the lock that is tested, nextWaiter one that waits while it is held.
	lock, nextWaiter maker
	// beside are held by others all the time, and are not in its way.
	beside []maker
	// ahead are held by others, and it waits while they are.
	ahead []maker

	leases  int  // that an acquisition takes, a node each; 0 is 1
	plain   bool // with WithPlainProtocol
	delay   bool // with WithLockDelay, which leaves a record that goes with the node
	v2      bool // the nodes are in Java's layout, below those of a mutex
	watches int  // that it has even while nobody wants it
	local   bool // it makes the same requests as a kind that runs on the real server, which has nothing to add

	// multi says that it is several locks, in multiDirs; the one that others want, and that
	// meets with what is tested, is the one at contended.
	multi     bool
	contended int
}

// multiDirs are where the parts of a multi lock are, below the path.
var multiDirs = []string{"/a", "/b", "/c"}

// multiKind is a multi lock of three mutexes.
func multiKind(which string, contended int) kind {
	part := aMutexAt(multiDirs[contended])
	return kind{
		name: "multi lock, " + which + " part", lock: aMulti, nextWaiter: part, ahead: []maker{part},
		leases: len(multiDirs), multi: true, contended: contended, local: true,
	}
}

// queued is how many nodes an acquisition has while it waits, or makes the last of them.
func (k kind) queued() int {
	if k.multi {
		return k.contended + 1
	}
	return k.leases
}

// grouped tells whether the nodes are made in one transaction.
func (k kind) grouped() bool { return k.leases > 1 && !k.v2 && !k.multi }

// deletes is the request that deletes the node of a holder.
func (k kind) deletes() jute.Op {
	if k.delay {
		return jute.OpMulti
	}
	return jute.OpDelete
}

// dirs are where the nodes of the leases are, below the path.
func (k kind) dirs() []string {
	switch {
	case k.multi:
		return multiDirs
	case k.v2:
		return []string{"/leases"}
	}
	return []string{""}
}

type maker = func(e *env, client *framework.Client) locks.InterProcessLock

var (
	mutexKind         = kind{name: "mutex", lock: aMutex, nextWaiter: aMutex, ahead: []maker{aMutex}}
	plainProtocolKind = kind{name: "mutex with the plain protocol", lock: aPlainMutex, nextWaiter: aPlainMutex, ahead: []maker{aPlainMutex}, plain: true}
	handoverKind      = kind{name: "mutex with hand-over", lock: aHandoverMutex, nextWaiter: aHandoverMutex, ahead: []maker{aHandoverMutex}, local: true}
	maxHoldKind       = kind{name: "mutex with a longest hold", lock: aLimitedMutex, nextWaiter: aLimitedMutex, ahead: []maker{aLimitedMutex}, local: true}
	delayKind         = kind{name: "mutex with a delay", lock: aDelayedMutex, nextWaiter: aDelayedMutex, ahead: []maker{aDelayedMutex}, delay: true}
	readKind          = kind{name: "read", lock: aReadLock, nextWaiter: aWriteLock, ahead: []maker{aWriteLock}, local: true}
	writeKind         = kind{name: "write", lock: aWriteLock, nextWaiter: aWriteLock, ahead: []maker{aReadLock, aReadLock}, local: true}
	plainReadKind     = kind{name: "read with the plain protocol", lock: aPlainReadLock, nextWaiter: aWriteLock, ahead: []maker{aWriteLock}, plain: true, local: true}
	// behindWriter differs from writeKind in what it waits for.
	behindWriter  = kind{name: "write behind write", lock: aWriteLock, nextWaiter: aReadLock, ahead: []maker{aWriteLock}, local: true}
	semaphoreKind = kind{
		name: "semaphore", lock: aSemaphore, nextWaiter: aSemaphore,
		beside: []maker{aSemaphore}, ahead: []maker{aSemaphore, aSemaphore}, local: true,
	}
	plainSemaphoreKind = kind{
		name: "semaphore with the plain protocol", lock: aPlainSemaphore, nextWaiter: aSemaphore, local: true,
		beside: []maker{aSemaphore}, ahead: []maker{aSemaphore, aSemaphore}, plain: true,
	}
	// twoKind takes two leases of three at once. While it waits one is free, which is not
	// enough.
	twoKind = kind{
		name: "two of a semaphore", lock: two(aSemaphore3), nextWaiter: two(aSemaphore3), leases: 2,
		beside: []maker{aSemaphore3}, ahead: []maker{aSemaphore3, aSemaphore3},
	}
	// sharedKind has its maximum from a node.
	sharedKind = kind{
		name: "semaphore v2 with a shared count", lock: aSharedV2, nextWaiter: aV2, v2: true, watches: 1, local: true,
		beside: []maker{aV2}, ahead: []maker{aV2, aV2},
	}
	twoV2Kind = kind{
		name: "two of a semaphore v2", lock: two(aV2of3), nextWaiter: two(aV2of3), leases: 2, v2: true,
		beside: []maker{aV2of3}, ahead: []maker{aV2of3, aV2of3},
	}
	semaphoreMutexKind = kind{
		name: "semaphore mutex", lock: aSemaphoreMutex, nextWaiter: aSemaphoreMutex, ahead: []maker{aSemaphoreMutex}, v2: true, local: true,
	}
	// downgradeKind is a read lock that was a write lock; it never waits.
	downgradeKind      = kind{name: "downgrade", lock: aDowngrade, nextWaiter: aWriteLock}
	plainDowngradeKind = kind{name: "downgrade with the plain protocol", lock: aPlainDowngrade, nextWaiter: aWriteLock, plain: true, local: true}
	// handedKind is a mutex that another goroutine of the client has handed over.
	handedKind = kind{name: "handed over", lock: aHandedMutex, nextWaiter: aMutex, local: true}
)

// The kinds that a state of an acquisition is tested with.
var (
	plainKinds = []kind{mutexKind, handoverKind, maxHoldKind, delayKind, readKind, writeKind, semaphoreKind, twoKind, sharedKind, twoV2Kind, semaphoreMutexKind}
	multiKinds = []kind{multiKind("first", 0), multiKind("middle", 1), multiKind("last", 2)}
	creators   = slices.Concat(plainKinds, multiKinds)
	waiters    = append([]kind{plainProtocolKind, plainReadKind, plainSemaphoreKind, behindWriter}, creators...)
	holders    = append([]kind{plainProtocolKind, downgradeKind, plainDowngradeKind, handedKind}, creators...)
)

func aMulti(e *env, c *framework.Client) locks.InterProcessLock { return e.multi(c) }

// multi returns the multi lock of multiKind. Who gives up waits for the part that is not there
// yet and then for those that are: both together for less than the session's timeout.
func (e *env) multi(c *framework.Client, opts ...locks.MutexOption) locks.InterProcessLock {
	e.t.Helper()
	opts = append([]locks.MutexOption{locks.WithReleaseTimeout(suite.SessionTimeout / 4)}, opts...)
	var parts []locks.InterProcessLock
	for _, dir := range multiDirs {
		parts = append(parts, e.mutexAt(dir, c, opts...))
	}
	return suite.Got(locks.NewInterProcessMultiLock(parts...)).OK(e.t)
}

func aReadLock(e *env, c *framework.Client) locks.InterProcessLock { return e.rw(c).ReadLock() }

func aPlainReadLock(e *env, c *framework.Client) locks.InterProcessLock {
	return e.rw(c, locks.WithPlainProtocol()).ReadLock()
}

func aWriteLock(e *env, c *framework.Client) locks.InterProcessLock { return e.rw(c).WriteLock() }

func aSemaphore(e *env, c *framework.Client) locks.InterProcessLock { return e.semaphore(c, 2) }

func aPlainSemaphore(e *env, c *framework.Client) locks.InterProcessLock {
	return e.semaphore(c, 2, locks.WithPlainProtocol())
}

func aSemaphore3(e *env, c *framework.Client) locks.InterProcessLock { return e.semaphore(c, 3) }

func aDowngrade(e *env, c *framework.Client) locks.InterProcessLock { return &downgrade{rw: e.rw(c)} }

func aPlainDowngrade(e *env, c *framework.Client) locks.InterProcessLock {
	return &downgrade{rw: e.rw(c, locks.WithPlainProtocol())}
}

func aV2(e *env, c *framework.Client) locks.InterProcessLock {
	return e.v2(locks.NewInterProcessSemaphoreV2(c, e.path, 2))
}

func aV2of3(e *env, c *framework.Client) locks.InterProcessLock {
	return e.v2(locks.NewInterProcessSemaphoreV2(c, e.path, 3))
}

// aSharedV2 follows a count of 2, by the same client.
func aSharedV2(e *env, c *framework.Client) locks.InterProcessLock {
	e.t.Helper()
	path := e.b.Path("count")
	data := binary.BigEndian.AppendUint32(nil, 2)
	suite.Got(e.observer.Create().OrSetData().CreatingParentsIfNeeded().WithData(data).ForPath(e.t.Context(), path)).OK(e.t)
	count, err := shared.NewCount(c, path, 0, shared.WithoutCreate())
	if err == nil {
		err = count.Start(e.t.Context())
	}
	if err != nil {
		e.t.Fatal(err)
	}
	end := func() { _ = count.Close(context.Background()) } // its client may be closed
	e.atEnd = append(e.atEnd, end)
	e.t.Cleanup(end) // of a test that fails
	return e.v2(locks.NewInterProcessSemaphoreV2WithCount(c, e.path, count))
}

func aSemaphoreMutex(e *env, c *framework.Client) locks.InterProcessLock {
	e.t.Helper()
	return suite.Got(locks.NewInterProcessSemaphoreMutex(c, e.path)).OK(e.t)
}

func (e *env) v2(s *locks.InterProcessSemaphoreV2, err error) *locks.InterProcessSemaphoreV2 {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

// several takes n leases of a semaphore as one. It has no TryAcquire: semaphores try for one lease only.
type several struct {
	counted
	n int
}

func two(of maker) maker {
	return func(e *env, c *framework.Client) locks.InterProcessLock { return several{of(e, c).(counted), 2} }
}

func (s several) Acquire(ctx context.Context) (*locks.Lease, error) { return s.AcquireN(ctx, s.n) }

func (s several) TryAcquire(context.Context) (*locks.Lease, error) {
	return nil, fmt.Errorf("a test tries for %d leases of a semaphore at once", s.n)
}

// tries tells whether the kind has a TryAcquire that takes what Acquire takes.
func (k kind) tries() bool { return k.leases <= 1 || k.multi }

func (e *env) rw(client *framework.Client, opts ...locks.ReadWriteLockOption) *locks.InterProcessReadWriteLock {
	e.t.Helper()
	return suite.Got(locks.NewInterProcessReadWriteLock(client, e.path, opts...)).OK(e.t)
}

func (e *env) semaphore(client *framework.Client, n int, opts ...locks.SemaphoreOption) *locks.InterProcessSemaphore {
	e.t.Helper()
	return suite.Got(locks.NewInterProcessSemaphore(client, e.path, n, opts...)).OK(e.t)
}

// otherClient returns a client with a sound network.
func (e *env) otherClient() *framework.Client {
	e.t.Helper()
	client, _ := e.b.Client(e.t)
	return client
}

// downgrade is a read lock that is taken by way of the write lock.
type downgrade struct {
	rw      *locks.InterProcessReadWriteLock
	between func() // while the write lock is held
}

func (d *downgrade) Acquire(ctx context.Context) (*locks.Lease, error) {
	write, err := d.rw.WriteLock().Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if d.between != nil {
		d.between()
	}
	read, err := d.rw.Downgrade(ctx, write)
	if err != nil {
		return nil, errors.Join(err, write.Release(ctx)) // it is held still, unless it is lost
	}
	return read, nil
}

func (d *downgrade) TryAcquire(ctx context.Context) (*locks.Lease, error) { return d.Acquire(ctx) }

// Mutexes with options.

func aMutex(e *env, c *framework.Client) locks.InterProcessLock { return e.lock(c) }

func aPlainMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithPlainProtocol())
}

func aHandoverMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLocalHandover(2))
}

func aLimitedMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithMaxHold(time.Minute))
}

// The others wait for the delay after a holder is lost; nobody waits for it without need, or the
// test would take longer than the waits of its own.
func aDelayedMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLockDelay(10*time.Millisecond))
}

func aHandedMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return &handed{mutex: e.lock(c, locks.WithLocalHandover(1)), e: e}
}

func aMutexAt(dir string) maker {
	return func(e *env, c *framework.Client) locks.InterProcessLock { return e.mutexAt(dir, c) }
}

func (e *env) mutexAt(dir string, c *framework.Client, opts ...locks.MutexOption) *locks.InterProcessMutex {
	e.t.Helper()
	return mutexAtPath(e.t, c, e.path+dir, opts...)
}

// handed is a mutex that is taken by way of another goroutine, which hands it over.
type handed struct {
	e       *env
	mutex   *locks.InterProcessMutex
	between func() // while the other one holds it
}

func (h *handed) Acquire(ctx context.Context) (*locks.Lease, error) {
	first, err := h.mutex.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if h.between != nil {
		h.between()
	}
	second := h.e.start(ctx, h.mutex)
	suite.Eventually(h.e.t, "the other goroutine's place in the line", func() bool { return locks.InLine(h.mutex) == 1 })
	err = first.Release(ctx)
	<-second.done
	if second.lease.Token() != first.Token() && second.err == nil {
		h.e.t.Error("the lock was not handed over")
	}
	return second.lease, errors.Join(err, second.err)
}

func (h *handed) TryAcquire(ctx context.Context) (*locks.Lease, error) { return h.Acquire(ctx) }

// aBoundedHandoverMutex and aBoundedDelayMutex have all that goes on in the background.
func aBoundedHandoverMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLocalHandover(3), locks.WithMaxHold(2*time.Second))
}

func aBoundedDelayMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLockDelay(50*time.Millisecond), locks.WithMaxHold(2*time.Second))
}
