package locks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
)

// fixture is a lock of some kind among others.
type fixture struct {
	*env
	kind       kind
	lock       locks.InterProcessLock
	others     []*locks.Lease // held beside or ahead of it
	nextWaiter *acquisition   // waits while it is held; nil until there is one
}

// eachKind runs test for every kind of lock, in parallel with other tests, on the backends that have
// something to add. When it returns, the others give up what they hold, the nextWaiter must get in, and
// nothing may be left at the server.
func eachKind(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture), opts ...framework.Option) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel() // on a real server most of a test is waiting
			suite.EachOf(t, k.on(), k.with(test, opts))
		})
	}
}

// eachKindVirtually is eachKind with a real server for one kind only: for tests that do little but wait
// for a session to end, which takes long in real time, and for those that ask the same of the server
// whatever the kind is.
func eachKindVirtually(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture), opts ...framework.Option) {
	t.Parallel()
	for _, k := range kinds {
		on := suite.InVirtualTime
		if k.name == mutexKind.name {
			on |= suite.OnRealServer
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			suite.EachOf(t, on, k.with(test, opts))
		})
	}
}

// on returns the backends that a kind is tested on.
func (k kind) on() suite.Backends {
	if k.local {
		return suite.InVirtualTime
	}
	return withRealServer
}

// with returns the test of one kind on one backend.
func (k kind) with(test func(t *testing.T, f *fixture), opts []framework.Option) func(t *testing.T, b *suite.Backend) {
	return func(t *testing.T, b *suite.Backend) {
		k.leases = max(k.leases, 1)
		f := &fixture{env: newEnv(t, b, opts...), kind: k}
		f.lock = k.lock(f.env, f.client)
		test(t, f)
		f.finish()
	}
}

// soundClient returns a client of somebody else's, with a sound network.
func (f *fixture) soundClient() *framework.Client {
	f.t.Helper()
	client := f.otherClient()
	suite.OK(f.t, client.BlockUntilConnected(f.t.Context()))
	f.otherSessions = append(f.otherSessions, client.SessionID())
	return client
}

// take acquires the lock that is tested.
func (f *fixture) take() *locks.Lease {
	f.t.Helper()
	return f.acquire(f.lock)
}

// prepare has the parents of all nodes made.
func (f *fixture) prepare() {
	f.t.Helper()
	f.env.release(f.take())
}

// startHoldersBeside has the others that are not in the lock's way hold theirs.
func (f *fixture) startHoldersBeside() {
	f.t.Helper()
	f.startHolders(f.kind.beside)
}

// hold acquires the lock that is tested, as one of as many as there may be, and has a
// nextWaiter wait for it.
func (f *fixture) hold() *locks.Lease {
	f.t.Helper()
	f.startHoldersBeside()
	switch l := f.lock.(type) {
	case *downgrade:
		l.between = f.follow
		return f.take()
	case *handed:
		l.between = f.follow
		return f.take()
	}
	lease := f.take()
	f.follow()
	return lease
}

// follow has a nextWaiter join the end of the queue.
func (f *fixture) follow() {
	f.t.Helper()
	dir := f.kind.dirs()[f.kind.contended]
	if f.kind.v2 && len(f.below("/locks")) > 0 {
		dir = "/locks" // behind the one who waits
	}
	n := len(f.below(dir))
	f.nextWaiter = f.start(f.t.Context(), f.kind.nextWaiter(f.env, f.soundClient()))
	suite.Eventually(f.t, "the nextWaiter's place", func() bool { return len(f.below(dir)) > n })
}

// wait has others take the lock, and the lock that is tested wait: it has set its watches when
// wait returns.
func (f *fixture) wait(ctx context.Context) *acquisition {
	f.t.Helper()
	f.startHolders(f.kind.ahead)
	a := f.start(ctx, f.lock)
	f.untilWaiting()
	return a
}

