package locks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

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

// virtually runs test in virtual time alone.
func virtually(t *testing.T, test func(t *testing.T, e *env), opts ...framework.Option) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(t, newEnv(t, b, opts...)) })
}

func (e *env) lock(client *framework.Client, opts ...locks.MutexOption) *locks.InterProcessMutex {
	e.t.Helper()
	mutex := suite.Got(locks.NewInterProcessMutex(client, e.path, opts...)).OK(e.t)
	return mutex
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

// acquisition is an Acquire on its way.
type acquisition struct {
	lease *locks.Lease
	err   error
	done  chan struct{}
}

func (e *env) start(ctx context.Context, lock locks.InterProcessLock) *acquisition {
	a := &acquisition{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.lease, a.err = lock.Acquire(ctx)
	}()
	return a
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
	lease := suite.Got(lock.Acquire(e.t.Context())).OK(e.t)
	return lease
}

func (e *env) granted(a *acquisition) *locks.Lease {
	e.t.Helper()
	<-a.done
	if a.err != nil {
		e.t.Fatal(a.err)
	}
	return a.lease
}

func (e *env) release(lease *locks.Lease) {
	e.t.Helper()
	suite.OK(e.t, lease.Release(e.t.Context()))
}

// lost waits for the end of the lease and checks the reason.
func (e *env) lost(lease *locks.Lease, want locks.LossReason) {
	e.t.Helper()
	<-lease.Context().Done()
	var loss *locks.LossError
	if err := lease.Err(); !errors.As(err, &loss) || loss.Reason != want {
		e.t.Fatalf("lease ended with %v, want %v", err, want)
	}
}
