package locks_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
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
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
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
		ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
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