// untilWaiting waits until the lock that is tested has its place in the queue, and watches
// whom it waits for.
func (f *fixture) untilWaiting() {
	f.t.Helper()
	watches := 2 + f.kind.watches // the own node and one ahead
	switch {
	case f.kind.multi:
		watches = 2 + f.kind.contended // and the nodes of what it has
	case f.kind.v2:
		watches = 1 + 1 + f.kind.leases - 1 + f.kind.watches // the leases, the mutex, and what it has of them
	}
	suite.Eventually(f.t, "the lock that is tested to wait", func() bool {
		conn, err := zkclient.Of(f.client).Conn()
		return err == nil && len(f.ours()) == f.kind.queued() && conn.Watches() >= watches
	})
}

func (f *fixture) startHolders(by []maker) {
	f.t.Helper()
	for _, m := range by {
		f.others = append(f.others, f.acquire(m(f.env, f.soundClient())))
	}
}

// releaseHolders has the others release what they hold.
func (f *fixture) releaseHolders() {
	f.t.Helper()
	for _, lease := range f.others {
		f.env.release(lease)
	}
	f.others = nil
}

// all returns the paths of everybody's nodes: of the mutex of Java's layout, and of leases.
func (f *fixture) all() (gates, leases []string) {
	f.t.Helper()
	for _, dir := range f.kind.dirs() {
		leases = append(leases, f.below(dir)...)
	}
	if f.kind.v2 {
		gates = f.below("/locks")
	}
	return gates, leases
}

// ours returns the paths of the nodes of the tested lock's leases: no soundClient owns them.
func (f *fixture) ours() []string {
	f.t.Helper()
	_, leases := f.all()
	return f.oursOf(leases)
}

func (f *fixture) oursOf(paths []string) []string {
	f.t.Helper()
	return slices.DeleteFunc(paths, func(path string) bool {
		var stat framework.Stat
		exists := suite.Got(f.observer.CheckExists().StoringStatIn(&stat).ForPath(context.Background(), path)).OK(f.t)
		return !exists || slices.Contains(f.otherSessions, stat.EphemeralOwner)
	})
}

// wantOurs fails unless the tested lock has the nodes of a lease.
func (f *fixture) wantOurs() []string {
	f.t.Helper()
	return f.wantOf(f.kind.leases)
}

// wantQueued fails unless the tested lock has the nodes of one that waits.
func (f *fixture) wantQueued() []string {
	f.t.Helper()
	return f.wantOf(f.kind.queued())
}

func (f *fixture) wantOf(n int) []string {
	f.t.Helper()
	paths := f.ours()
	if len(paths) != n {
		f.t.Fatalf("nodes %q of the lock that is tested, want %d", paths, n)
	}
	return paths
}

// contended returns those of the tested lock's nodes that others wait for.
func (f *fixture) contended(ours []string) []string {
	if f.kind.multi {
		return ours[f.kind.contended : f.kind.contended+1]
	}
	return ours
}

// wantNone fails if the tested lock has a node, be it that of its mutex.
func (f *fixture) wantNone() {
	f.t.Helper()
	if gates, leases := f.all(); len(f.oursOf(gates))+len(f.oursOf(leases)) > 0 {
		f.t.Fatalf("nodes %q and %q of the lock that is tested", f.oursOf(gates), f.oursOf(leases))
	}
}

func (f *fixture) untilNone() {
	f.t.Helper()
	suite.Eventually(f.t, "the nodes of the lock that is tested to go", func() bool {
		gates, leases := f.all()
		return len(f.oursOf(gates))+len(f.oursOf(leases)) == 0
	})
}

// untilOthers waits until the waiter has other nodes in the queue than old.
func (f *fixture) untilOthers(old []string) (paths []string) {
	f.t.Helper()
	suite.Eventually(f.t, "other nodes in the queue", func() bool {
		gates, leases := f.all()
		if f.kind.v2 && len(f.oursOf(gates)) == 0 {
			return false // a lease without the mutex is given back
		}
		paths = f.oursOf(leases)
		return len(paths) == f.kind.queued() && !slices.ContainsFunc(paths, func(path string) bool { return slices.Contains(old, path) })
	})
	return paths
}

