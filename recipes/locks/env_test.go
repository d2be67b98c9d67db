package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// env is what a test of one lock needs: a client with faults, the lock on it, and an
// observer whose network is sound.
type env struct {
	t        *testing.T
	b        *suite.Backend
	path     string
	client   *framework.Client
	network  *suite.Network
	mutex    *locks.InterProcessMutex
	observer *framework.Client

	otherSessions []int64  // the sessions of others' clients, where that matters
	atEnd         []func() // ends what the test does not
}

// withRealServer is where a test runs whose claim includes what a server does. What is a matter of the
// client alone is tested in virtual time alone. Over TCP the embedded server does what it does in virtual
// time: two tests of the mutex show that, and the tests of its own.
const withRealServer = suite.InVirtualTime | suite.OnRealServer

var sessionPolicy = framework.WithErrorPolicy(state.SessionErrorPolicy())

func newEnv(t *testing.T, b *suite.Backend, opts ...framework.Option) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("lock")}
	e.observer, _ = b.Client(t)
	e.client, e.network = b.Client(t, opts...)
	e.mutex = e.lock(e.client)
	suite.OK(t, e.client.BlockUntilConnected(t.Context()))
	return e
}

// onBackends runs test on some backends, as a subtest each. The options are those of the client that has faults.
func onBackends(t *testing.T, on suite.Backends, test func(t *testing.T, e *env), opts ...framework.Option) {
	suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) { test(t, newEnv(t, b, opts...)) })
}

// onReleases is onBackends with suite.EachRelease.
func onReleases(t *testing.T, on suite.Backends, test func(t *testing.T, e *env)) {
	suite.EachRelease(t, on, func(t *testing.T, b *suite.Backend) { test(t, newEnv(t, b)) })
}

// virtually runs test in virtual time alone.
func virtually(t *testing.T, test func(t *testing.T, e *env), opts ...framework.Option) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(t, newEnv(t, b, opts...)) })
}

func (e *env) lock(client *framework.Client, opts ...locks.MutexOption) *locks.InterProcessMutex {
	e.t.Helper()
	return suite.Got(locks.NewInterProcessMutex(client, e.path, opts...)).OK(e.t)
}

// other returns a lock on a client of its own.
func (e *env) other(opts ...locks.MutexOption) *locks.InterProcessMutex {
	e.t.Helper()
	client, _ := e.b.Client(e.t)
	return e.lock(client, opts...)
}

// nodes returns the names of the contenders, in order.
func (e *env) nodes() []string {
	e.t.Helper()
	return e.names("")
}

// names returns the names of the nodes in a directory of the lock, in order.
func (e *env) names(dir string) []string {
	e.t.Helper()
	names, err := e.observer.GetChildren().ForPath(context.Background(), e.path+dir)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	return names
}

// below returns the paths of the contenders' nodes in a directory of the lock, in order.
func (e *env) below(dir string) []string {
	e.t.Helper()
	names := e.names(dir)
	for i, name := range names {
		names[i] = e.path + dir + "/" + name
	}
	return names
}

// number returns the server's number at the end of a name.
func number(name string) string { return name[max(0, len(name)-10):] }

func (e *env) wantNodes(n int) []string {
	e.t.Helper()
	names := e.nodes()
	if len(names) != n {
		e.t.Fatalf("%d nodes at the lock, want %d: %q", len(names), n, names)
	}
	return names
}

// untilNodes waits until the lock has n nodes.
func (e *env) untilNodes(n int) {
	e.t.Helper()
	suite.Eventually(e.t, "the number of nodes at the lock", func() bool { return len(e.nodes()) == n })
}

// untilWatches waits until the server has as many watches as ok says. A real server does
// not tell: it has those of other tests, too.
func (e *env) untilWatches(what string, ok func(n int) bool) {
	e.t.Helper()
	if e.b.Name != "real" {
		suite.Eventually(e.t, "watches: "+what, func() bool { return ok(e.b.Watches()) })
	}
}

// untilNoWatches waits until the server has no watch any more, as far as it tells.
func (e *env) untilNoWatches() {
	e.t.Helper()
	suite.Eventually(e.t, "no watch is left", func() bool { return e.b.WatchesLeft() == 0 })
}

// acquisition is an Acquire on its way.
type acquisition struct {
	lease *locks.Lease
	err   error
	done  chan struct{}
}

func acquiring(ctx context.Context, lock locks.InterProcessLock) *acquisition {
	a := &acquisition{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.lease, a.err = lock.Acquire(ctx)
	}()
	return a
}

// over tells whether it has ended.
func (a *acquisition) over() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (e *env) start(ctx context.Context, lock locks.InterProcessLock) *acquisition {
	return acquiring(ctx, lock)
}

// queue starts an Acquire and waits until its node is the nth.
func (e *env) queue(ctx context.Context, lock locks.InterProcessLock, n int) *acquisition {
	e.t.Helper()
	a := e.start(ctx, lock)
	e.untilNodes(n)
	return a
}

func (e *env) acquire(lock locks.InterProcessLock) *locks.Lease {
	e.t.Helper()
	return e.acquireFrom(e.t.Context(), lock)
}

func (e *env) acquireFrom(ctx context.Context, lock locks.InterProcessLock) *locks.Lease {
	e.t.Helper()
	return suite.Got(lock.Acquire(ctx)).OK(e.t)
}

// waiting fails if an acquisition is over.
func (e *env) waiting(all ...*acquisition) {
	e.t.Helper()
	for _, a := range all {
		if a.over() {
			e.t.Fatalf("let in or failed: %q, %v", a.lease.Path(), a.err)
		}
	}
}

func (e *env) granted(a *acquisition) *locks.Lease {
	e.t.Helper()
	e.await("the lock is granted", a.done)
	if a.err != nil {
		e.t.Fatal(a.err)
	}
	return a.lease
}

// await waits for what is to be done, or fails the test.
func (e *env) await(what string, done <-chan struct{}) {
	e.t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		e.t.Fatalf("waited in vain: %s", what)
	}
}

func (e *env) release(lease *locks.Lease) {
	e.t.Helper()
	suite.OK(e.t, lease.Release(e.t.Context()))
}

// lost waits for the end of the lease and checks the reason.
func (e *env) lost(lease *locks.Lease, want locks.LossReason) {
	e.t.Helper()
	e.await(fmt.Sprint("the lease ends: ", want), lease.Context().Done())
	if err := lease.Err(); !lostFor(err, want) {
		e.t.Fatalf("lease ended with %v, want %v", err, want)
	}
}

// lostFor tells whether err says that a lock was lost for a reason.
func lostFor(err error, want locks.LossReason) bool {
	var loss *locks.LossError
	return errors.As(err, &loss) && loss.Reason == want
}

func wantLoss(t *testing.T, err error, want locks.LossReason) {
	t.Helper()
	if !lostFor(err, want) {
		t.Errorf("%v, want a loss by %v", err, want)
	}
}

// delete is what an operator does. A failure ends the test at once: what the test waits for next would not come.
func (e *env) delete(paths ...string) {
	e.t.Helper()
	for _, path := range paths {
		suite.OK(e.t, e.observer.Delete().ForPath(context.Background(), path))
	}
}

// deleteMeanwhile is delete for the callbacks of a network, which are not on the test's goroutine.
func (e *env) deleteMeanwhile(paths ...string) {
	e.t.Helper()
	for _, path := range paths {
		suite.Check(e.t, e.observer.Delete().ForPath(context.Background(), path))
	}
}

// bounded returns a context of the test that ends after a time.
func bounded(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
