package locks_test

import (
	"context"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// kind is a kind of lock, for the tests that every kind must pass.
type kind struct {
	name string
	// lock makes the lock that is tested, rival one that waits while it is held.
	lock, rival func(e *env, client *framework.Client) locks.InterProcessLock
	// beside are held by others all the time, and are not in its way.
	beside []maker
	// ahead are held by others, and it waits while they are.
	ahead []maker
}

type maker = func(e *env, client *framework.Client) locks.InterProcessLock

var (
	mutexKind = kind{name: "mutex", lock: aMutex, rival: aMutex, ahead: []maker{aMutex}}
	readKind  = kind{name: "read", lock: aReadLock, rival: aWriteLock, ahead: []maker{aWriteLock}}
	writeKind = kind{name: "write", lock: aWriteLock, rival: aWriteLock, ahead: []maker{aReadLock, aReadLock}}
	// behindWriter differs from writeKind in what it waits for.
	behindWriter  = kind{name: "write behind write", lock: aWriteLock, rival: aReadLock, ahead: []maker{aWriteLock}}
	semaphoreKind = kind{
		name: "semaphore", lock: aSemaphore, rival: aSemaphore,
		beside: []maker{aSemaphore}, ahead: []maker{aSemaphore, aSemaphore},
	}
	// downgradeKind is a read lock that was a write lock; it never waits.
	downgradeKind = kind{name: "downgrade", lock: aDowngrade, rival: aWriteLock}
)

// The kinds that a state of an acquisition is tested with.
var (
	creators = []kind{mutexKind, readKind, writeKind, semaphoreKind}
	waiters  = []kind{mutexKind, readKind, writeKind, behindWriter, semaphoreKind}
	holders  = []kind{mutexKind, readKind, writeKind, semaphoreKind, downgradeKind}
)

func aMutex(e *env, c *framework.Client) locks.InterProcessLock { return e.lock(c) }

func aReadLock(e *env, c *framework.Client) locks.InterProcessLock { return e.rw(c).ReadLock() }

func aWriteLock(e *env, c *framework.Client) locks.InterProcessLock { return e.rw(c).WriteLock() }

func aSemaphore(e *env, c *framework.Client) locks.InterProcessLock { return e.semaphore(c, 2) }

func aDowngrade(e *env, c *framework.Client) locks.InterProcessLock { return &downgrade{rw: e.rw(c)} }

func (e *env) rw(client *framework.Client, opts ...locks.ReadWriteLockOption) *locks.InterProcessReadWriteLock {
	e.t.Helper()
	rw, err := locks.NewInterProcessReadWriteLock(client, e.path, opts...)
	if err != nil {
		e.t.Fatal(err)
	}
	return rw
}

func (e *env) semaphore(client *framework.Client, n int, opts ...locks.SemaphoreOption) *locks.InterProcessSemaphore {
	e.t.Helper()
	s, err := locks.NewInterProcessSemaphore(client, e.path, n, opts...)
	if err != nil {
		e.t.Fatal(err)
	}
	return s
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
	return d.rw.Downgrade(ctx, write)
}

func (d *downgrade) TryAcquire(ctx context.Context) (*locks.Lease, error) { return d.Acquire(ctx) }

// fixture is a lock of some kind among others.
type fixture struct {
	*env
	kind   kind
	lock   locks.InterProcessLock
	others []*locks.Lease // held beside or ahead of it
	rival  *acquisition   // waits while it is held; nil until there is one
}

// eachKind runs test for every kind of lock on every backend. When it returns, the others
// give up what they hold, the rival must get in, and nothing may be left at the server.
func eachKind(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture), opts ...framework.Option) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { eachBackend(t, k, test, opts) })
	}
}

// eachKindIdly is eachKind for tests that do little but wait for a session to end.
func eachKindIdly(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture), opts ...framework.Option) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, k, test, opts)
		})
	}
}

