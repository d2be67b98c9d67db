package locks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// tracedEnv is an env whose client's spans are recorded, below one that the test begins.
type tracedEnv struct {
	*env
	spans *suite.Spans
	ctx   context.Context
}

// traced runs a test and compares the spans that it has made.
func traced(t *testing.T, test func(e *tracedEnv), want string, ignore ...string) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := &tracedEnv{spans: suite.NewSpans()}
		e.env = newEnv(t, b, framework.WithTracing(e.spans.Option()))
		e.release(e.acquire(e.other())) // makes the parents
		ctx, span := e.spans.Tracer().Start(t.Context(), "test")
		e.ctx = ctx
		test(e)
		span.End()
		e.spans.WantTree(t, want, ignore...)
	})
}

// take acquires, and waits for the watch on the node that nobody waits for.
func (e *tracedEnv) take(ctx context.Context, lock locks.InterProcessLock) *locks.Lease {
	e.t.Helper()
	before := e.spans.Count("getData")
	lease := suite.Got(lock.Acquire(ctx)).OK(e.t)
	e.spans.AwaitCount(e.t, "getData", before+max(1, len(lease.Parts())))
	return lease
}

func (e *tracedEnv) give(lease *locks.Lease) {
	e.t.Helper()
	suite.OK(e.t, lease.Release(e.ctx))
}

// another returns a lock on a client of its own that is traced, too.
func (e *tracedEnv) another(opts ...tracing.Option) *locks.InterProcessMutex {
	client, _ := e.b.Client(e.t, framework.WithTracing(append(opts, e.spans.Option())...))
	return e.lock(client)
}

// waiting waits until n acquires have told that they wait.
func (e *tracedEnv) waiting(n int) {
	e.t.Helper()
	suite.Eventually(e.t, "the waiters", func() bool { return e.spans.Events(tracing.EventWaiting) == n })
}

func TestSpansUncontended(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		lease := e.take(e.ctx, e.lock(e.client, locks.WithName("orders")))
		nested := suite.Got(e.mutex.Acquire(lease.Bind(e.ctx))).OK(e.t)
		e.give(nested)
		e.give(lease)
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=0 kind=mutex name=orders outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
				create client path=/lock/lock-
				getData client path=/lock/lock
			curator.lock.acquire#2 kind=mutex outcome=acquired path=/lock reentrant=true token=* try=false @granted
			curator.lock.release held_time=* kind=mutex outcome=released path=/lock token=* link->#2
			curator.lock.release held_time=* kind=mutex name=orders outcome=released path=/lock token=* link->#1
				delete client path=/lock/lock
	`)
}

func TestSpansWaited(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		lease := e.take(e.ctx, e.mutex)
		waiter := e.start(e.ctx, e.another())
		e.waiting(1)
		e.give(lease)
		e.give(e.granted(waiter))
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=0 kind=mutex outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
				create client path=/lock/lock-
				getData client path=/lock/lock
			curator.lock.acquire#2 contenders_ahead=1 kind=mutex outcome=acquired path=/lock reentrant=false token=* try=false predecessor->#1 @enqueued @waiting @granted
				create client path=/lock/lock-
				getData client path=/lock/lock size=2
			curator.lock.release held_time=* kind=mutex outcome=released path=/lock token=* link->#1
				delete client path=/lock/lock
			curator.lock.release held_time=* kind=mutex outcome=released path=/lock token=* link->#2
				multi client path=/lock/lock size=3
	`)
}

func TestSpansNotAcquired(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		lease := e.acquire(e.other())
		suite.Got(e.mutex.TryAcquire(e.ctx)).Fails(e.t, locks.ErrNotAcquired)
		timed, cancel := context.WithTimeout(e.ctx, 50*time.Millisecond)
		_, err := e.mutex.Acquire(timed)
		cancel()
		suite.WantErr(e.t, err, context.DeadlineExceeded)
		ctx, cancel := context.WithCancel(e.ctx)
		canceled := e.start(ctx, e.mutex)
		e.waiting(2)
		cancel()
		<-canceled.done
		suite.Got(e.lock(e.client, locks.WithMaxWait(50*time.Millisecond)).Acquire(e.ctx)).Fails(e.t, locks.ErrNotAcquired)
		e.release(lease)
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=1 kind=mutex outcome=not_acquired path=/lock try=true @enqueued
				create client path=/lock/lock-
				delete client path=/lock/lock
			curator.lock.acquire#2 contenders_ahead=1 kind=mutex outcome=timeout path=/lock try=false type=timeout @enqueued @waiting !Error
				create client path=/lock/lock-
				getData client path=/lock/lock size=2
				delete client path=/lock/lock
			curator.lock.acquire#3 contenders_ahead=1 kind=mutex outcome=canceled path=/lock try=false type=canceled @enqueued @waiting !Error
				create client path=/lock/lock-
				getData client path=/lock/lock size=2
				delete client path=/lock/lock
			curator.lock.acquire#4 contenders_ahead=1 kind=mutex outcome=timeout path=/lock try=false type=timeout @enqueued @waiting !Error
				create client path=/lock/lock-
				getData client path=/lock/lock size=2
				delete client path=/lock/lock
	`)
}

func TestSpansLost(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		lease := e.take(e.ctx, e.mutex)
		e.network.Expire(e.t)
		e.lost(lease, locks.LossSuspended)
		e.spans.AwaitCount(e.t, tracing.SpanLockLost, 1)
		suite.WantErr(e.t, lease.Release(e.ctx), locks.ErrLockLost)
		e.release(e.acquire(e.other()))
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=0 kind=mutex outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
				create client path=/lock/lock-
				getData client path=/lock/lock
			curator.lock.lost held_time=* kind=mutex path=/lock reason=suspended token=* type=lost link->#1 !Error
			curator.lock.release held_time=* kind=mutex outcome=already_gone path=/lock token=* type=lost link->#1 !Error
				delete client path=/lock/lock status_code=-101
	`)
}

