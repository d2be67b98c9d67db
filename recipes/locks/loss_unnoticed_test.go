package locks

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// hooked is a client whose OnLoss does something else first.
type hooked struct {
	ephemeral.Client
	onLoss func(fn func(zkclient.Loss)) (remove func())
}

func (h hooked) OnLoss(_ string, fn func(zkclient.Loss)) (remove func()) { return h.onLoss(fn) }

// busy is a client whose background goroutines do not get to run, while that is set.
type busy struct {
	ephemeral.Client
	now *atomic.Bool
}

func (b busy) Go(fn func(ctx context.Context)) bool { return b.now.Load() || b.Client.Go(fn) }

const sessionTimeout = 4 * time.Second

// A lease relies neither on the hook on the session nor on the goroutine that tells of a deletion: Err,
// Bind, a nested Acquire and IsAcquiredInThisProcess look at the clock, at the session and at what the
// watch on the node has told.
func TestLossesThatNobodyNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(s *curatortest.Server, client *framework.Client)
		want LossReason
	}{
		"deadline": {func(s *curatortest.Server, _ *framework.Client) {
			s.Refuse()
			s.Disconnect()
			synctest.Wait()
			time.Sleep(sessionTimeout * 15 / 16)
		}, LossDeadline},
		"session": {func(s *curatortest.Server, client *framework.Client) {
			s.ExpireSession(client.SessionID())
			synctest.Wait()
			time.Sleep(time.Second)
		}, LossSessionExpired},
		"deleted": {func(_ *curatortest.Server, client *framework.Client) {
			if err := client.Delete().DeletingChildrenIfNeeded().ForPath(context.Background(), "/lock"); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}, LossNodeDeleted},
	} {
		for _, asks := range []string{"Err", "Bind", "Acquire", "IsAcquiredInThisProcess"} {
			t.Run(name+" "+asks, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testUnnoticedLoss(t, c.lose, asks, c.want) })
			})
		}
	}
}

func testUnnoticedLoss(t *testing.T, lose func(*curatortest.Server, *framework.Client), asks string, want LossReason) {
	server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))
	client := server.Client(t, framework.WithSessionTimeout(sessionTimeout), framework.WithErrorPolicy(state.SessionErrorPolicy()))
	mutex := suite.Got(NewInterProcessMutex(client, "/lock")).OK(t)
	api := mutex.queue.api
	var now atomic.Bool
	mutex.queue.nodeClient = hooked{busy{api, &now}, func(func(zkclient.Loss)) func() { return api.OnLoss("/lock", func(zkclient.Loss) {}) }}
	lease := suite.Got(mutex.Acquire(t.Context())).OK(t)
	time.Sleep(time.Minute)
	synctest.Wait() // the watch on the node is set
	now.Store(true)
	lose(server, client)
	now.Store(false)
	if lease.ctx.Err() != nil {
		t.Fatal("the hook on the session was called")
	}
	var err error
	switch asks {
	case "IsAcquiredInThisProcess":
		if mutex.IsAcquiredInThisProcess() {
			t.Error("the mutex counts as acquired")
		}
		err = context.Cause(lease.ctx)
	case "Bind":
		err = context.Cause(lease.Bind(t.Context()))
	case "Acquire":
		_, err = mutex.TryAcquire(lease.Context())
	default:
		err = lease.Err()
	}
	var loss *LossError
	if !errors.As(err, &loss) || loss.Reason != want {
		t.Errorf("%v, want %v", err, want)
	}
	if err := lease.Release(endedContext(t)); err == nil {
		t.Error("Release returned nil for a lease that was lost")
	}
	_ = client.Close(endedContext(t)) // the end of its session is not tested here
}

