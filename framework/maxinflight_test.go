package framework_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// roundTrip is how long a request takes to the servers of these tests, and its answer back.
const roundTrip = 10 * time.Millisecond

// throttled is a client of a server at some distance, with what it sends: of the requests that it is made
// for, not those of its session.
type throttled struct {
	*testing.T
	server *curatortest.Server
	client *framework.Client

	mu   sync.Mutex
	sent []string // "getData /a"
}

// withThrottled runs a test in virtual time. The tests give their clients limits.
func withThrottled(t *testing.T, test func(f *throttled), opts ...framework.Option) {
	synctest.Test(t, func(t *testing.T) {
		f := &throttled{T: t, server: curatortest.Start(t, curatortest.Virtual(), curatortest.WithLatency(roundTrip/2))}
		f.client = f.server.Client(t, append(opts, framework.WithDialer(f.dial), framework.WithSessionTimeout(6*time.Second))...)
		if err := f.client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(f)
	})
}

func (f *throttled) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := f.server.DialContext(ctx, network, address)
	return notedConn{c, f}, err
}

type notedConn struct {
	net.Conn
	f *throttled
}

// Write notes the requests with a path. The session layer writes whole frames.
func (c notedConn) Write(p []byte) (int, error) {
	c.f.mu.Lock()
	for rest := p; len(rest) >= 16; rest = rest[4+binary.BigEndian.Uint32(rest):] {
		switch op := int32(binary.BigEndian.Uint32(rest[8:])); op {
		case jute.OpGetData, jute.OpExists, jute.OpGetChildren2, jute.OpAddWatch:
			path := jute.NewDecoder(rest[12:]).String()
			c.f.sent = append(c.f.sent, jute.OpName(op)+" "+path)
		}
	}
	c.f.mu.Unlock()
	return c.Conn.Write(p)
}

// wantSent fails unless these requests were sent since the last call, in this order.
func (f *throttled) wantSent(want ...string) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.sent, want) {
		f.Errorf("%q were sent, want %q", f.sent, want)
	}
	f.sent = nil
}

// outcome is the end of an operation.
type outcomeAfter struct {
	err  error
	took time.Duration
}

// read begins to read a node on a goroutine of its own, behind what was begun before.
func (f *throttled) read(ctx context.Context, path string) <-chan outcomeAfter {
	return f.begin(func() error {
		_, err := f.client.CheckExists().ForPath(ctx, path)
		return err
	})
}

func (f *throttled) begin(op func() error) <-chan outcomeAfter {
	done := make(chan outcomeAfter, 1)
	start := time.Now()
	go func() {
		err := op()
		done <- outcomeAfter{err, time.Since(start)}
	}()
	synctest.Wait()
	return done
}

// want fails unless an operation ends with err after some time.
func (f *throttled) want(done <-chan outcomeAfter, after time.Duration, err error) error {
	f.Helper()
	got := <-done
	if !errors.Is(got.err, err) || got.took != after {
		f.Errorf("%v after %v, want %v after %v", got.err, got.took, err, after)
	}
	return got.err
}

// The client has at most n operations under way, and further ones wait in their order.
func TestMaxInFlight(t *testing.T) {
	for n, trips := range map[int]int{1: 12, 3: 4, 5: 3, 12: 1, 1000: 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			withThrottled(t, func(f *throttled) {
				var all []<-chan outcomeAfter
				var want []string
				for i := range 12 {
					all = append(all, f.read(f.Context(), fmt.Sprint("/", i)))
					want = append(want, fmt.Sprint("exists /", i))
				}
				for i, one := range all {
					f.want(one, roundTrip*time.Duration(i/n+1), nil)
				}
				f.wantSent(want...)
				if trips != (12+n-1)/n {
					f.Error("the table is wrong")
				}
			}, framework.WithMaxInFlight(n))
		})
	}
}

