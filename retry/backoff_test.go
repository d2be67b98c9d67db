package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/retry"
)

func TestDoUsesOneBackOffForEachLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		policy := retry.FromBackOff(func() backoff.BackOff {
			made++
			// Needs its Reset: a literal has no interval before it.
			return &backoff.ExponentialBackOff{
				InitialInterval: time.Second, Multiplier: 2, MaxInterval: time.Hour,
				MaxElapsedTime: 10 * time.Second, Stop: backoff.Stop, Clock: backoff.SystemClock,
			}
		})
		for loop := 1; loop <= 2; loop++ {
			for _, p := range []retry.Policy{policy, retry.SessionFailed(policy)} {
				made = 0
				start, calls := time.Now(), 0
				err := retry.Do(t.Context(), p, func(context.Context) error { calls++; return errDown })
				// Waits of 1, 2 and 4 s; another of 8 s would go beyond the 10 s.
				if err != errDown || made != 1 || calls != 4 || time.Since(start) != 7*time.Second {
					t.Errorf("loop %d: %v, %d BackOffs, %d calls in %v; want 1, 4 and 7s", loop, err, made, calls, time.Since(start))
				}
			}
		}
	})
}

// A policy that Do does not know, around one that has state, still comes to its end.
func TestFromBackOffInsideOfAnotherPolicy(t *testing.T) {
	calls := 0
	_ = retry.Do(t.Context(), &recorder{Policy: retry.FromBackOff(func() backoff.BackOff {
		return backoff.WithMaxRetries(&backoff.ZeroBackOff{}, 4)
	})}, func(context.Context) error { calls++; return errDown })
	if calls != 5 {
		t.Errorf("%d calls, want 5", calls)
	}
}

func TestToBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retry.ToBackOff(retry.UntilElapsed(20*ms, 7*ms))
		for range 2 {
			calls, start := 0, time.Now()
			err := backoff.Retry(func() error { calls++; return errDown }, b) // resets b first
			if err != errDown || calls != 4 || time.Since(start) != 21*ms {
				t.Errorf("%v, %d calls in %v; want 4 in 21ms", err, calls, time.Since(start))
			}
		}
	})
	for name, policy := range map[string]retry.Policy{
		"nil": nil, "invalid": retry.Forever(10), "None": retry.None(), "SessionFailed(nil)": retry.SessionFailed(nil),
	} {
		if delay := retry.ToBackOff(policy).NextBackOff(); delay != backoff.Stop {
			t.Errorf("%s: %v, want Stop", name, delay)
		}
	}
	spin := policyFunc(func(int, time.Duration, error) (time.Duration, bool) { return -1, true })
	if delay := retry.ToBackOff(spin).NextBackOff(); delay != 0 {
		t.Errorf("a negative delay became %v, not 0", delay)
	}
}
