package locks_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

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
		_, err = p.lease.Guard(t.Context(), p.set("newer"), missing)
		suite.WantErr(t, err, framework.ErrNoNode)
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
		hit := p.network.On(jute.OpMulti, suite.CutBefore, func() { p.deleteMeanwhile(p.ours()...) })
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
		suite.OK(t, p.lease.Verify(t.Context()))
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
		suite.OK(t, lease.Verify(t.Context()))
		results, err := lease.Guard(t.Context(), create("x"), create("y"))
		if err != nil || len(results) != 2 || results[0].Path != e.path+"/x" {
			t.Errorf("results %+v, %v", results, err)
		}
		hit := e.network.On(jute.OpMulti, suite.CutBefore, func() { e.deleteMeanwhile(e.below(multiDirs[2])[0]) })
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
		suite.OK(t, lease.Verify(t.Context()))
		e.release(lease)
	})
}

// setOnce is set of the target at version 0.
func (p *proof) setOnce(data string) framework.Op {
	return p.client.TransactionOp().SetData().WithVersion(0).ForPath(p.target, []byte(data))
}

func (p *proof) child(mode framework.CreateMode) framework.Op {
	return p.client.TransactionOp().Create().WithMode(mode).ForPath(p.target + "/child")
}

// doubtful fails unless err matches wants and says that the transaction may have been applied.
func (p *proof) doubtful(results []framework.OpResult, err error, wants ...error) {
	p.t.Helper()
	suite.WantErr(p.t, err, wants...)
	if !framework.MaybeApplied(err) || results != nil {
		p.t.Errorf("%v, may have been applied: %t, results %+v", err, framework.MaybeApplied(err), results)
	}
}

func TestGuardIdempotent(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		// The reply is lost, of a transaction that was applied and of one that was not.
		p.network.On(jute.OpMulti, suite.CutAfter, nil)
		results, err := p.lease.GuardIdempotent(t.Context(), p.setOnce("new"), p.child(framework.Persistent))
		if err != nil || len(results) != 2 || results[0].Stat.Version != 1 || results[1].Path != p.target+"/child" {
			t.Fatalf("results %+v, %v", results, err)
		}
		p.written("new")
		p.network.On(jute.OpMulti, suite.CutBefore, nil)
		again := p.client.TransactionOp().Delete().WithVersion(0).ForPath(p.target + "/child")
		if results, err = p.lease.GuardIdempotent(t.Context(), again); err != nil || len(results) != 1 {
			t.Fatalf("results %+v, %v", results, err)
		}
		// What fails by itself is told as it is, and what must not be repeated is refused.
		results, err = p.lease.GuardIdempotent(t.Context(), p.setOnce("newer"))
		if suite.WantErr(t, err, framework.ErrBadVersion); len(results) != 1 || framework.MaybeApplied(err) || errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("results %+v, %v", results, err)
		}
		sent := p.network.Requests(jute.OpMulti)
		_, err = p.lease.GuardIdempotent(t.Context(), p.set("newer"))
		if suite.WantErr(t, err, framework.ErrInvalidBuilder); p.network.Requests(jute.OpMulti) != sent {
			t.Error("it was sent")
		}
		suite.Got(p.lease.GuardIdempotent(nilContext())).Fails(t, framework.ErrInvalidOption)
		p.release(p.lease)
		suite.Got(p.lease.GuardIdempotent(t.Context(), p.setOnce("newer"))).Fails(t, locks.ErrReleased)
	})
}

