package locks_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// wantLostSoon fails unless the lease ends for a reason, soon.
func wantLostSoon(t *testing.T, lease *locks.Lease, want locks.LossReason) {
	t.Helper()
	select {
	case <-lease.Context().Done():
	case <-time.After(time.Minute):
		t.Errorf("the lease is believed after a minute, want it lost with %v", want)
		return
	}
	if err := lease.Err(); !lostFor(err, want) {
		t.Errorf("the lease ended with %v, want %v", err, want)
	}
}

// A server that puts off the read by which the holder watches its own node is asked again: an
// operator may delete the node later.
func TestOwnWatchIsThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		times int
		again bool // the watch is set again after a change of the node's data
		opts  []locks.MutexOption
	}{
		"once":                      {1, false, nil},
		"several times":             {5, false, nil},
		"after a change":            {1, true, nil},
		"with the plain protocol":   {1, false, []locks.MutexOption{locks.WithPlainProtocol()}},
		"with a delay":              {1, false, []locks.MutexOption{locks.WithLockDelay(time.Second)}},
		"with hand-over":            {1, false, []locks.MutexOption{locks.WithLocalHandover(3)}},
		"after a change, revocable": {1, true, []locks.MutexOption{locks.WithRevocable(func(context.Context, *locks.Lease) {})}},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			operator, client := s.Client(t), s.Client(t)
			lock := virtualMutex(t, c.opts...)(client)
			giveBack(t, take(t, lock)) // it is connected
			refuse := func() func() bool {
				return s.Inject(curatortest.Rule{Op: "getData", Path: "/lock/**", SessionID: client.SessionID(), Times: c.times, Do: curatortest.Fail(throttled{})})
			}
			hit := func() bool { return false }
			if !c.again {
				hit = refuse()
			}
			lease := take(t, lock)
			time.Sleep(time.Second)
			if c.again {
				hit = refuse()
				suite.Got(operator.SetData().ForPath(t.Context(), lease.Path(), []byte("news"))).OK(t)
			}
			time.Sleep(10 * time.Second)
			if !hit() {
				t.Fatal("the watch was not refused")
			}
			if err := lease.Err(); err != nil {
				t.Fatalf("the lease has ended because of a watch: %v", err)
			}
			suite.OK(t, operator.Delete().ForPath(t.Context(), lease.Path()))
			wantLostSoon(t, lease, locks.LossNodeDeleted)
			suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		})
	}
}

// Who must not read its own node holds the lock all the same, and is told once in the log that it
// will not hear of its deletion.
func TestOwnWatchIsRefused(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var log suite.Log
		admin := framework.ACL{Perms: framework.PermRead, Scheme: "digest", ID: "admin:RB3ulR0Dd8Rq5vnlfXyZ5Xrmk+g="}
		client := s.Client(t, framework.WithACLProvider(lockNodes{admin}), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		lease := take(t, mutexOf(t, client))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if err := lease.Err(); err != nil {
			t.Errorf("the lease has ended: %v", err)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("%d warnings, want one that the holder does not hear of its node:\n%s", n, &log)
		} else if !strings.Contains(log.String(), "path=/lock") {
			t.Errorf("the warning does not name the lock:\n%s", &log)
		}
		giveBack(t, lease)
	})
}

// A waiter cannot read the holder's node, so that the server tells it nothing of that node. It
// reads the node again after a while, also if it was woken by something else before.
func TestUnreadableHolderIsReadAgain(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder := s.Client(t, framework.WithAuthorization("digest", []byte("holder:a")),
			framework.WithACLProvider(lockNodes(framework.CreatorAllACL())))
		lease := take(t, virtualMutex(t)(holder))
		waiter := enqueue(t, s, virtualMutex(t))
		time.Sleep(time.Second)
		for _, name := range s.Children("/lock") {
			if path := "/lock/" + name; path != lease.Path() {
				suite.OK(t, locks.AttemptRevoke(t.Context(), holder, path))
			}
		}
		time.Sleep(time.Second)
		giveBack(t, lease)
		time.Sleep(time.Minute)
		if !waiter.in() {
			t.Error("still waiting, although nobody holds the mutex")
			waiter.cancel()
			<-waiter.done
			return
		}
		waiter.release()
	})
}

// Credentials that are rejected are no refusal of the watch on a holder's node: all operations say it.
func TestAuthFailsBeforeTheWatch(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var log suite.Log
		client := s.Client(t, framework.WithAuthorization("digest", []byte("a:b")), framework.WithErrorPolicy(state.SessionErrorPolicy()),
			framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		lease := take(t, mutexOf(t, client))
		s.Inject(curatortest.Rule{Op: "getData", SessionID: client.SessionID(), Times: 1, Do: curatortest.CutBefore()})
		s.Inject(curatortest.Rule{Op: "auth", Times: 1000, Do: curatortest.Fail(framework.ErrAuthFailed)})
		time.Sleep(time.Second)
		synctest.Wait()
		if strings.Contains(log.String(), "cannot be watched") {
			t.Error(log.String())
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrReleasePending)
		time.Sleep(time.Minute) // the session is over, and so is its node
	})
}
