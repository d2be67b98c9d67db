package locks_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

func TestAcquireAndRelease(t *testing.T) {
	onBackends(t, suite.Everywhere, func(t *testing.T, e *env) {
		last := int64(0)
		for range 3 {
			lease := e.acquire(e.mutex)
			names := e.wantNodes(1)
			if lease.Path() != e.path+"/"+names[0] {
				t.Fatalf("path %q, node %q", lease.Path(), names[0])
			}
			if lease.Token() <= last {
				t.Fatalf("token %d after %d", lease.Token(), last)
			}
			last = lease.Token()
			if lease.Err() != nil || lease.Context().Err() != nil {
				t.Fatal("a fresh lease is believed")
			}
			e.release(lease)
			suite.WantErr(t, lease.Err(), locks.ErrReleased, locks.ErrNotHeld)
			e.release(lease) // again: the same result
			e.wantNodes(0)
		}
	})
}

// The node is what Java Curator writes and reads: see its LockInternals.
func TestNodeFormat(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		lease := e.acquire(e.lock(e.client, locks.WithNodeData([]byte("payload"))))
		name := e.wantNodes(1)[0]
		var stat framework.Stat
		data, err := e.observer.GetData().StoringStatIn(&stat).ForPath(t.Context(), e.path+"/"+name)
		if err != nil || string(data) != "payload" {
			t.Fatalf("data %q, %v", data, err)
		}
		if stat.EphemeralOwner != e.client.SessionID() || stat.Czxid != lease.Token() {
			t.Fatalf("stat %+v, session %x, token %d", stat, e.client.SessionID(), lease.Token())
		}
		guid, rest := name[:40], name[40:]
		if !strings.HasPrefix(guid, "_c_") || guid[39] != '-' || strings.Count(guid, "-") != 5 || rest != "lock-0000000000" {
			t.Fatalf("name %q", name)
		}
		e.release(lease)
	})
}

func TestTryAcquire(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		lease := suite.Got(e.mutex.TryAcquire(t.Context())).OK(t)
		busy, err := e.other().TryAcquire(t.Context())
		suite.WantErr(t, err, locks.ErrNotAcquired)
		if busy != nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("lease %v, error %v", busy, err)
		}
		e.wantNodes(1) // it left nothing behind
		e.release(lease)
		lease = suite.Got(e.other().TryAcquire(t.Context())).OK(t)
		e.release(lease)
	})
}

func TestExclusion(t *testing.T) {
	const clients, goroutines, rounds = 3, 3, 8
	onBackends(t, suite.Everywhere, func(t *testing.T, e *env) {
		var inside sync.Mutex
		var last int64
		var wg sync.WaitGroup
		for range clients {
			mutex := e.other()
			for range goroutines {
				wg.Go(func() {
					for range rounds {
						err := locks.Do(t.Context(), mutex, func(ctx context.Context, lease *locks.Lease) error {
							if !inside.TryLock() {
								t.Error("two are in")
								return nil
							}
							defer inside.Unlock()
							if lease.Token() <= last {
								t.Errorf("token %d after %d", lease.Token(), last)
							}
							last = lease.Token()
							return ctx.Err()
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		e.wantNodes(0)
	})
}

// Waiters are let in in the order in which they came.
func TestFairness(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		first := e.acquire(e.mutex)
		var waiters []*acquisition
		for i := range 5 {
			waiters = append(waiters, e.queue(t.Context(), e.other(), i+2))
		}
		order, err := e.mutex.ParticipantNodes(t.Context())
		if err != nil || len(order) != 6 || order[0] != first.Path() {
			t.Fatalf("participants %q, %v", order, err)
		}
		e.release(first)
		for i, w := range waiters {
			lease := e.granted(w)
			if lease.Path() != order[i+1] {
				t.Fatalf("let in %q, want %q", lease.Path(), order[i+1])
			}
			e.wantNodes(5 - i)
			e.release(lease)
		}
	})
}

func TestMaxWait(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		waiter := e.other(locks.WithMaxWait(50 * time.Millisecond))
		_, err := waiter.Acquire(t.Context())
		suite.WantErr(t, err, locks.ErrNotAcquired)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v matches context.DeadlineExceeded", err)
		}
		e.wantNodes(1)
		e.release(lease)
	})
}

// A wait that never saw the queue is not ErrNotAcquired.
func TestBlindWait(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		heal := e.network.Isolate()
		// The first request is on its way for ever; the context ends, too, but only during the clean-up.
		ctx := bounded(t, 150*time.Millisecond)
		_, err := e.lock(e.client, locks.WithMaxWait(100*time.Millisecond)).Acquire(ctx)
		suite.WantErr(t, err, framework.ErrConnectionLoss)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		_, err = e.lock(e.client, locks.WithMaxWait(100*time.Millisecond)).Acquire(t.Context())
		if errors.Is(err, locks.ErrNotAcquired) || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		suite.WantErr(t, err, framework.ErrConnectionLoss)
		ctx = bounded(t, 100*time.Millisecond)
		_, err = e.mutex.Acquire(ctx)
		suite.WantErr(t, err, context.DeadlineExceeded)
		if errors.Is(err, locks.ErrNotAcquired) {
			t.Fatalf("error %v", err)
		}
		heal()
		e.untilNodes(0)
	})
}

