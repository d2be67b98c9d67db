package retry_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"pgregory.net/rapid"

	"github.com/go-curator/curator/retry"
)

const ms = time.Millisecond

var errDown = errors.New("down")

// sessionError is an error that knows whether the session has ended.
type sessionError bool

func (e sessionError) Error() string      { return fmt.Sprintf("session ended: %t", bool(e)) }
func (e sessionError) SessionEnded() bool { return bool(e) }

// policyFunc is a policy of somebody else.
type policyFunc func(attempt int, elapsed time.Duration, err error) (time.Duration, bool)

func (f policyFunc) Next(attempt int, elapsed time.Duration, err error) (time.Duration, bool) {
	return f(attempt, elapsed, err)
}

// retries counts how often policy allows another try when no time passes.
func retries(policy retry.Policy, atMost int) int {
	n := 0
	for n < atMost {
		if _, ok := policy.Next(n, 0, errDown); !ok {
			break
		}
		n++
	}
	return n
}

func TestRetriesOfPolicies(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		want   int
	}{
		"None":                          {retry.None(), 0},
		"OneTime":                       {retry.OneTime(5 * ms), 1},
		"NTimes 0":                      {retry.NTimes(0, 5*ms), 0},
		"NTimes 4":                      {retry.NTimes(4, 5*ms), 4},
		"Forever":                       {retry.Forever(5 * ms), 1000},
		"ExponentialBackoff 3":          {retry.ExponentialBackoff(5*ms, 3), 3},
		"ExponentialBackoff 29":         {retry.ExponentialBackoff(5*ms, 29), 29},
		"ExponentialBackoff 30":         {retry.ExponentialBackoff(5*ms, 30), 29},
		"ExponentialBackoff 1000":       {retry.ExponentialBackoff(5*ms, 1000), 29},
		"BoundedExponentialBackoff 7":   {retry.BoundedExponentialBackoff(5*ms, 9*ms, 7), 7},
		"SessionFailed of NTimes 4":     {retry.SessionFailed(retry.NTimes(4, 0)), 4},
		"FromBackOff with 4 tries":      {retry.FromBackOff(fourTries), 4},
		"SessionFailed of FromBackOff":  {retry.SessionFailed(retry.FromBackOff(fourTries)), 4},
		"FromBackOff of ToBackOff of 5": {retry.FromBackOff(func() backoff.BackOff { return retry.ToBackOff(retry.NTimes(5, 0)) }), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if err := retry.Validate(tt.policy); err != nil {
				t.Fatal(err)
			}
			for range 2 { // nothing is left over from a first use
				if got := retries(tt.policy, 1000); got != tt.want {
					t.Errorf("%d retries, want %d", got, tt.want)
				}
			}
		})
	}
}

func fourTries() backoff.BackOff {
	return backoff.WithMaxRetries(backoff.NewConstantBackOff(5*ms), 4)
}

func TestFixedDelays(t *testing.T) {
	for name, policy := range map[string]retry.Policy{
		"NTimes":       retry.NTimes(3, 7*ms),
		"OneTime":      retry.OneTime(7 * ms),
		"Forever":      retry.Forever(7 * ms),
		"UntilElapsed": retry.UntilElapsed(time.Second, 7*ms),
	} {
		if delay, ok := policy.Next(0, 0, errDown); delay != 7*ms || !ok {
			t.Errorf("%s: Next = %v, %t; want 7ms, true", name, delay, ok)
		}
	}
}

// The sequence that Curator's tests pin: 20 ms of budget, 7 ms of delay.
func TestUntilElapsed(t *testing.T) {
	policy := retry.UntilElapsed(20*ms, 7*ms)
	for i, want := range []bool{true, true, true, false} {
		elapsed := time.Duration(i) * 7 * ms
		if _, ok := policy.Next(i, elapsed, errDown); ok != want {
			t.Errorf("after %v: %t, want %t", elapsed, ok, want)
		}
	}
	if _, ok := policy.Next(3, 20*ms, errDown); ok {
		t.Error("goes on at the end of its budget")
	}
}

func TestExponentialBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "base"))
		ceiling := time.Duration(rapid.Int64Range(int64(base), math.MaxInt64).Draw(t, "ceiling"))
		attempt := rapid.IntRange(0, 28).Draw(t, "attempt")

		top := math.Ldexp(float64(base), attempt+1)
		for _, limited := range []struct {
			policy  retry.Policy
			ceiling time.Duration
		}{
			{retry.ExponentialBackoff(base, 29), math.MaxInt32 * ms},
			{retry.BoundedExponentialBackoff(base, ceiling, 29), ceiling},
		} {
			delay, ok := limited.policy.Next(attempt, 0, errDown)
			if !ok {
				t.Fatalf("gave up at attempt %d", attempt)
			}
			if delay < base || delay > limited.ceiling || float64(delay) > top {
				t.Fatalf("delay %v of base %v and ceiling %v at attempt %d", delay, base, limited.ceiling, attempt)
			}
		}
	})
}

// 10 s shifted by 30 overflows a duration.
func TestExponentialDoesNotOverflow(t *testing.T) {
	for attempt := range 29 {
		for range 100 {
			unbounded, ok := retry.ExponentialBackoff(10*time.Second, 29).Next(attempt, 0, errDown)
			if !ok || unbounded < 10*time.Second || unbounded > 25*24*time.Hour {
				t.Fatalf("attempt %d: %v, %t", attempt, unbounded, ok)
			}
			bounded, ok := retry.BoundedExponentialBackoff(10*time.Second, math.MaxInt64, 29).Next(attempt, 0, errDown)
			if !ok || bounded < 10*time.Second {
				t.Fatalf("attempt %d, bounded: %v, %t", attempt, bounded, ok)
			}
		}
	}
}

func TestExponentialGrowsAndSpreads(t *testing.T) {
	policy := retry.BoundedExponentialBackoff(10*ms, 100*ms, 29)
	longest := func(attempt int) (most time.Duration, distinct int) {
		seen := map[time.Duration]bool{}
		for range 1000 {
			delay, _ := policy.Next(attempt, 0, errDown)
			seen[delay], most = true, max(most, delay)
		}
		return most, len(seen)
	}
	for attempt, want := range []time.Duration{20 * ms, 40 * ms, 80 * ms, 100 * ms, 100 * ms} {
		most, distinct := longest(attempt)
		if most > want || most < want*3/4 {
			t.Errorf("attempt %d: the longest of 1000 delays is %v, want nearly %v", attempt, most, want)
		}
		if distinct < 500 { // also at the ceiling
			t.Errorf("attempt %d: 1000 delays have only %d values", attempt, distinct)
		}
	}
}

func TestExponentialTakesAnyAttempt(t *testing.T) {
	policy := retry.ExponentialBackoff(10*ms, 29)
	if delay, ok := policy.Next(-5, 0, errDown); !ok || delay < 10*ms || delay > 20*ms {
		t.Errorf("attempt -5: %v, %t", delay, ok)
	}
	if _, ok := policy.Next(math.MaxInt, 0, errDown); ok {
		t.Error("goes on at the largest attempt")
	}
	if delay, ok := retry.ExponentialBackoff(0, 3).Next(2, 0, errDown); delay != 0 || !ok {
		t.Errorf("base 0: %v, %t", delay, ok)
	}
}

func TestSessionFailed(t *testing.T) {
	policy := retry.SessionFailed(retry.NTimes(3, 7*ms))
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"another error":  {errDown, true},
		"no error":       {nil, true},
		"ended":          {sessionError(true), false},
		"ended, wrapped": {fmt.Errorf("create /a: %w", sessionError(true)), false},
		"ended, joined":  {errors.Join(errDown, sessionError(true)), false},
		"not ended":      {sessionError(false), true},
	} {
		if delay, ok := policy.Next(0, 0, tt.err); ok != tt.want || ok && delay != 7*ms {
			t.Errorf("%s: %v, %t; want %t", name, delay, ok, tt.want)
		}
	}
}

