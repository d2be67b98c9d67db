package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// proof is a lease and a node that is written under it.
type proof struct {
	*fixture
	lease  *locks.Lease
	target string
}

// onProof runs test with a lease of every kind, held with another waiter behind it.
func onProof(t *testing.T, test func(t *testing.T, p *proof)) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		p := &proof{fixture: f, target: f.b.Path("target")}
		suite.Got(f.observer.Create().CreatingParentsIfNeeded().WithData([]byte("old")).ForPath(t.Context(), p.target)).OK(t)
		p.lease = f.hold()
		test(t, p)
	}, sessionPolicy)
}

func (p *proof) set(data string) framework.Op {
	return p.client.TransactionOp().SetData().ForPath(p.target, []byte(data))
}

// written fails unless the target has the data.
func (p *proof) written(want string) {
	p.t.Helper()
	data, err := p.observer.GetData().ForPath(context.Background(), p.target)
	if err != nil || string(data) != want {
		p.t.Errorf("the target has %q, %v, want %q", data, err, want)
	}
}

// refused wants Verify and Guard to fail with all of wants, and nothing to be written.
func (p *proof) refused(wants ...error) {
	p.t.Helper()
	wants = append(wants, locks.ErrNotHeld)
	suite.WantErr(p.t, p.lease.Verify(p.t.Context()), wants...)
	results, err := p.lease.Guard(p.t.Context(), p.set("late"))
	suite.WantErr(p.t, err, wants...)
	if results != nil {
		p.t.Errorf("results %v beside an error", results)
	}
	p.written("old")
}

func TestProofWhileHeld(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		suite.OK(t, p.lease.Verify(t.Context()))
		created := p.client.TransactionOp().Create().ForPath(p.target + "/child")
		results, err := p.lease.Guard(t.Context(), p.set("new"), created)
		if err != nil || len(results) != 2 || results[1].Path != p.target+"/child" {
			t.Fatalf("results %+v, %v", results, err)
		}
		p.written("new")
		if results, err = p.lease.Guard(t.Context()); err != nil || len(results) != 0 {
			t.Errorf("a guard of nothing: %v, %v", results, err)
		}
		// What fails by itself is told as it is, and the lease stays.
		results, err = p.lease.Guard(t.Context(), p.set("newer"), created)
		suite.WantErr(t, err, framework.ErrNodeExists)
		if len(results) != 2 {
			t.Fatalf("results %+v", results)
		}
		suite.WantErr(t, results[0].Err, framework.ErrRolledBack)
		suite.WantErr(t, results[1].Err, framework.ErrNodeExists)
		missing := p.client.TransactionOp().Check().ForPath(p.target + "/missing")
		suite.Got(p.lease.Guard(t.Context(), p.set("newer"), missing)).Fails(t, framework.ErrNoNode)
		if errors.Is(err, locks.ErrNotHeld) || p.lease.Err() != nil {
			t.Errorf("the operations have failed, the lease is held: %v, %v", err, p.lease.Err())
		}
		p.written("new")
		// The first write of a namespace may be one under a lease.
		view := p.client.UsingNamespace(strings.TrimPrefix(p.b.Path("namespace"), "/"))
		results, err = p.lease.Guard(t.Context(), view.TransactionOp().Create().ForPath("/first"))
		if err != nil || results[0].Path != "/first" {
			t.Errorf("in a namespace that does not exist: %+v, %v", results, err)
		}
		p.release(p.lease)
	})
}

func TestProofAfterRelease(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		p.release(p.lease)
		requests := p.network.Requests(jute.OpMulti)
		p.refused(locks.ErrReleased)
		if n := p.network.Requests(jute.OpMulti); n != requests {
			t.Errorf("%d requests for a lease that is over", n-requests)
		}
	})
}

func TestProofAfterDelete(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		// The watch on the node may or may not have told by then.
		hit := p.network.On(jute.OpMulti, suite.CutBefore, func() { p.delete(p.ours()...) })
		suite.WantErr(t, p.lease.Verify(t.Context()), locks.ErrLockLost)
		<-hit
		p.lost(p.lease, locks.LossNodeDeleted)
		p.refused(locks.ErrLockLost)
		suite.WantErr(t, p.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

func TestProofAfterExpiry(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		p.network.Expire(t)
		p.refused(locks.ErrLockLost)
		suite.WantErr(t, p.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// What could not be learnt is not a loss, and what was lost on the way may have been
// committed.
func TestProofInDoubt(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hit := p.network.On(jute.OpMulti, suite.CutAfter, cancel)
		_, err := p.lease.Guard(ctx, p.set("new"))
		<-hit
		if err == nil || errors.Is(err, locks.ErrNotHeld) || !framework.MaybeApplied(err) {
			t.Errorf("the reply is lost: %v, may be applied: %t", err, framework.MaybeApplied(err))
		}
		p.written("new")
		for _, err := range []error{p.lease.Verify(ctx), p.lease.Verify(nilContext())} {
			if err == nil || errors.Is(err, locks.ErrNotHeld) {
				t.Errorf("nothing was asked: %v", err)
			}
		}
		if err := p.lease.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		p.release(p.lease)
	})
}

func nilContext() context.Context { return nil }

// A lease of parts is held while every part is; one that nobody holds is refused.
func TestProofOfParts(t *testing.T) {
	onMulti(t, withRealServer, func(t *testing.T, e *env) {
		lease := e.acquire(multiOf(t, e.mutexAt(multiDirs[0], e.client), multiOf(t, e.mutexAt(multiDirs[1], e.client), e.mutexAt(multiDirs[2], e.client))))
		create := func(name string) framework.Op {
			return e.client.TransactionOp().Create().ForPath(e.path + "/" + name)
		}
		if err := lease.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		results, err := lease.Guard(t.Context(), create("x"), create("y"))
		if err != nil || len(results) != 2 || results[0].Path != e.path+"/x" {
			t.Errorf("results %+v, %v", results, err)
		}
		hit := e.network.On(jute.OpMulti, suite.CutBefore, func() { e.deleteAt(2) })
		_, err = lease.Guard(t.Context(), create("z"))
		<-hit
		if err == nil { // a transaction is not repeated
			t.Error("committed although the request was not sent")
		}
		suite.Got(lease.Guard(t.Context(), create("z"))).Fails(t, locks.ErrLockLost)
		suite.WantErr(t, lease.Verify(t.Context()), locks.ErrLockLost)
		if exists, err := e.observer.CheckExists().ForPath(t.Context(), e.path+"/z"); err != nil || exists {
			t.Errorf("committed without the lock: %t, %v", exists, err)
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, framework.WithErrorPolicy(state.SessionErrorPolicy()))
}

// A view of the client may make the operations; another client's are refused.
func TestGuardOtherClients(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		view := e.client.UsingNamespace("v" + number(e.path))
		if _, err := lease.Guard(t.Context(), e.otherClient().TransactionOp().Create().ForPath(e.path+"/x")); err == nil {
			t.Error("another client's operation was committed")
		}
		if _, err := lease.Guard(t.Context(), view.TransactionOp().Check().ForPath("/missing")); !errors.Is(err, framework.ErrNoNode) {
			t.Errorf("a view's operation: %v", err)
		}
		if err := lease.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		e.release(lease)
	})
}
