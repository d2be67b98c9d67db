package retry_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/retry"
)

// Curator's TestThreadLocalRetryLoop: with R retries a call that goes through several
// operations asks the policy R+1 times in all, however deep it is.
func TestNestedLoopsShareOneBudget(t *testing.T) {
	const retriesOfOuter, depth = 5, 4
	policy := &recorder{Policy: retry.NTimes(retriesOfOuter, 0)}
	calls := 0
	var operation func(depth int) func(ctx context.Context) error
	operation = func(depth int) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			if depth == 0 {
				calls++
				return errDown
			}
			return retry.Do(ctx, policy, operation(depth-1))
		}
	}
	if err := retry.Do(t.Context(), policy, operation(depth)); err != errDown {
		t.Errorf("error %v", err)
	}
	if calls != retriesOfOuter+1 || len(policy.attempts) != retriesOfOuter+1 {
		t.Errorf("%d calls, policy asked %d times; want %d each", calls, len(policy.attempts), retriesOfOuter+1)
	}
}

func TestNestedLoopTriesOnceAndReturns(t *testing.T) {
	inner := 0
	err := retry.Do(t.Context(), retry.None(), func(ctx context.Context) error {
		value, err := retry.DoValue(ctx, retry.Forever(time.Hour), func(context.Context) (int, error) {
			inner++
			return 7, nil
		})
		if value != 7 || err != nil {
			t.Errorf("inner: %d, %v", value, err)
		}
		return retry.Do(ctx, retry.Forever(time.Hour), func(context.Context) error { inner++; return errDown })
	})
	if err != errDown || inner != 2 {
		t.Errorf("%v after %d inner calls", err, inner)
	}
}

// What outlives a loop, as the context of a lease does, is not in it for ever.
func TestContextLeavesItsLoop(t *testing.T) {
	var kept context.Context
	if err := retry.Do(t.Context(), retry.None(), func(ctx context.Context) error { kept = ctx; return nil }); err != nil {
		t.Fatal(err)
	}
	calls := 0
	_ = retry.Do(kept, retry.NTimes(2, 0), func(context.Context) error { calls++; return errDown })
	if calls != 3 {
		t.Errorf("%d calls with the context of a loop that is over; want 3", calls)
	}
}

func TestContextLeavesItsLoopAfterPanic(t *testing.T) {
	var kept context.Context
	func() {
		defer func() { _ = recover() }()
		_ = retry.Do(t.Context(), retry.None(), func(ctx context.Context) error { kept = ctx; panic("user") })
	}()
	calls := 0
	_ = retry.Do(kept, retry.OneTime(0), func(context.Context) error { calls++; return errDown })
	if calls != 2 {
		t.Errorf("%d calls; want 2", calls)
	}
}

func TestDetach(t *testing.T) {
	type key struct{}
	outer := context.WithValue(t.Context(), key{}, "value")
	var none context.Context
	if retry.Detach(outer) != outer || retry.Detach(none) != nil {
		t.Error("Detach changes a context that is in no loop")
	}
	_ = retry.Do(outer, retry.None(), func(ctx context.Context) error {
		detached := retry.Detach(context.WithoutCancel(ctx))
		if detached.Value(key{}) != "value" {
			t.Error("Detach loses values")
		}
		calls := 0
		err := retry.Do(detached, retry.NTimes(2, 0), func(ctx context.Context) error {
			calls++
			return retry.Do(ctx, retry.NTimes(2, 0), func(context.Context) error { return errDown })
		})
		if calls != 3 || err != errDown {
			t.Errorf("%d calls, %v; want a loop of its own", calls, err)
		}
		return nil
	})
}

func TestSharedPolicyConcurrentSafe(t *testing.T) {
	policy := retry.SessionFailed(retry.FromBackOff(func() backoff.BackOff {
		return backoff.WithMaxRetries(&backoff.ZeroBackOff{}, 3)
	}))
	var calls atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_ = retry.Do(t.Context(), policy, func(ctx context.Context) error {
					var nested sync.WaitGroup
					for range 2 { // goroutines of fn share its loop
						nested.Go(func() {
							_ = retry.Do(ctx, policy, func(context.Context) error { calls.Add(1); return errDown })
						})
					}
					nested.Wait()
					return errDown
				})
			}
		})
	}
	wg.Wait()
	if got := calls.Load(); got != 8*50*4*2 {
		t.Errorf("%d calls, want %d", got, 8*50*4*2)
	}
}