func eachBackend(t *testing.T, k kind, test func(t *testing.T, f *fixture), opts []framework.Option) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		f := &fixture{env: newEnv(t, b, opts...), kind: k}
		f.lock = k.lock(f.env, f.client)
		test(t, f)
		f.finish()
	})
}

// take acquires the lock that is tested.
func (f *fixture) take() *locks.Lease {
	f.t.Helper()
	return f.acquire(f.lock)
}

// accompany has the others that are not in the lock's way hold theirs.
func (f *fixture) accompany() {
	f.t.Helper()
	f.occupy(f.kind.beside)
}

// hold acquires the lock that is tested, as one of as many as there may be, and has a
// rival wait for it.
func (f *fixture) hold() *locks.Lease {
	f.t.Helper()
	f.accompany()
	if d, ok := f.lock.(*downgrade); ok {
		d.between = f.follow
		return f.take()
	}
	lease := f.take()
	f.follow()
	return lease
}

// follow has a rival join the end of the queue.
func (f *fixture) follow() {
	f.t.Helper()
	n := len(f.nodes())
	f.rival = f.queue(f.t.Context(), f.kind.rival(f.env, f.otherClient()), n+1)
}

// wait has others take the lock, and the lock that is tested wait.
func (f *fixture) wait(ctx context.Context) *acquisition {
	f.t.Helper()
	f.occupy(f.kind.ahead)
	return f.queue(ctx, f.lock, len(f.others)+1)
}

func (f *fixture) occupy(by []maker) {
	f.t.Helper()
	for _, m := range by {
		f.others = append(f.others, f.acquire(m(f.env, f.otherClient())))
	}
}

// yield has the others release what they hold.
func (f *fixture) yield() {
	f.t.Helper()
	for _, lease := range f.others {
		f.env.release(lease)
	}
	f.others = nil
}

// ours returns the names of the tested lock's nodes, which are ahead of the rival's.
func (f *fixture) ours() []string {
	f.t.Helper()
	return f.oursOf(f.nodes())
}

func (f *fixture) oursOf(names []string) []string {
	if f.rival != nil && len(names) > 0 {
		names = names[:len(names)-1]
	}
	return names[min(len(f.others), len(names)):]
}

func (f *fixture) wantOurs(n int) []string {
	f.t.Helper()
	names := f.ours()
	if len(names) != n {
		f.t.Fatalf("%d nodes of the lock that is tested, want %d: %q", len(names), n, names)
	}
	return names
}

func (f *fixture) untilOurs(n int) {
	f.t.Helper()
	suite.Eventually(f.t, "the number of nodes of the lock that is tested", func() bool { return len(f.ours()) == n })
}

// wantWaiting fails if the acquisition is over.
func (f *fixture) wantWaiting(a *acquisition) {
	f.t.Helper()
	select {
	case <-a.done:
		f.t.Fatalf("let in or failed although others are in: %v, %v", a.lease.Path(), a.err)
	default:
	}
}

// release releases the lock that is tested, until which the rival must wait.
func (f *fixture) release(lease *locks.Lease) {
	f.t.Helper()
	f.wantWaiting(f.rival)
	f.env.release(lease)
	f.env.release(f.granted(f.rival))
	f.rival = nil
}

// succeed waits for the rival, who gets in when the lock is lost.
func (f *fixture) succeed() {
	f.t.Helper()
	f.env.release(f.granted(f.rival))
	f.rival = nil
}

// finish ends the others and looks for what is left.
func (f *fixture) finish() {
	f.t.Helper()
	f.yield()
	if f.rival != nil {
		f.succeed()
	}
	f.untilNodes(0)
	f.untilWatches("none left", func(n int) bool { return n == 0 })
}

// untilWatches waits until the server has as many watches as ok says. A real server does
// not tell: it has those of other tests, too.
func (e *env) untilWatches(what string, ok func(n int) bool) {
	e.t.Helper()
	if e.b.Name != "real" {
		suite.Eventually(e.t, "watches: "+what, func() bool { return ok(e.b.Watches()) })
	}
}
