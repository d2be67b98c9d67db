package locks_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

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
		p.network.On(jute.OpMulti, suite.CutAfter, func() { p.delete(p.ours()...) })
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
		p.network.On(jute.OpMulti, suite.CutBefore, func() { p.delete(p.ours()...) })
		results, err := p.lease.GuardIdempotent(t.Context(), p.setOnce("new"))
		p.doubtful(results, err, locks.ErrLockLost, framework.ErrNoNode)
		p.written("old")
		p.lost(p.lease, locks.LossNodeDeleted)
		suite.WantErr(t, p.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// Behind the end of the session nothing is repeated, and the nodes tell what was applied.
func TestGuardIdempotentAfterExpiry(t *testing.T) {
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
			if err := lease.Release(t.Context()); err != nil { // nobody else was in
				t.Error(err)
			}
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
		e.network.On(jute.OpMulti, suite.CutBefore, func() { e.deleteAt(2) })
		_, err = lease.GuardIdempotent(t.Context(), create("z"))
		if suite.WantErr(t, err, locks.ErrLockLost); !framework.MaybeApplied(err) {
			t.Errorf("%v: it may have been applied", err)
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy)
}
