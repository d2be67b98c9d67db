package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// outage is how long no connection can be made; it is longer than any bound of a lock's.
const outage = 10 * time.Minute

// released is a Release on its way.
type released struct {
	err  error
	done chan struct{}
}

func startRelease(ctx context.Context, lease *locks.Lease) *released {
	r := &released{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = lease.Release(ctx)
	}()
	synctest.Wait()
	return r
}

// A process that was stopped past its session and releases before its session layer has noticed
// does not say that nobody else was let in, and hands nothing over.
func TestReleaseAfterStop(t *testing.T) {
	delayed := []locks.MutexOption{locks.WithLockDelay(time.Second)}
	for name, c := range map[string]struct{ opts, nextWaiter []locks.MutexOption }{
		"alone":     {nil, nil},
		"hand-over": {[]locks.MutexOption{locks.WithLocalHandover(10)}, nil},
		"delay":     {delayed, delayed},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			client, stopped := stoppable(t, s)
			lock := virtualMutex(t, c.opts...)(client)
			holder := take(t, lock)
			next := make(chan *locks.Lease, 1)
			if name == "hand-over" {
				go func() { next <- take(t, lock) }()
				synctest.Wait()
			}
			nextWaiter := enqueue(t, s, virtualMutex(t, c.nextWaiter...))
			resume := stopped.stopPast(t, s, client)
			if !nextWaiter.in() {
				t.Fatal("the next waiter is not in after the end of the session")
			}
			release := startRelease(t.Context(), holder)
			if len(next) > 0 {
				lease := <-next
				t.Fatalf("handed over with token %d while the next waiter is in", lease.Token())
			}
			resume()
			<-release.done
			wantGivenUp(t, release.err)
			nextWaiter.release()
			if name == "hand-over" {
				lease := <-next
				if lease.Token() <= nextWaiter.lease.Token() {
					t.Errorf("the next one has the token %d, the next waiter had %d", lease.Token(), nextWaiter.lease.Token())
				}
				giveBack(t, lease)
			}
			wantNothingLeft(t, s)
		})
	}
}

// wantGivenUp fails unless err says that others may have been let in.
func wantGivenUp(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, locks.ErrLockLost) && !errors.Is(err, locks.ErrReleasePending) {
		t.Errorf("Release returned %v, want ErrLockLost or ErrReleasePending", err)
	}
}

// The release's delete is lost with the connection, then the session ends and another waiter is let in:
// that the node is gone when the delete is tried again does not confirm it.
func TestReleaseCutBeforeAndExpired(t *testing.T) {
	for name, opts := range map[string][]locks.MutexOption{
		"plain delete": nil,
		"transaction":  {locks.WithLockDelay(time.Second)},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			op := map[string]string{"plain delete": "delete", "transaction": "multi"}[name]
			client := s.Client(t, sessionPolicy)
			lease := take(t, virtualMutex(t, opts...)(client))
			nextWaiter := enqueue(t, s, virtualMutex(t, opts...))
			hit := s.Inject(curatortest.Rule{Op: op, SessionID: client.SessionID(), Do: curatortest.CutBefore()})
			accept := s.Refuse()
			release := startRelease(t.Context(), lease)
			if !hit() {
				t.Fatal("the delete was not lost")
			}
			s.ExpireSession(client.SessionID())
			time.Sleep(2 * time.Second)
			if !nextWaiter.in() {
				t.Fatal("the next waiter is not in after the end of the session")
			}
			accept()
			<-release.done
			wantGivenUp(t, release.err)
			nextWaiter.release()
			wantNothingLeft(t, s)
		})
	}
}

// within calls fn, during an outage that begins with the next delete below path, and fails if it
// takes longer than bound.
func within(t *testing.T, s *curatortest.Server, path string, bound time.Duration, fn func()) {
	t.Helper()
	hit := s.Inject(curatortest.Rule{Op: "delete", Path: path, Do: curatortest.CutBefore()})
	accept := s.Refuse()
	time.AfterFunc(outage, accept)
	begin := time.Now()
	fn()
	if took := time.Since(begin); took > bound {
		t.Errorf("it took %v, want at most %v", took, bound)
	}
	if !hit() {
		t.Error("no delete was lost")
	}
	accept()
}