func TestFromBackOffHasNoState(t *testing.T) {
	policy := retry.FromBackOff(func() backoff.BackOff {
		return backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(10*ms), backoff.WithMultiplier(2), backoff.WithRandomizationFactor(0))
	})
	for _, attempt := range []int{3, 0, 2, 2, 1, 0} {
		want := 10 * ms << attempt
		if delay, ok := policy.Next(attempt, 0, errDown); delay != want || !ok {
			t.Errorf("attempt %d: %v, %t; want %v", attempt, delay, ok, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		want   string // a part of the message; empty if valid
	}{
		"nil":                        {nil, "None()"},
		"nil in SessionFailed":       {retry.SessionFailed(nil), "SessionFailed: nil"},
		"nil in FromBackOff":         {retry.FromBackOff(nil), "FromBackOff: nil"},
		"milliseconds, exponential":  {retry.ExponentialBackoff(1000, 3), "base 1µs is shorter than a millisecond; Go durations are nanoseconds: 1000*time.Millisecond?"},
		"milliseconds, bounded":      {retry.BoundedExponentialBackoff(ms, 30_000, 3), "ceiling 30µs"},
		"milliseconds, n times":      {retry.NTimes(3, 100), "NTimes: delay 100ns"},
		"milliseconds, one time":     {retry.OneTime(100), "OneTime: delay 100ns"},
		"milliseconds, forever":      {retry.Forever(100), "Forever: delay 100ns"},
		"milliseconds, budget":       {retry.UntilElapsed(60_000, ms), "UntilElapsed: budget 60µs"},
		"milliseconds, delay":        {retry.UntilElapsed(time.Minute, 10), "UntilElapsed: delay 10ns"},
		"milliseconds, deep":         {retry.SessionFailed(retry.SessionFailed(retry.OneTime(5))), "OneTime: delay 5ns"},
		"just below":                 {retry.OneTime(ms - 1), "999999*time.Millisecond?"},
		"negative count":             {retry.NTimes(-1, ms), "negative number of retries -1"},
		"negative exponential count": {retry.ExponentialBackoff(ms, -2), "negative number of retries -2"},
		"negative delay":             {retry.NTimes(1, -ms), "negative delay -1ms"},
		"negative base":              {retry.ExponentialBackoff(-ms, 1), "negative base"},
		"negative budget":            {retry.UntilElapsed(-ms, ms), "negative budget"},
		"forever without delay":      {retry.Forever(0), "not positive"},
		"forever, negative":          {retry.Forever(-ms), "not positive"},
		"ceiling below base":         {retry.BoundedExponentialBackoff(2*ms, ms, 3), "ceiling 1ms is below base 2ms"},
		"zero delay":                 {retry.NTimes(3, 0), ""},
		"zero base":                  {retry.ExponentialBackoff(0, 3), ""},
		"a millisecond":              {retry.OneTime(ms), ""},
		"a month":                    {retry.ExponentialBackoff(720*time.Hour, 3), ""},
		"of others":                  {policyFunc(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := retry.Validate(tt.policy)
			if tt.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if !errors.Is(err, retry.ErrInvalidPolicy) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want ErrInvalidPolicy with %q", err, tt.want)
			}
		})
	}
}

// A policy that Validate refuses, asked all the same, neither panics nor spins.
func TestInvalidPoliciesFailClosed(t *testing.T) {
	for name, policy := range map[string]retry.Policy{
		"nil in SessionFailed":     retry.SessionFailed(nil),
		"nil in FromBackOff":       retry.FromBackOff(nil),
		"FromBackOff without one":  retry.FromBackOff(func() backoff.BackOff { return nil }),
		"Forever without delay":    retry.Forever(0),
		"Forever, negative":        retry.Forever(-ms),
		"negative count":           retry.NTimes(-1, ms),
		"negative, exponential":    retry.ExponentialBackoff(ms, -1),
		"UntilElapsed, no budget":  retry.UntilElapsed(-ms, ms),
		"SessionFailed of such":    retry.SessionFailed(retry.Forever(0)),
		"SessionFailed of backoff": retry.SessionFailed(retry.FromBackOff(nil)),
	} {
		if delay, ok := policy.Next(0, 0, errDown); ok {
			t.Errorf("%s: retries after %v", name, delay)
		}
	}
	if delay, ok := retry.BoundedExponentialBackoff(2*ms, ms, 3).Next(0, 0, errDown); !ok || delay > ms {
		t.Errorf("ceiling below base: %v, %t; want no more than the ceiling", delay, ok)
	}
}