func TestNamespace(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		view := e.client.UsingNamespace(strings.TrimPrefix(e.path, "/"))
		mutex := suite.Got(locks.NewInterProcessMutex(view, "/inner")).OK(t)
		lease := e.acquire(mutex)
		if !strings.HasPrefix(lease.Path(), "/inner/_c_") {
			t.Fatalf("path %q", lease.Path())
		}
		names, err := e.observer.GetChildren().ForPath(t.Context(), e.path+"/inner")
		if err != nil || len(names) != 1 {
			t.Fatalf("nodes %q, %v", names, err)
		}
		// The same lock by another name is the same lock: it nests.
		same := suite.Got(locks.NewInterProcessMutex(e.client, e.path+"/inner")).OK(t)
		nested := suite.Got(same.TryAcquire(lease.Context())).OK(t)
		e.release(nested)
		e.release(lease)
	})
}

// A nil lease, and the zero one, act as one that was never held.
func TestNilLease(t *testing.T) {
	for _, lease := range []*locks.Lease{nil, {}} {
		suite.WantErr(t, lease.Err(), locks.ErrNotHeld)
		if lease.Token() != -1 || lease.Path() != "" || lease.Parts() != nil || lease.Release(t.Context()) != nil {
			t.Errorf("%#v is held", lease)
		}
		if lease.Context().Err() == nil || lease.Bind(t.Context()).Err() == nil {
			t.Errorf("the contexts of %#v have not ended", lease)
		}
		suite.WantErr(t, lease.Verify(t.Context()), locks.ErrNotHeld)
		suite.Got(lease.Guard(t.Context())).Fails(t, locks.ErrNotHeld)
		suite.Got(lease.GuardIdempotent(t.Context())).Fails(t, locks.ErrNotHeld)
	}
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

// An Acquire that waits for the first connection is granted, although the client becomes SUSPENDED
// meanwhile: another operation has failed for want of a connection.
func TestAcquireWaitsForTheFirstConnection(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		var open atomic.Bool
		client, _ := e.b.Client(t, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if !open.Load() {
				return nil, syscall.ECONNREFUSED
			}
			return e.network.Dial(ctx, network, address)
		}))
		waiting := e.start(t.Context(), e.lock(client))
		ctx := bounded(t, 10*time.Millisecond)
		if _, err := client.CheckExists().ForPath(ctx, "/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if s := client.ConnectionState(); s != state.Suspended {
			t.Fatalf("state %v", s)
		}
		open.Store(true)
		<-waiting.done
		if waiting.err != nil || waiting.lease.Err() != nil {
			t.Fatal(waiting.err, waiting.lease.Err())
		}
		e.wantNodes(1)
		e.release(waiting.lease)
	})
}

