package locks_test

import (
	"context"
	"errors"
	"slices"
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
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
		next := <-nextWaiter
		if next.Token() <= again.Token() {
			t.Errorf("token %d after %d", next.Token(), again.Token())
		}
		if err := next.Release(t.Context()); err != nil {
			t.Error(err)
		}
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
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
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
		if err := l.contender.Leave(t.Context()); err != nil {
			t.Error(err)
		}
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
		if err := l.leads(t).Release(t.Context()); err != nil { // the latch gives its old node up
			t.Error(err)
		}
	})
}