// The node is gone when the transaction is repeated: it was applied before, or nobody knows.
func TestGuardIdempotentAfterDelete(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		p.network.On(jute.OpMulti, suite.CutAfter, func() { p.deleteMeanwhile(p.ours()...) })
		results, err := p.lease.GuardIdempotent(t.Context(), p.setOnce("new"))
		if err != nil || len(results) != 1 {
			t.Fatalf("results %+v, %v", results, err)
		}
		p.written("new")
		p.lost(p.lease, locks.LossNodeDeleted)
		suite.WantErr(t, p.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

func TestGuardIdempotentRefused(t *testing.T) {
	onProof(t, func(t *testing.T, p *proof) {
		p.network.On(jute.OpMulti, suite.CutBefore, func() { p.deleteMeanwhile(p.ours()...) })
		results, err := p.lease.GuardIdempotent(t.Context(), p.setOnce("new"))
		p.doubtful(results, err, locks.ErrLockLost, framework.ErrNoNode)
		p.written("old")
		p.lost(p.lease, locks.LossNodeDeleted)
		suite.WantErr(t, p.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// Behind the end of the session nothing is repeated, and the nodes tell what was applied.
func TestGuardIdempotentAfterExpiry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fate suite.Fate
		mode framework.CreateMode
		data string // the target's, behind the call
		ok   bool
	}{
		"applied":                    {suite.CutAfter, framework.Persistent, "new", true},
		"not applied":                {suite.CutBefore, framework.Persistent, "old", false},
		"applied, an ephemeral node": {suite.CutAfter, framework.Ephemeral, "new", false},
	} {
		t.Run(name, func(t *testing.T) {
			onProof(t, func(t *testing.T, p *proof) {
				p.network.On(jute.OpMulti, tt.fate, func() { p.network.Expire(t) })
				results, err := p.lease.GuardIdempotent(t.Context(), p.setOnce("new"), p.child(tt.mode))
				switch {
				case !tt.ok:
					p.doubtful(results, err, framework.ErrSessionExpired)
				case err != nil || len(results) != 2 || results[0].Stat.Version != 1 || results[1].Path != p.target+"/child":
					t.Fatalf("results %+v, %v", results, err)
				}
				p.written(tt.data)
				suite.WantErr(t, p.lease.Release(t.Context()), locks.ErrLockLost)
			})
		})
	}
}

// The standard policy ends the lease with the connection. The node decides.
func TestGuardIdempotentSuspended(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		for _, fate := range []suite.Fate{suite.CutBefore, suite.CutAfter} {
			e.network.On(jute.OpMulti, fate, nil)
			name := map[suite.Fate]string{suite.CutBefore: "/x", suite.CutAfter: "/y"}[fate]
			results, err := lease.GuardIdempotent(t.Context(), e.client.TransactionOp().Create().ForPath(e.path+name))
			if err != nil || len(results) != 1 {
				t.Fatalf("results %+v, %v", results, err)
			}
			e.lost(lease, locks.LossSuspended)
			suite.OK(t, lease.Release(t.Context())) // nobody else was in
			lease = e.acquire(e.mutex)
		}
		e.release(lease)
	}, framework.WithErrorPolicy(state.StandardErrorPolicy()))
}

// A release ends the call: the node may be that of another goroutine's lease by then.
func TestGuardIdempotentReleased(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		mutex := e.lock(e.client, locks.WithLocalHandover(3))
		for _, lock := range []locks.InterProcessLock{mutex, multiOf(t, mutex)} {
			lease := e.acquire(lock)
			next := e.start(t.Context(), mutex)
			lost, healed := make(chan struct{}), make(chan struct{})
			e.network.On(jute.OpMulti, suite.CutBefore, func() {
				heal := sync.OnceFunc(e.network.Isolate())
				time.AfterFunc(200*time.Millisecond, func() { heal(); close(healed) })
				close(lost)
			})
			done := make(chan error, 1)
			go func() {
				_, err := lease.GuardIdempotent(t.Context(), e.client.TransactionOp().Create().ForPath(e.path+"/x"))
				done <- err
			}()
			<-lost
			e.release(lease) // hands the node over, without the server
			err := <-done
			if suite.WantErr(t, err, locks.ErrReleased); !framework.MaybeApplied(err) {
				t.Errorf("%v: it may have been applied", err)
			}
			<-healed
			e.release(e.granted(next))
			if exists, err := e.observer.CheckExists().ForPath(t.Context(), e.path+"/x"); err != nil || exists {
				t.Errorf("committed under another lease: %t, %v", exists, err)
			}
		}
	}, sessionPolicy)
}

func multiOf(t *testing.T, all ...locks.InterProcessLock) *locks.InterProcessMultiLock {
	t.Helper()
	return suite.Got(locks.NewInterProcessMultiLock(all...)).OK(t)
}

// The nodes of all parts are checked by one transaction.
func TestGuardIdempotentOfParts(t *testing.T) {
	onMulti(t, withRealServer, func(t *testing.T, e *env) {
		lease := e.acquire(multiOf(t, e.mutexAt(multiDirs[0], e.client), e.mutexAt(multiDirs[1], e.client), e.mutexAt(multiDirs[2], e.client)))
		create := func(name string) framework.Op {
			return e.client.TransactionOp().Create().ForPath(e.path + "/" + name)
		}
		e.network.On(jute.OpMulti, suite.CutAfter, nil)
		results, err := lease.GuardIdempotent(t.Context(), create("x"), create("y"))
		if err != nil || len(results) != 2 || results[0].Path != e.path+"/x" {
			t.Fatalf("results %+v, %v", results, err)
		}
		e.network.On(jute.OpMulti, suite.CutBefore, func() { e.deleteMeanwhile(e.below(multiDirs[2])[0]) })
		_, err = lease.GuardIdempotent(t.Context(), create("z"))
		if suite.WantErr(t, err, locks.ErrLockLost); !framework.MaybeApplied(err) {
			t.Errorf("%v: it may have been applied", err)
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy)
}
