package locks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
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

// A watch that the server puts off is set later, as the client's retry policy has it: nobody loses
// his place for that.
func TestWatchIsThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		op   string
		late bool // when it waits already
		lock opener
		opts []locks.Option
	}{
		"together":                       {"setWatches", false, openMutex, nil},
		"each":                           {"getData", false, openMutex, []locks.Option{locks.WithPlainProtocol()}},
		"of the leases":                  {"getChildren", false, openSemaphoreMutex, nil},
		"of the mutex before the leases": {"getData", false, openSemaphoreMutex, nil},
		"read after a long wait":         {"getData", true, openMutex, nil},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			open := opened(t, c.lock, c.opts...)
			holder := enqueue(t, s, open)
			time.Sleep(time.Second) // its own node is watched
			rule := curatortest.Rule{Op: c.op, Times: 3, Do: curatortest.Fail(throttled{})}
			var hit func() bool
			if !c.late {
				hit = s.Inject(rule)
			}
			waiter := enqueue(t, s, open)
			if c.late {
				hit = s.Inject(rule)
			}
			time.Sleep(time.Minute)
			if waiter.in() || !hit() {
				t.Fatal("let in, or not put off")
			}
			holder.release()
			waiter.release()
		})
	}
}

// reading is a connection that counts the reads of nodes and lists, and calls enough when
// there are more than most.
type reading struct {
	net.Conn
	n      *atomic.Int32
	most   int32
	enough func()
}

func (r reading) Write(p []byte) (int, error) {
	for rest := p; len(rest) >= 12; rest = rest[4+binary.BigEndian.Uint32(rest):] {
		switch jute.Op(binary.BigEndian.Uint32(rest[8:])) {
		case jute.OpGetData, jute.OpGetChildren2:
			if r.n.Add(1) > r.most {
				r.enough()
			}
		}
	}
	return r.Conn.Write(p)
}

// Somebody writes to the node of a waiter, more than once. Each time the waiter looks at the
// queue again and sleeps again, and it still notices when its node goes.
func TestWaitersNodeIsWatchedAgain(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder := take(t, mutexOf(t, s.Client(t)))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var reads atomic.Int32
		client := s.Client(t, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := s.DialContext(ctx, network, address)
			return reading{c, &reads, 50, func() { cancel(errors.New("the waiter does not sleep")) }}, err
		}))
		waiter := mutexOf(t, client)
		type result struct {
			path string
			err  error
		}
		done := make(chan result, 1)
		go func() {
			lease, err := waiter.Acquire(ctx)
			if err == nil {
				giveBack(t, lease)
			}
			done <- result{lease.Path(), err}
		}()
		time.Sleep(time.Second) // the holder watches its node, too
		synctest.Wait()
		own := ""
		for _, name := range s.Children("/lock") {
			if path := "/lock/" + name; path != holder.Path() {
				own = path
			}
		}
		other := s.Client(t)
		for _, c := range []struct {
			path string
			want int32 // reads: of the queue and of what has changed
		}{{own, 2}, {own, 2}, {holder.Path(), 2}, {own, 2}} {
			before := reads.Load()
			suite.Got(other.SetData().ForPath(t.Context(), c.path, nil)).OK(t)
			synctest.Wait()
			if n := reads.Load() - before; n != c.want {
				t.Errorf("%d reads after a change of %s, want %d", n, c.path, c.want)
			}
		}
		if n := s.Watches(); n != 3 {
			t.Errorf("%d watches of a holder and a waiter", n)
		}
		suite.OK(t, other.Delete().ForPath(t.Context(), own))
		synctest.Wait()
		wantQueue(t, s, 2)
		giveBack(t, holder)
		if got := <-done; got.err != nil || got.path == own {
			t.Errorf("path %q after %q, %v", got.path, own, got.err)
		}
	})
}

// The connection breaks while the watch on a holder's node is set, and does not come back: Close,
// which has nothing to clean up, does not wait for it. Nor does it for a holder that has handed
// its node over since.
func TestCloseWhileOwnNodeIsWatched(t *testing.T) {
	for name, c := range map[string]struct {
		opts   []framework.Option
		handed bool
	}{
		"lost": {}, "held": {opts: []framework.Option{sessionPolicy}}, "handed over": {[]framework.Option{sessionPolicy}, true},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			client := s.Client(t, c.opts...)
			mutex := virtualMutex(t, locks.WithLocalHandover(1))(client)
			holder, taken := take(t, mutex), make(chan *locks.Lease)
			if c.handed {
				go func() { taken <- take(t, mutex) }()
				synctest.Wait()
			}
			hit := s.Inject(curatortest.Rule{Op: "getData", Do: curatortest.CutBefore()})
			s.Refuse()
			time.Sleep(time.Second)
			if !hit() {
				t.Fatal("the node is not watched")
			}
			if c.handed {
				giveBack(t, holder)
				holder = <-taken
			}
			begin := time.Now()
			err := client.Close(context.Background())
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("Close took %v: %v", took, err)
			}
			_ = holder.Release(t.Context()) // says what is tested elsewhere
		})
	}
}

// The connection breaks before the holder's node is watched, and the servers are gone: Close does
// not wait until they are back.
func TestCloseBeforeOwnNodeIsWatched(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t, sessionPolicy)
		lease := take(t, mutexOf(t, client))
		defer s.Refuse()()
		s.Disconnect()
		time.Sleep(100 * time.Millisecond)
		suite.OK(t, lease.Err())
		begin := time.Now()
		ctx := bounded(t, time.Hour)
		suite.WantErr(t, client.Close(ctx), framework.ErrConnectionLoss)
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("Close took %v", took)
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}