// wantPaths fails unless these are the nodes of the lease.
func (f *fixture) wantPaths(lease *locks.Lease, want []string) {
	f.t.Helper()
	var got []string
	for _, part := range append(lease.Parts(), lease) {
		if part.Path() != "" {
			got = append(got, part.Path())
		}
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		f.t.Fatalf("lease on %q, want %q", got, want)
	}
}

// onCreate sets the fate of the request that makes the last of the nodes.
func (f *fixture) onCreate(fate suite.Fate, then func()) (hit <-chan struct{}) {
	if f.kind.grouped() {
		return f.network.On(jute.OpMulti, fate, then)
	}
	before := f.kind.contended
	if f.kind.v2 {
		before = f.kind.leases // the mutex's, and those of the leases before
	}
	return f.on(jute.OpCreate2, before, fate, then)
}

// onDelete sets the fate of the request that deletes the node that others wait for.
func (f *fixture) onDelete(fate suite.Fate, then func()) (hit <-chan struct{}) {
	before := 0
	if f.kind.multi {
		before = f.kind.leases - 1 - f.kind.contended
	}
	return f.on(f.kind.deletes(), before, fate, then)
}

// on sets the fate of a request behind so many others.
func (f *fixture) on(op jute.Op, before int, fate suite.Fate, then func()) (hit <-chan struct{}) {
	for range before {
		f.network.On(op, suite.Late, nil)
	}
	return f.network.On(op, fate, then)
}

// onArming sets the fate of the request that sets the watches of a waiter.
func (f *fixture) onArming(fate suite.Fate) (hit <-chan struct{}) {
	if !f.kind.v2 {
		op := jute.OpSetWatches
		if f.kind.plain {
			op = jute.OpGetData
		}
		return f.network.On(op, fate, nil)
	}
	return f.on(jute.OpGetChildren2, 2+f.kind.leases, fate, nil) // the first look at the path, and those of the creates
}

// release releases the lock that is tested, until which the nextWaiter must wait.
func (f *fixture) release(lease *locks.Lease) {
	f.t.Helper()
	f.waiting(f.nextWaiter)
	f.env.release(lease)
	f.succeed()
}

// succeed waits for the nextWaiter, who gets in when the lock is given up.
func (f *fixture) succeed() {
	f.t.Helper()
	f.env.release(f.granted(f.nextWaiter))
	f.nextWaiter = nil
}

// getsIn has the others release what they hold, and wants the waiter let in with its nodes.
func (f *fixture) getsIn(a *acquisition, paths []string) {
	f.t.Helper()
	f.releaseHolders()
	lease := f.granted(a)
	now := f.wantOurs()
	f.wantPaths(lease, now)
	if f.keepsPlace() && !slices.Equal(now[:len(paths)], paths) {
		f.t.Fatalf("let in with %q, waited with %q", now, paths)
	}
	f.env.release(lease)
}

// keepsPlace tells whether a waiter keeps its nodes when the connection breaks. Under the
// standard policy it loses the leases that it has got already, of several one by one, and
// takes all of them again.
func (f *fixture) keepsPlace() bool {
	if f.kind.multi {
		return f.kind.contended == 0
	}
	return !f.kind.v2 || f.kind.leases == 1
}

// finish ends the others and looks for what is left.
func (f *fixture) finish() {
	f.t.Helper()
	f.releaseHolders()
	if f.nextWaiter != nil {
		f.succeed()
	}
	for _, end := range f.atEnd {
		end()
	}
	suite.Eventually(f.t, "all nodes to go", func() bool {
		gates, leases := f.all()
		return len(gates)+len(leases) == 0
	})
	if f.kind.delay { // the last holder deletes the record
		f.env.release(f.acquire(f.kind.nextWaiter(f.env, f.soundClient())))
		if left, err := f.observer.CheckExists().ForPath(context.Background(), f.path+".holder"); err != nil || left {
			f.t.Errorf("the trace of a holder is left: %t, %v", left, err)
		}
	}
	f.untilNoWatches()
	if n := len(zkclient.Of(f.client).Held()); n != 0 {
		f.t.Errorf("%d hooks on the session are left", n)
	}
}