// An operation whose context ends while it waits is never sent, and takes nobody's turn.
func TestMaxInFlightContext(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		short, cancel := context.WithTimeoutCause(f.Context(), roundTrip/2, errBroken)
		defer cancel()
		first := f.read(f.Context(), "/first")
		waits, sent := f.read(short, "/waits"), f.read(f.Context(), "/last")
		err := f.want(waits, roundTrip/2, context.DeadlineExceeded)
		if framework.MaybeApplied(err) || !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "in flight") {
			f.Errorf("the one that waits: %v", err)
		}
		f.want(first, roundTrip, nil)
		f.want(sent, 2*roundTrip, nil)
		f.wantSent("exists /first", "exists /last")

		// One that was sent is under way until the server has answered, although nobody waits for it.
		short, cancel = context.WithTimeout(f.Context(), roundTrip/2)
		defer cancel()
		first, sent = f.read(short, "/first"), f.read(f.Context(), "/last")
		if err := f.want(first, roundTrip/2, context.DeadlineExceeded); strings.Contains(err.Error(), "in flight") {
			f.Error(err)
		}
		f.want(sent, 2*roundTrip, nil)
		f.wantSent("exists /first", "exists /last")
	}, framework.WithMaxInFlight(1))
}

// Many operations that give up leave the others their turns.
func TestMaxInFlightManyGiveUp(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		ctx, cancel := context.WithCancel(f.Context())
		var given []<-chan outcomeAfter
		for range 100 {
			given = append(given, f.read(ctx, "/given"))
		}
		last := f.read(f.Context(), "/last")
		cancel()
		for _, one := range given {
			f.want(one, 0, context.Canceled)
		}
		f.want(last, 2*roundTrip, nil)
		f.wantSent("exists /given", "exists /given", "exists /last")
		f.want(f.read(f.Context(), "/again"), roundTrip, nil)
	}, framework.WithMaxInFlight(2))
}

// When the client is closed, operations that wait end as others do.
func TestMaxInFlightClose(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		f.server.Pause()
		first, waits := f.read(f.Context(), "/first"), f.read(f.Context(), "/waits")
		start := time.Now()
		if err := f.client.Close(ended(f.T)); err == nil {
			f.Error("a paused server has confirmed the end of the session")
		}
		took := time.Since(start)
		f.want(first, took, framework.ErrClosed)
		if err := f.want(waits, took, framework.ErrClosed); framework.MaybeApplied(err) {
			f.Errorf("%v: it was never sent", err)
		}
		f.wantSent("exists /first")
	}, framework.WithMaxInFlight(1))
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Behind a lost connection, and behind a lost session, everything goes on, and the limit holds.
func TestMaxInFlightLost(t *testing.T) {
	for name, lose := range map[string]func(f *throttled){
		"connection": func(f *throttled) { f.server.Disconnect() },
		"session":    func(f *throttled) { f.server.ExpireSession(f.client.SessionID()) },
		"server":     func(f *throttled) { f.server.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			withThrottled(t, func(f *throttled) {
				var all []<-chan outcomeAfter
				for i := range 12 {
					all = append(all, f.read(f.Context(), fmt.Sprint("/", i)))
				}
				time.Sleep(3*roundTrip + roundTrip/4)
				lose(f)
				for i, one := range all {
					if got := <-one; got.err != nil {
						f.Errorf("%d: %v", i, got.err)
					}
				}
				// The turns of the connection that has ended are not missing, and are not there twice.
				first, second := f.read(f.Context(), "/first"), f.read(f.Context(), "/second")
				third := f.read(f.Context(), "/third")
				f.want(first, roundTrip, nil)
				f.want(second, roundTrip, nil)
				f.want(third, 2*roundTrip, nil)
			}, framework.WithMaxInFlight(2))
		})
	}
}

