package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
)

// leasedOnRealServer has the faults of which a server decides what becomes, in whatever state.
var leasedOnRealServer = map[string]bool{
	"mutex reply lost": true, "lease reply lost": true, "reply lost": true, "lease expired": true, "session expired": true,
	"lease deleted": true, "mutex deleted": true,
}

// leasedEnv is what a test of a semaphore in Java's layout needs.
type leasedEnv struct {
	*env
	most      int
	semaphore *locks.InterProcessSemaphoreV2 // of client
}

func newLeasedEnv(t *testing.T, b *suite.Backend, most int, opts ...framework.Option) *leasedEnv {
	t.Helper()
	e := &leasedEnv{env: newEnv(t, b, opts...), most: most}
	e.semaphore = e.open(e.client)
	e.release(e.acquire(e.semaphore)) // the parents are there
	return e
}

func (e *leasedEnv) open(client *framework.Client, opts ...locks.SemaphoreOption) *locks.InterProcessSemaphoreV2 {
	e.t.Helper()
	return suite.Got(locks.NewInterProcessSemaphoreV2(client, e.path, e.most, opts...)).OK(e.t)
}

// another returns the semaphore on a client of its own.
func (e *leasedEnv) another() *locks.InterProcessSemaphoreV2 {
	e.t.Helper()
	client, _ := e.b.Client(e.t)
	return e.open(client)
}

// full returns all leases, taken by a client of their own.
func (e *leasedEnv) full() *locks.Lease {
	e.t.Helper()
	return suite.Got(e.another().AcquireN(e.t.Context(), e.most)).OK(e.t)
}

// soon is a context for what must succeed, so that it fails rather than hang.
func (e *leasedEnv) soon() context.Context {
	ctx, cancel := context.WithTimeout(e.t.Context(), 20*time.Second)
	e.t.Cleanup(cancel)
	return ctx
}

// below returns the names of the children of "locks" or of "leases", in order.
func (e *leasedEnv) below(dir string) []string {
	e.t.Helper()
	return e.names("/" + dir)
}

// have fails if there are other than so many nodes, now.
func (e *leasedEnv) have(gates, leases int) {
	e.t.Helper()
	if g, l := e.below("locks"), e.below("leases"); len(g) != gates || len(l) != leases {
		e.t.Fatalf("nodes %q and %q, want %d and %d", g, l, gates, leases)
	}
}

// until waits until there are so many nodes.
func (e *leasedEnv) until(gates, leases int) {
	e.t.Helper()
	suite.Eventually(e.t, "the number of nodes", func() bool {
		return len(e.below("locks")) == gates && len(e.below("leases")) == leases
	})
}

// await is wait for the semaphore of client, and returns when that has seen that it must
// wait: it has looked at the mutex, at the leases with its own, and at them once more, with a watch.
func (e *leasedEnv) await(ctx context.Context) *acquisition {
	e.t.Helper()
	looks := e.network.Requests(jute.OpGetChildren2) + 3
	a := e.wait(ctx, e.semaphore)
	suite.Eventually(e.t, "the last look", func() bool { return e.network.Requests(jute.OpGetChildren2) >= looks })
	suite.Answered(e.t, e.client)
	return a
}

// wait starts an Acquire and waits until its lease is one too many.
func (e *leasedEnv) wait(ctx context.Context, s locks.InterProcessLock) *acquisition {
	e.t.Helper()
	a := e.start(ctx, s)
	e.until(1, e.most+1)
	return a
}

// remove deletes a node as an operator would.
func (e *leasedEnv) remove(dir, name string) {
	e.t.Helper()
	e.delete(e.path + "/" + dir + "/" + name)
}

// other waits until the last of the leases is another than old.
func (e *leasedEnv) other(old string) {
	e.t.Helper()
	suite.Eventually(e.t, "another node", func() bool {
		names := e.below("leases")
		return len(names) == e.most+1 && names[e.most] != old
	})
}

// intact fails if something is left when nobody wants a lease any more: a node, a watch, or
// fewer leases than there were.
func (e *leasedEnv) intact() {
	e.t.Helper()
	e.until(0, 0)
	if conn, err := zkclient.Of(e.client).Conn(); err == nil {
		suite.Eventually(e.t, "no watch to be left", func() bool { return conn.Watches() == 0 })
	}
	s := e.another()
	var leases []*locks.Lease
	for range e.most {
		lease, err := s.TryAcquire(e.t.Context())
		if err != nil {
			e.t.Fatalf("lease %d of %d: %v", len(leases)+1, e.most, err)
		}
		leases = append(leases, lease)
	}
	suite.Got(s.TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
	e.have(0, e.most)
	for _, lease := range leases {
		e.release(lease)
	}
	e.have(0, 0)
}
