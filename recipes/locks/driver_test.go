package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// changed is Curator's driver with one part replaced.
type changed struct {
	locks.StandardLockInternalsDriver
	create func(framework.CreateBuilder) framework.CreateBuilder
	gets   func(children []string, ours string, maxLeases int) locks.PredicateResults
}

func (c changed) CreatesTheLock(b framework.CreateBuilder) framework.CreateBuilder {
	if c.create == nil {
		return b
	}
	return c.create(b)
}

func (c changed) GetsTheLock(children []string, ours string, maxLeases int) locks.PredicateResults {
	if c.gets == nil {
		return c.StandardLockInternalsDriver.GetsTheLock(children, ours, maxLeases)
	}
	return c.gets(children, ours, maxLeases)
}

// A driver may add to the node; the lock excludes as before.
func TestDriver(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		var seen int
		driver := changed{
			create: func(b framework.CreateBuilder) framework.CreateBuilder { return b.WithData([]byte("mine")) },
			gets: func(children []string, ours string, maxLeases int) locks.PredicateResults {
				seen++
				if !slices.Contains(children, ours) || strings.Contains(ours, "/") || maxLeases != 1 {
					t.Errorf("children %q, ours %q, at most %d", children, ours, maxLeases)
				}
				return locks.StandardLockInternalsDriver{}.GetsTheLock(children, ours, maxLeases)
			},
		}
		lease := e.acquire(e.lock(e.client, locks.WithDriver(driver)))
		data, err := e.observer.GetData().ForPath(t.Context(), lease.Path())
		if err != nil || string(data) != "mine" || seen == 0 {
			t.Errorf("data %q, %v, the driver was asked %d times", data, err, seen)
		}
		waiter := e.queue(t.Context(), e.other(), 2)
		suite.Got(e.lock(e.client, locks.WithDriver(driver)).TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(lease)
		e.release(e.granted(waiter))
	})
}

// A driver that neither lets in nor says what to wait for would hang: it is an error.
func TestDriverThatKnowsNothing(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		driver := changed{gets: func([]string, string, int) locks.PredicateResults { return locks.PredicateResults{} }}
		mutex := e.lock(e.client, locks.WithDriver(driver))
		suite.Got(mutex.Acquire(t.Context())).Fails(t, framework.ErrInvalidOption)
		suite.Got(mutex.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.wantNodes(0)
	})
}

// A driver that watches what is not there looks again, as for a node that has just gone.
func TestDriverThatWatchesWhatIsGone(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		looks := 0
		driver := changed{gets: func(children []string, ours string, n int) locks.PredicateResults {
			if looks++; looks < 3 {
				return locks.PredicateResults{PathsToWatch: []string{"gone-lock-0000000000"}}
			}
			return locks.StandardLockInternalsDriver{}.GetsTheLock(children, ours, n)
		}}
		e.release(e.acquire(e.lock(e.client, locks.WithDriver(driver))))
		if looks != 3 {
			t.Errorf("%d looks, want 3", looks)
		}
		e.wantNodes(0)
	})
}

// Nodes that would not go with their session, or have no place in the queue, are refused
// before they are made.
func TestDriverMakesOtherNodes(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		creates := map[string]func(framework.CreateBuilder) framework.CreateBuilder{
			"no builder":       func(framework.CreateBuilder) framework.CreateBuilder { return framework.CreateBuilder{} },
			"another client's": func(framework.CreateBuilder) framework.CreateBuilder { return e.observer.Create().WithProtection() },
			"unprotected": func(framework.CreateBuilder) framework.CreateBuilder {
				return e.client.Create().WithMode(framework.EphemeralSequential)
			},
		}
		for _, mode := range []framework.CreateMode{framework.Persistent, framework.PersistentSequential, framework.Ephemeral, framework.Container} {
			creates[fmt.Sprintf("mode %v", mode)] = func(b framework.CreateBuilder) framework.CreateBuilder { return b.WithMode(mode) }
		}
		for name, create := range creates {
			mutex := e.lock(e.client, locks.WithDriver(changed{create: create}))
			for _, acquire := range []func(context.Context) (*locks.Lease, error){mutex.Acquire, mutex.TryAcquire} {
				_, err := acquire(t.Context())
				if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "WithDriver") {
					t.Errorf("%s: %v", name, err)
				}
			}
			e.wantNodes(0)
		}
	})
}

// blindDriver is a driver that knows no contender.
type blindDriver struct {
	locks.StandardLockInternalsDriver
	calls  *int
	cancel context.CancelFunc
}

func (d blindDriver) FixForSorting(name, lockName string) string {
	if *d.calls++; *d.calls == 50 {
		d.cancel()
	}
	return "" // "It returns "" for a child that is no contender"
}

// A driver that does not know the names of its own contenders is refused, and not asked for ever.
func TestDriverThatKnowsNobody(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		m := suite.Got(locks.NewInterProcessMutex(s.Client(t), "/lock", locks.WithDriver(blindDriver{calls: &calls, cancel: cancel}))).OK(t)
		suite.Got(m.Acquire(ctx)).Fails(t, framework.ErrInvalidOption)
	})
}

// latchRules are those of a leader latch: the first is in, and nobody marks a release.
type latchRules struct {
	locks.StandardLockInternalsDriver
}

func (r latchRules) Order(name string) string { return r.FixForSorting(name, "latch-") }
func (latchRules) Check([]string) error       { return nil }
func (latchRules) Marks(string) bool          { return false }
func (latchRules) Decide(queue []string, own string) lockqueue.Decision {
	i := slices.Index(queue, own)
	if i <= 0 {
		return lockqueue.Decision{Admitted: i == 0}
	}
	return lockqueue.Decision{Behind: queue[i-1 : i], Next: i == 1}
}