// A multi lock that does not get all its parts gives back those that it has within the release
// timeout, although the servers cannot be reached.
func TestMultiLockKeepsItsBound(t *testing.T) {
	const maxWait, releaseTimeout = time.Second, 2 * time.Second
	for name, c := range map[string]struct {
		acquire func(m *locks.InterProcessMultiLock, ctx context.Context) (*locks.Lease, error)
		bound   time.Duration
	}{
		"Acquire":    {(*locks.InterProcessMultiLock).Acquire, maxWait + releaseTimeout + time.Second},
		"TryAcquire": {(*locks.InterProcessMultiLock).TryAcquire, releaseTimeout + time.Second},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			busy := take(t, mutexAtPath(t, s.Client(t), "/b"))
			client := s.Client(t)
			suite.OK(t, client.BlockUntilConnected(t.Context()))
			opts := []locks.MutexOption{locks.WithMaxWait(maxWait), locks.WithReleaseTimeout(releaseTimeout)}
			m := suite.Got(locks.NewInterProcessMultiLock(mutexAtPath(t, client, "/a", opts...), mutexAtPath(t, client, "/b", opts...))).OK(t)
			within(t, s, "/a/**", c.bound, func() {
				suite.Got(c.acquire(m, t.Context())).Fails(t, locks.ErrNotAcquired)
			})
			giveBack(t, busy)
			for _, path := range []string{"/a", "/b"} { // what was made is gone by and by
				giveBack(t, take(t, mutexAtPath(t, client, path)))
			}
		})
	}
}

// A downgrade waits for the end of the write lease no longer than the release timeout: the reader
// is in, whatever becomes of the writer's node.
func TestDowngradeKeepsItsBound(t *testing.T) {
	const releaseTimeout = 2 * time.Second
	for name, policy := range map[string]state.ErrorPolicy{
		"session policy": state.SessionErrorPolicy(), "standard policy": state.StandardErrorPolicy(),
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			client := s.Client(t, framework.WithErrorPolicy(policy))
			rw := suite.Got(locks.NewInterProcessReadWriteLock(client, "/lock", locks.WithReleaseTimeout(releaseTimeout))).OK(t)
			write := take(t, rw.WriteLock())
			var read *locks.Lease
			within(t, s, "/lock/**", releaseTimeout+time.Second, func() {
				var err error
				if read, err = rw.Downgrade(t.Context(), write); err != nil {
					suite.WantErr(t, err, locks.ErrLockLost)
				}
			})
			_ = read.Release(t.Context()) // the session may have ended, or not
			giveBack(t, take(t, rw.WriteLock()))
			wantNothingLeft(t, s)
		})
	}
}

// A lease that was lost before its client closed its session is not in doubt any more: its node went with
// the session, and others may have been let in since.
func TestReleaseOfALostLeaseAfterClose(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		suite.OK(t, e.client.BlockUntilConnected(t.Context()))
		suite.OK(t, e.client.Close(t.Context()))
		err := lease.Release(t.Context())
		if !errors.Is(err, locks.ErrLockLost) || errors.Is(err, locks.ErrReleasePending) {
			t.Errorf("Release: %v", err)
		}
		e.untilNodes(0)
	})
}

// A release whose delete goes on until the client is closed is confirmed by the end of the session, and by
// nothing else.
func TestReleaseThatCloseEnds(t *testing.T) {
	for name, confirmed := range map[string]bool{"closed": true, "left": false} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			client := s.Client(t)
			lease := take(t, virtualMutex(t)(client))
			s.Inject(curatortest.Rule{Op: "delete", Times: 1000, Do: curatortest.Fail(framework.ErrReconfigInProgress)})
			ctx := bounded(t, time.Second)
			suite.WantErr(t, lease.Release(ctx), locks.ErrReleasePending)
			suite.WantErr(t, lease.Release(ctx), locks.ErrReleasePending) // it is not waited for again
			if !confirmed {
				s.Refuse()
				s.Disconnect()
				synctest.Wait()
			}
			_ = client.Close(ctx) // ctx has ended: the delete is not waited for
			switch err := lease.Release(t.Context()); {
			case confirmed && err != nil:
				t.Errorf("Release after Close has closed the session: %v", err)
			case !confirmed:
				suite.WantErr(t, err, locks.ErrReleasePending)
			}
			if left := s.Children("/lock"); confirmed && len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

// A delete that the server puts off is tried again: its node would block all others.
func TestReleaseIsThrottled(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		mutex := suite.Got(locks.NewInterProcessMutex(client, "/lock")).OK(t)
		lease := suite.Got(mutex.Acquire(t.Context())).OK(t)
		hit := s.Inject(curatortest.Rule{Op: "delete", Times: 3, Do: curatortest.Fail(throttled{})})
		if err := lease.Release(t.Context()); err != nil || !hit() {
			t.Fatal(err, hit())
		}
		time.Sleep(time.Second)
		wantQueue(t, s, 0)
	})
}

// The session ends, somebody else holds the lock, and then the answer to our delete, that
// there is no such node, is lost: that is not our delete's doing.
func TestReleaseAfterAnotherHolder(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		next := e.queue(t.Context(), e.other(), 2)
		old := e.client.SessionID()
		heal := e.network.Isolate()
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		e.release(e.granted(next))
		heal()
		suite.Eventually(t, "a new session", func() bool { id := e.client.SessionID(); return id != 0 && id != old })
		hit := e.network.On(jute.OpDelete, suite.CutAfter, nil)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		<-hit
	})
}