// The reply to a create is lost, and when the client looks for its node, there is one of its name that
// belongs to another session, as after the end of its own. The client does not take it for its own,
// which would go with that session: it makes another node.
func TestForeignNodeIsNotAdopted(t *testing.T) {
	onBackends(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		e.release(e.acquire(e.mutex)) // the directory is there
		foreign := ""
		e.network.On(jute.OpCreate2, suite.CutAfter, func() {
			for _, name := range e.nodes() {
				foreign = e.path + "/" + name
			}
			e.deleteMeanwhile(foreign)
			if _, err := e.observer.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), foreign); err != nil {
				t.Error(err)
			}
		})
		a := e.start(t.Context(), e.mutex)
		time.Sleep(time.Minute)
		for _, name := range e.nodes() {
			if path := e.path + "/" + name; path == foreign {
				e.delete(path)
			}
		}
		lease := e.granted(a)
		stat, err := e.observer.CheckExists().ForPath(t.Context(), lease.Path())
		if foreign == "" || lease.Path() == foreign || !stat || err != nil {
			t.Errorf("granted by %q, %v, %v; the other client's was %q", lease.Path(), stat, err, foreign)
		}
		e.release(lease)
		e.wantNodes(0)
	})
}

// A panic of the user's, here of the retry policy, goes on, and the acquire has ended by then:
// its span, its count, and what it had made.
func TestPanicWhileAcquiring(t *testing.T) {
	kinds := []kind{mutexKind, readKind, twoKind, twoV2Kind, multiKinds[1]}
	eachKindVirtually(t, kinds, func(t *testing.T, f *fixture) {
		f.prepare()
		spans, metrics := suite.NewSpans(), suite.NewMetrics()
		client := f.b.PanickingClient(t, f.network,
			sessionPolicy, // the first lock of several outlives the connection
			framework.WithTracing(spans.Option(), metrics.Option()))
		hit := f.onCreate(suite.CutBefore, nil)
		suite.WantPanic(t, func() {
			_, err := f.kind.lock(f.env, client).Acquire(t.Context())
			t.Errorf("Acquire has returned: %v", err)
		})
		<-hit
		f.untilNone()
		wantEnded(t, spans, metrics)
	})
}

// wantEnded fails unless every acquire has ended, the outermost of them with an error.
func wantEnded(t *testing.T, spans *suite.Spans, metrics *suite.Metrics) {
	t.Helper()
	spans.Await(t, 1)
	acquires := spans.Named(tracing.SpanLockAcquire)
	if outermost := acquires[len(acquires)-1]; outermost.Status().Code != codes.Error {
		t.Errorf("the span of the acquire: %v", outermost.Status())
	}
	points := metrics.Points(t)
	failed := func(point string) bool {
		return strings.HasPrefix(point, tracing.MetricAcquireDuration+"{") && strings.Contains(point, "outcome=error error.type=_OTHER")
	}
	pending := func(point string) bool { return strings.HasPrefix(point, tracing.MetricPending+"{") }
	if !slices.ContainsFunc(points, failed) || slices.ContainsFunc(points, pending) {
		t.Errorf("metrics %q", points)
	}
}

// The search after a lost reply looks behind a sync of the lock's path: the server may lag.
func TestSyncBeforeTheSearch(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client, traffic := suite.Tapped(t, s)
		mutex := mutexOf(t, client)
		giveBack(t, take(t, mutex)) // the path is there
		traffic.Take()
		hit := s.Inject(curatortest.Rule{Op: "create", SessionID: client.SessionID(), Do: curatortest.CutAfter()})
		giveBack(t, take(t, mutex))
		if got := traffic.Take(); !hit() || !strings.Contains(got, "sync=1") { // the syncs that prove the session do not count
			t.Errorf("%q, the reply was lost: %t", got, hit())
		}
	})
}