// latch is a recipe that stands on the engine of the locks.
type latch struct {
	client    *framework.Client
	contender *lockqueue.Contender
}

func newLatch(client *framework.Client) *latch {
	in := zkclient.Of(client)
	return &latch{client, lockqueue.New(&lockqueue.Spec{
		Client: in,
		Owned:  ephemeral.Config{Client: in, ErrorPolicy: client.ErrorPolicy(), WatchAfter: 20 * time.Millisecond},
		Dir:    "/latch", FullDir: "/latch", Name: "latch-",
		Node:  zkclient.NodeSpec{Path: "/latch/latch-", Mode: zkclient.EphemeralSequential, Protection: true, Parents: zkclient.ContainerParents, DefaultData: true},
		Rules: latchRules{}, Stays: true, CleanUp: time.Second,
	})}
}

// term waits until the latch leads.
func (l *latch) term(ctx context.Context) (lease *locks.Lease, err error) {
	err = l.stand(ctx, func(node *ephemeral.Node) (err error) {
		lease, err = locks.OnNode(ctx, l.client, "/latch", "leader", node)
		return err
	})
	return lease, err
}

// stand waits until the latch is first and hold has taken its node.
func (l *latch) stand(ctx context.Context, hold func(node *ephemeral.Node) error) error {
	defer l.contender.End(ctx)
	for {
		step, err := l.contender.Next(ctx)
		if err != nil {
			return err
		}
		if step.First == nil {
			continue
		}
		if err = hold(step.First[0]); err == nil {
			l.contender.Held()
			return nil
		}
		if err = l.contender.Again(ctx, err); err != nil {
			return err
		}
	}
}

func (l *latch) leads(t *testing.T) *locks.Lease {
	t.Helper()
	return suite.Got(l.term(t.Context())).OK(t)
}

// A recipe gets a lease on its own node: a lost lease leaves the node, the next lease on it has
// the same token, and only a release lets the next one in.
func TestOnNode(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first, second := newLatch(s.Client(t)), newLatch(s.Client(t))
		lease := first.leads(t)
		nextWaiter := make(chan *locks.Lease, 1)
		go func() { nextWaiter <- second.leads(t) }()
		time.Sleep(time.Second)

		accept := s.Refuse()
		s.Disconnect()
		synctest.Wait()
		wantLoss(t, lease.Err(), locks.LossSuspended)
		accept()
		time.Sleep(time.Second)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		again := first.leads(t)
		if again.Path() != lease.Path() || again.Token() != lease.Token() {
			t.Errorf("%s with token %d, want %s with %d", again.Path(), again.Token(), lease.Path(), lease.Token())
		}
		select {
		case <-nextWaiter:
			t.Fatal("two lead")
		default:
		}
		suite.OK(t, again.Release(t.Context()))
		next := <-nextWaiter
		if next.Token() <= again.Token() {
			t.Errorf("token %d after %d", next.Token(), again.Token())
		}
		suite.OK(t, next.Release(t.Context()))
		if left := s.Children("/latch"); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// An operator deletes the leader's node: the lease ends, and the recipe takes another place.
func TestOnNodeDeleted(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		l := newLatch(client)
		lease := l.leads(t)
		time.Sleep(time.Second)
		suite.OK(t, client.Delete().ForPath(t.Context(), lease.Path()))
		synctest.Wait()
		wantLoss(t, lease.Err(), locks.LossNodeDeleted)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		again := l.leads(t)
		if again.Token() <= lease.Token() {
			t.Errorf("token %d after %d", again.Token(), lease.Token())
		}
		suite.OK(t, again.Release(t.Context()))
	})
}

// A node that is gone, and one whose session is in doubt, give no lease.
func TestOnNodeRefused(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		l := newLatch(client)
		var node *ephemeral.Node
		stop := errors.New("stop")
		hold := func(n *ephemeral.Node) error {
			node = n
			return stop
		}
		suite.WantErr(t, l.stand(t.Context(), hold), stop)
		suite.OK(t, l.contender.Leave(t.Context()))
		suite.Got(locks.OnNode(t.Context(), client, "/latch", "leader", node)).Fails(t, ephemeral.ErrGone)
		suite.Got(locks.OnNode(t.Context(), client, "no path", "leader", node)).Fails(t, framework.ErrInvalidPath)
	})
}

// Guard is sent on the session that owns the node: another session's node of the same name does
// not pass for it.
func TestOnNodeGuard(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client, other := s.Client(t, framework.WithErrorPolicy(state.SessionErrorPolicy())), s.Client(t)
		l := newLatch(client)
		lease := l.leads(t)
		guard := make(chan error)
		accept := s.Refuse()
		s.ExpireSession(client.SessionID())
		synctest.Wait()
		go func() {
			_, err := lease.Guard(t.Context(), client.TransactionOp().Create().ForPath("/effect"))
			guard <- err
		}()
		synctest.Wait() // it waits for a connection
		accept()
		suite.Got(other.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), lease.Path())).OK(t)
		suite.WantErr(t, <-guard, locks.ErrLockLost)
		if _, ok := s.Get("/effect"); ok {
			t.Error("the transaction passed with the node of another session")
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		suite.OK(t, other.Delete().ForPath(t.Context(), lease.Path()))
		suite.OK(t, l.leads(t).Release(t.Context())) // the latch gives its old node up
	})
}