func TestSpansSuspended(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		lease := e.acquire(e.other())
		waiter := e.start(e.ctx, e.mutex)
		e.waiting(1)
		e.network.Cut()
		e.waiting(2)
		e.release(lease)
		e.give(e.granted(waiter))
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=1 kind=mutex outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @waiting @waiting @granted @suspended @reconnected
				create client path=/lock/lock-
				getData client path=/lock/lock size=2
				getChildren2 client path=/lock
				getData client path=/lock/lock size=2
			curator.lock.release held_time=* kind=mutex outcome=released path=/lock token=* link->#1
				multi client path=/lock/lock size=3
	`)
}

func TestSpansDowngrade(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		rw := suite.Got(locks.NewInterProcessReadWriteLock(e.client, e.path)).OK(e.t)
		write := e.take(e.ctx, rw.WriteLock())
		read := suite.Got(rw.Downgrade(e.ctx, write)).OK(e.t)
		e.spans.AwaitCount(e.t, "getData", 2)
		e.give(read)
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=0 kind=rw_write outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
				create client path=/lock/__WRIT__
				getData client path=/lock/__WRIT__
			curator.lock.acquire#2 contenders_ahead=0 kind=rw_read outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
				create client path=/lock/__READ__
				getData client path=/lock/__READ__
			curator.lock.release held_time=* kind=rw_write outcome=released path=/lock token=* link->#1
				delete client path=/lock/__WRIT__
			curator.lock.release held_time=* kind=rw_read outcome=released path=/lock token=* link->#2
				delete client path=/lock/__READ__
	`)
}

