package retry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/retry"
)

// answered is an error that says itself whether it can be retried.
type answered bool

func (e answered) Error() string   { return fmt.Sprintf("answered: retryable %t", bool(e)) }
func (e answered) Retryable() bool { return bool(e) }

// recorder is a policy that keeps what it was asked.
type recorder struct {
	retry.Policy
	attempts []int
	elapsed  []time.Duration
	errs     []error
}

func (r *recorder) Next(attempt int, elapsed time.Duration, err error) (time.Duration, bool) {
	r.attempts = append(r.attempts, attempt)
	r.elapsed = append(r.elapsed, elapsed)
	r.errs = append(r.errs, err)
	return r.Policy.Next(attempt, elapsed, err)
}

func TestDoAsksAfterEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := &recorder{Policy: retry.NTimes(2, time.Second)}
		calls := 0
		err := retry.Do(t.Context(), policy, func(context.Context) error {
			calls++
			time.Sleep(100 * ms)
			return fmt.Errorf("try %d: %w", calls, errDown)
		})
		if err == nil || err.Error() != "try 3: down" {
			t.Errorf("error %v; want the last one", err)
		}
		want := "[0 1 2] [100ms 1.2s 2.3s] [try 1: down try 2: down try 3: down]"
		if got := fmt.Sprint(policy.attempts, policy.elapsed, policy.errs); got != want {
			t.Errorf("asked %s; want %s", got, want)
		}
	})
}

func TestDoStopsAtSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, calls := time.Now(), 0
		err := retry.Do(t.Context(), retry.Forever(time.Second), func(context.Context) error {
			if calls++; calls < 4 {
				return errDown
			}
			return nil
		})
		if err != nil || calls != 4 || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %d calls and %v; want nil, 4 and 3s", err, calls, time.Since(start))
		}
	})
}

func TestDoRetriesOnlyWhatMayBeRetried(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		calls int
	}{
		"plain":               {errDown, 3},
		"permanent":           {retry.Permanent(errDown), 1},
		"permanent, wrapped":  {fmt.Errorf("create: %w", retry.Permanent(errDown)), 1},
		"permanent of v4":     {backoff.Permanent(errDown), 1},
		"answered":            {answered(false), 1},
		"answered, wrapped":   {fmt.Errorf("create: %w", answered(false)), 1},
		"retryable":           {fmt.Errorf("create: %w", answered(true)), 3},
		"retryable, but told": {retry.Permanent(answered(true)), 1},
		"a timeout of fn":     {context.DeadlineExceeded, 3},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := retry.Do(t.Context(), retry.NTimes(2, 0), func(context.Context) error {
				calls++
				return tt.err
			})
			if err != tt.err {
				t.Errorf("error %v; want it as it was", err)
			}
			if calls != tt.calls {
				t.Errorf("%d calls, want %d", calls, tt.calls)
			}
		})
	}
}

func TestPermanent(t *testing.T) {
	if err := retry.Permanent(nil); err != nil {
		t.Errorf("Permanent(nil) = %v", err)
	}
	err := retry.Permanent(fmt.Errorf("create: %w", answered(true)))
	var as answered
	if !errors.As(err, &as) || !errors.Is(err, answered(true)) || err.Error() != "create: answered: retryable true" {
		t.Errorf("the mark hides what it marks: %v", err)
	}
}

func TestDoWhenContextEndsInTheWait(t *testing.T) {
	cause := errors.New("shutting down")
	for name, tt := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		want []error
		text string
	}{
		"deadline": {
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 90*time.Second)
			},
			[]error{context.DeadlineExceeded},
			"down (not tried again: context deadline exceeded)",
		},
		"cause": {
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(ctx, 90*time.Second, cause)
			},
			[]error{context.DeadlineExceeded, cause},
			"down (not tried again: context deadline exceeded: shutting down)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tt.end(t.Context())
				defer cancel()
				start, calls := time.Now(), 0
				err := retry.Do(ctx, retry.Forever(time.Minute), func(context.Context) error {
					calls++
					return errDown
				})
				for _, want := range append(tt.want, errDown) {
					if !errors.Is(err, want) {
						t.Errorf("error %v is not %v", err, want)
					}
				}
				if err.Error() != tt.text {
					t.Errorf("text %q, want %q", err, tt.text)
				}
				if calls != 2 || time.Since(start) != 90*time.Second {
					t.Errorf("%d calls in %v; want 2 in 90s", calls, time.Since(start))
				}
			})
		})
	}
}

func TestDoWhenContextEndsInTheCall(t *testing.T) {
	for name, tt := range map[string]struct {
		fail func(ctx context.Context) error
		text string
	}{
		"another error": {func(context.Context) error { return errDown }, "down (not tried again: context canceled)"},
		"its error":     {func(ctx context.Context) error { return fmt.Errorf("get: %w", ctx.Err()) }, "get: context canceled"},
		"final error":   {func(context.Context) error { return retry.Permanent(errDown) }, "down"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			policy := &recorder{Policy: retry.Forever(time.Hour)}
			err := retry.Do(ctx, policy, func(ctx context.Context) error {
				cancel()
				return tt.fail(ctx)
			})
			if err == nil || err.Error() != tt.text {
				t.Errorf("error %v, want %s", err, tt.text)
			}
			if len(policy.attempts) > 0 {
				t.Error("asked the policy although the context had ended")
			}
		})
	}
}

func TestDoWithoutDelayLooksAtTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	spin := policyFunc(func(attempt int, _ time.Duration, _ error) (time.Duration, bool) {
		if attempt == 2 {
			cancel()
		}
		return -time.Second, true // as good as none
	})
	calls := 0
	err := retry.Do(ctx, spin, func(context.Context) error { calls++; return errDown })
	if calls != 3 || !errors.Is(err, context.Canceled) || !errors.Is(err, errDown) {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestDoRefuses(t *testing.T) {
	never := func(context.Context) error { t.Error("called"); return nil }
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errDown)

	if err := retry.Do(ended, retry.NTimes(3, ms), never); !errors.Is(err, context.Canceled) || !errors.Is(err, errDown) {
		t.Errorf("ended context: %v", err)
	}
	if err := retry.Do(t.Context(), retry.NTimes(3, 100), never); !errors.Is(err, retry.ErrInvalidPolicy) {
		t.Errorf("invalid policy: %v", err)
	}
	if err := retry.Do(t.Context(), nil, never); !errors.Is(err, retry.ErrInvalidPolicy) {
		t.Errorf("nil policy: %v", err)
	}
	if err := retry.Do(t.Context(), retry.None(), nil); err == nil {
		t.Error("nil function: no error")
	}
	var none context.Context
	if err := retry.Do(none, retry.None(), never); err == nil {
		t.Error("nil context: no error")
	}
	if _, err := retry.DoValue[int](t.Context(), retry.None(), nil); err == nil {
		t.Error("DoValue, nil function: no error")
	}
}

func TestDoValue(t *testing.T) {
	calls := 0
	got, err := retry.DoValue(t.Context(), retry.NTimes(3, 0), func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "half", errDown
		}
		return "whole", nil
	})
	if got != "whole" || err != nil || calls != 3 {
		t.Errorf("%q, %v after %d calls", got, err, calls)
	}
	got, err = retry.DoValue(t.Context(), retry.None(), func(context.Context) (string, error) { return "half", errDown })
	if got != "" || err != errDown {
		t.Errorf("%q, %v; want the zero value beside an error", got, err)
	}
}

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