// What is sent together is one operation; what is sent one behind the other waits again for each.
func TestMaxInFlightUnits(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		ctx := f.Context()
		createParents := func() error {
			_, err := f.client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/a/b/c")
			return err
		}
		create := f.begin(createParents) // create, look for two parents, create both, create
		read := f.read(ctx, "/a")
		f.want(read, 2*roundTrip, nil)
		f.want(create, 5*roundTrip, nil)

		ops := []framework.Op{f.client.TransactionOp().Delete().ForPath("/a/b/c"), f.client.TransactionOp().Delete().ForPath("/a/b")}
		batch := f.begin(func() error {
			_, err := f.client.Batch().ForOperations(ctx, ops...)
			return err
		})
		read = f.read(ctx, "/a")
		f.want(batch, roundTrip, nil)
		f.want(read, 2*roundTrip, nil)

		w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
		read = f.read(ctx, "/a")
		f.wantSent("exists /a", "exists /a", "exists /a/b", "exists /a", "exists /a")
		add := f.begin(func() error { return f.client.Watches().Add().ForPath(ctx, "/a", w) })
		short, cancel := context.WithTimeout(ctx, roundTrip/2)
		defer cancel()
		given := f.begin(func() error { return f.client.Watches().Add().ForPath(short, "/b", w) })
		last := f.read(ctx, "/last")
		f.want(given, roundTrip/2, context.DeadlineExceeded)
		f.want(read, roundTrip, nil)
		f.want(add, 2*roundTrip, nil)
		f.want(last, 3*roundTrip, nil)
		f.wantSent("addWatch /a", "exists /last")
	}, framework.WithMaxInFlight(1))
}

// A watch that is set by a read that waits is set when the read is sent, whatever has happened meanwhile.
func TestMaxInFlightWatch(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		ctx, events := f.Context(), make(chan framework.WatchedEvent, 4)
		w := framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) { events <- e })
		persistent := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
		if err := f.client.Watches().Add().ForPath(ctx, "/a", persistent); err != nil {
			f.Fatal(err)
		}
		first := f.read(ctx, "/first")
		watch := f.begin(func() error {
			_, err := f.client.CheckExists().UsingWatcher(w).ForPath(ctx, "/a")
			return err
		})
		// The persistent watch would do for both. It is given back while the read waits.
		remove := f.begin(func() error { return f.client.Watches().Remove().ForPath(ctx, "/a", persistent) })
		f.want(first, roundTrip, nil)
		f.want(watch, 2*roundTrip, nil)
		if got := <-remove; got.err != nil {
			f.Fatal(got.err)
		}
		if _, err := f.client.Create().ForPath(ctx, "/a"); err != nil {
			f.Fatal(err)
		}
		synctest.Wait()
		if e := <-events; e.Type != framework.NodeCreated && e.Type != framework.WatchReset {
			f.Errorf("%+v", e)
		}
	}, framework.WithMaxInFlight(1))
}

// The session is proved, and leases last, however many operations wait.
func TestMaxInFlightProofs(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		mutex, err := locks.NewInterProcessMutex(f.client, "/lock")
		if err != nil {
			f.Fatal(err)
		}
		lease, err := mutex.Acquire(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(f.Context(), 30*time.Second)
		defer cancel()
		var crew sync.WaitGroup
		for i := range 1000 {
			crew.Go(func() {
				for ctx.Err() == nil {
					if _, err := f.client.CheckExists().ForPath(ctx, fmt.Sprint("/", i)); err != nil && ctx.Err() == nil {
						f.Error(err)
					}
				}
			})
		}
		crew.Wait()
		if err := context.Cause(lease.Context()); err != nil {
			f.Error(err)
		}
		if err := lease.Release(f.Context()); err != nil {
			f.Error(err)
		}
	}, framework.WithMaxInFlight(1))
}

// A limit that nobody can mean is refused.
func TestMaxInFlightRefused(t *testing.T) {
	for _, n := range []int{0, -1} {
		_, err := framework.NewClient("a:1", retry.None(), framework.WithMaxInFlight(n))
		if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), fmt.Sprintf("WithMaxInFlight(%d)", n)) {
			t.Errorf("%d: %v", n, err)
		}
	}
}