func TestSpansSemaphore(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		s := suite.Got(locks.NewInterProcessSemaphore(e.client, e.path, 2)).OK(e.t)
		both := suite.Got(s.AcquireN(e.ctx, 2)).OK(e.t)
		e.spans.AwaitCount(e.t, "getData", 2)
		waiter := e.start(e.ctx, s)
		e.waiting(1)
		e.give(both)
		e.give(e.granted(waiter))
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=1 kind=semaphore outcome=acquired path=/lock reentrant=false try=false @enqueued @granted
				multi client path=/lock/lock- size=2
				getData client path=/lock/lock
				getData client path=/lock/lock
			curator.lock.acquire#2 contenders_ahead=2 kind=semaphore outcome=acquired path=/lock reentrant=false token=* try=false predecessor->#1 @enqueued @waiting @granted
				create client path=/lock/lock-
				getData client path=/lock/lock size=3
				getChildren2 client path=/lock
			curator.lock.release held_time=* kind=semaphore outcome=released path=/lock token=* link->#1
				delete client path=/lock/lock
			curator.lock.release held_time=* kind=semaphore outcome=released path=/lock token=* link->#1
				delete client path=/lock/lock
			curator.lock.release held_time=* kind=semaphore outcome=released path=/lock token=* link->#2
				delete client path=/lock/lock
	`)
}

func TestSpansSemaphoreV2(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		s := suite.Got(locks.NewInterProcessSemaphoreMutex(e.client, e.path+"-v2")).OK(e.t)
		lease := suite.Got(s.Acquire(e.ctx)).OK(e.t)
		e.give(lease)
	}, `
		test
			curator.lock.acquire#1 contenders_ahead=0 kind=semaphore outcome=acquired path=/lock-v2 reentrant=false token=* try=false @enqueued @granted
				getChildren2 client path=/lock-v2 status_code=-101
				create client path=/lock-v2/locks/lock-
				create client path=/lock-v2/leases/lease-
				delete client path=/lock-v2/locks/lock
			curator.lock.release held_time=* kind=semaphore outcome=released path=/lock-v2 token=* link->#1
				delete client path=/lock-v2/leases/lease
	`, "getData") // the watches, which nobody waits for: one while the other node is deleted
}

func TestSpansMultiLock(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		other := suite.Got(locks.NewInterProcessMutex(e.client, e.path+"-too")).OK(e.t)
		multi := suite.Got(locks.NewInterProcessMultiLock(e.mutex, other)).OK(e.t)
		e.give(e.take(e.ctx, multi))
	}, `
		test
			curator.lock.acquire#1 kind=multi outcome=acquired reentrant=false try=false @granted
				curator.lock.acquire#2 contenders_ahead=0 kind=mutex outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
					create client path=/lock/lock-
					getData client path=/lock/lock
				curator.lock.acquire#3 contenders_ahead=0 kind=mutex outcome=acquired path=/lock-too reentrant=false token=* try=false @enqueued @granted
					create client path=/lock-too/lock-
					getData client path=/lock-too/lock
			curator.lock.release held_time=* kind=multi outcome=released link->#1
				curator.lock.release held_time=* kind=mutex outcome=released path=/lock-too token=* link->#3
					delete client path=/lock-too/lock
				curator.lock.release held_time=* kind=mutex outcome=released path=/lock token=* link->#2
					delete client path=/lock/lock
	`)
}

func TestSpansDo(t *testing.T) {
	traced(t, func(e *tracedEnv) {
		err := locks.Do(e.ctx, e.mutex, func(ctx context.Context, lease *locks.Lease) error {
			e.spans.AwaitCount(e.t, "getData", 1)
			_, err := e.client.CheckExists().ForPath(ctx, e.path)
			return err
		})
		if err != nil {
			e.t.Fatal(err)
		}
		busy := e.acquire(e.other())
		err = locks.TryDo(e.ctx, e.mutex, func(context.Context, *locks.Lease) error { return nil })
		suite.WantErr(e.t, err, locks.ErrNotAcquired)
		e.release(busy)
	}, `
		test
			curator.lock.do kind=mutex path=/lock
				curator.lock.acquire#1 contenders_ahead=0 kind=mutex outcome=acquired path=/lock reentrant=false token=* try=false @enqueued @granted
					create client path=/lock/lock-
					getData client path=/lock/lock
				exists client path=/lock
				curator.lock.release held_time=* kind=mutex outcome=released path=/lock token=* link->#1
					delete client path=/lock/lock
			curator.lock.do kind=mutex path=/lock
				curator.lock.acquire#2 contenders_ahead=1 kind=mutex outcome=not_acquired path=/lock try=true @enqueued
					create client path=/lock/lock-
					delete client path=/lock/lock
	`)
}

// TestLinks has waiters whose predecessors say nothing that can be linked to.
func TestLinks(t *testing.T) {
	for name, holder := range map[string]func(e *tracedEnv) *locks.Lease{
		"Java's data": func(e *tracedEnv) *locks.Lease {
			return e.acquire(e.lock(e.client, locks.WithNodeData([]byte("10.1.2.3"))))
		},
		"revoked": func(e *tracedEnv) *locks.Lease {
			lease := e.acquire(e.mutex)
			suite.OK(e.t, locks.AttemptRevoke(e.t.Context(), e.observer, lease.Path()))
			return lease
		},
		"a traceparent that is none": func(e *tracedEnv) *locks.Lease {
			return e.acquire(e.lock(e.client, locks.WithNodeData([]byte("ip\ntraceparent=00-xyz"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := &tracedEnv{spans: suite.NewSpans()}
				e.env = newEnv(t, b, framework.WithTracing(e.spans.Option()))
				ctx, span := e.spans.Tracer().Start(t.Context(), "the waiter's own, which is no holder's")
				lease := holder(e)
				waiter := e.start(ctx, e.another())
				e.waiting(1)
				e.release(lease)
				e.release(e.granted(waiter))
				span.End()
				for _, span := range e.spans.Named(tracing.SpanLockAcquire) {
					if links := span.Links(); len(links) != 0 {
						t.Errorf("links %+v", links)
					}
				}
			})
		})
	}
}

// TestBaggage has a propagator that writes more than a trace.
func TestBaggage(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans := suite.NewSpans()
		propagator := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
		e := newEnv(t, b, framework.WithTracing(spans.Option(), tracing.WithPropagator(propagator)))
		member := suite.Got(baggage.NewMember("user", "secret")).OK(t)
		bag := suite.Got(baggage.New(member)).OK(t)
		lease := suite.Got(e.mutex.Acquire(baggage.ContextWithBaggage(t.Context(), bag))).OK(t)
		data, err := e.observer.GetData().ForPath(t.Context(), lease.Path())
		if err != nil || strings.Contains(string(data), "secret") || !strings.Contains(string(data), "traceparent=") {
			t.Errorf("data %q, %v", data, err)
		}
		e.release(lease)
	})
}