// endedContext returns a context that has ended.
func endedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// The connection breaks while two leases that are wanted together are granted: neither is
// granted before the client is connected again.
func TestLeasesAreGrantedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		semaphore := suite.Got(NewInterProcessSemaphore(server.Client(t), "/lock", 2)).OK(t)
		api, hooks := semaphore.queue.api, 0
		semaphore.queue.nodeClient = hooked{api, func(fn func(zkclient.Loss)) func() {
			remove := api.OnLoss("/lock", fn)
			if hooks++; hooks == 2 {
				server.Disconnect()
				synctest.Wait()
			}
			return remove
		}}
		whole := suite.Got(semaphore.AcquireN(t.Context(), 2)).OK(t)
		if len(whole.Parts()) != 2 || hooks != 2 || len(api.Held()) != 2 {
			t.Errorf("%d leases, %d hooks were set, %d are left", len(whole.Parts()), hooks, len(api.Held()))
		}
		suite.OK(t, errors.Join(whole.Err(), whole.Verify(t.Context()), whole.Release(t.Context())))
	})
}

// One of two nodes that were granted together is lost before there are leases: there is no lease
// of the other, and both nodes are deleted.
func TestLeasesAreLostTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		semaphore := suite.Got(NewInterProcessSemaphore(server.Client(t), "/lock", 2)).OK(t)
		l := semaphore.queue
		a := &acquisition{lock: l, ctx: t.Context(), waitCtx: t.Context()}
		contender := suite.Got(l.contender(a, 2)).OK(t)
		holds := suite.Got(l.queueUp(a, contender)).OK(t)
		holds[1].lose(LossNodeDeleted, nil)
		if parts := leasesOf(a, holds); parts != nil {
			t.Fatalf("%d leases", len(parts))
		}
		withdrawAll(a, holds)
		a.awaitRemovals(holds...)
		if names := server.Children("/lock"); len(names) != 0 || len(l.api.Held()) != 0 {
			t.Errorf("nodes %q and %d hooks are left", names, len(l.api.Held()))
		}
	})
}

// While a hold ends, one context after the other, a lease of several has ended as soon as one of its
// parts has.
func TestWholeEndsWithItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		semaphore := suite.Got(NewInterProcessSemaphore(server.Client(t), "/lock", 2)).OK(t)
		whole := suite.Got(semaphore.AcquireN(t.Context(), 2)).OK(t)
		part := whole.Parts()[1]
		part.hold.mu.Lock()
		part.node.cancel(&LossError{Reason: LossDeadline}) // the context of the whole comes next
		if err := whole.Err(); !errors.Is(err, ErrLockLost) || whole.Context().Err() != nil {
			t.Errorf("its error is %v, the context's %v", err, whole.Context().Err())
		}
		part.hold.mu.Unlock()
		suite.OK(t, whole.Release(t.Context()))
	})
}

// A waiter was asked to let go, and its node is read before it has a lease. It gets a lease all
// the same: one that has ended, or one with which the user's function is called.
func TestRevokedBeforeTheLease(t *testing.T) {
	for _, listens := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			client := curatortest.Start(t, curatortest.Virtual()).Client(t)
			told := make(chan *Lease, 1)
			var fn func(context.Context, *Lease)
			if listens {
				fn = func(_ context.Context, lease *Lease) { told <- lease }
			}
			mutex := suite.Got(NewInterProcessMutex(client, "/lock", WithRevocable(fn), WithNodeData([]byte(layout.RevokeRequest)))).OK(t)
			l := mutex.queue
			a := &acquisition{lock: l, ctx: t.Context(), waitCtx: t.Context()}
			contender := suite.Got(l.contender(a, 1)).OK(t)
			holds := suite.Got(l.queueUp(a, contender)).OK(t)
			h := holds[0]
			time.Sleep(2 * watchAfter)
			synctest.Wait() // the node has been read
			lease := newLease(t.Context(), h, nil, nil)
			if lease == nil {
				t.Fatal("no lease: the waiter would begin again")
			}
			synctest.Wait()
			var loss *LossError
			if revoked := errors.As(lease.Err(), &loss) && loss.Reason == LossRevoked; revoked == listens {
				t.Errorf("with a function: %t, the lease ended with %v", listens, lease.Err())
			}
			if listens && <-told != lease {
				t.Error("the function was called with another lease")
			}
			suite.OK(t, lease.Release(t.Context()))
		})
	}
}
