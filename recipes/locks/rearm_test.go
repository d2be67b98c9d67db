package locks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

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
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		suite.WantErr(t, client.Close(ctx), framework.ErrConnectionLoss)
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("Close took %v", took)
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// A contender that may create but not list leaves nothing behind.
func TestListRefused(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		m := mutexOf(t, s.Client(t))
		giveBack(t, take(t, m))
		s.Inject(curatortest.Rule{Op: "getChildren", Do: curatortest.Fail(framework.ErrNoAuth)})
		suite.Got(m.Acquire(t.Context())).Fails(t, framework.ErrNoAuth)
		synctest.Wait()
		wantQueue(t, s, 0)
	})
}
