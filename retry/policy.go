package retry

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// ErrInvalidPolicy is returned by [Validate] and [Do], wrapped, for a policy with invalid
// arguments of its constructor.
var ErrInvalidPolicy = errors.New("invalid retry policy")

// Policy decides whether and when to try again after attempt (0 after the first try),
// elapsed since the first try began, failed with err. It must be safe for concurrent use
// and must not block.
//
// Java: RetryPolicy.
type Policy interface {
	// Next returns how long to wait before the next try; ok is false to give up.
	Next(attempt int, elapsed time.Duration, err error) (delay time.Duration, ok bool)
}

// None returns a policy that never retries.
func None() Policy { return nTimes{name: "None"} }

// NTimes returns a policy that retries n times, after delay each.
//
// Java: new RetryNTimes(n, sleepMs).
func NTimes(n int, delay time.Duration) Policy { return nTimes{"NTimes", n, delay} }

// OneTime returns a policy that retries once, after delay.
//
// Java: new RetryOneTime(sleepMs).
func OneTime(delay time.Duration) Policy { return nTimes{"OneTime", 1, delay} }

type nTimes struct {
	name  string
	n     int
	delay time.Duration
}

func (p nTimes) Next(attempt int, _ time.Duration, _ error) (time.Duration, bool) {
	return p.delay, attempt < p.n
}

func (p nTimes) validate() error {
	return errors.Join(checkCount(p.name, p.n), checkDuration(p.name, "delay", p.delay))
}

// Forever returns a policy that retries without end, after delay each, which must be
// positive. Only the context, or the Close of the client, stops it.
//
// Java: new RetryForever(ms).
func Forever(delay time.Duration) Policy { return forever{delay} }

type forever struct{ delay time.Duration }

func (p forever) Next(int, time.Duration, error) (time.Duration, bool) {
	return p.delay, p.delay > 0
}

func (p forever) validate() error {
	if p.delay <= 0 {
		return fmt.Errorf("Forever: delay %v is not positive", p.delay)
	}
	return checkDuration("Forever", "delay", p.delay)
}

// UntilElapsed returns a policy that retries, after delay each, until budget has passed.
// The budget is checked before a wait, so the last try begins up to delay after the budget's
// end.
//
// Java: new RetryUntilElapsed(maxMs, sleepMs), which makes the same number of tries and sleeps
// once more before it gives up.
func UntilElapsed(budget, delay time.Duration) Policy { return untilElapsed{budget, delay} }

type untilElapsed struct{ budget, delay time.Duration }

func (p untilElapsed) Next(_ int, elapsed time.Duration, _ error) (time.Duration, bool) {
	return p.delay, elapsed < p.budget
}

func (p untilElapsed) validate() error {
	return errors.Join(
		checkDuration("UntilElapsed", "budget", p.budget),
		checkDuration("UntilElapsed", "delay", p.delay))
}

const (
	// maxExponentialRetries is Java's MAX_RETRIES_LIMIT: the factor is an int there, and
	// would overflow.
	maxExponentialRetries = 29

	// maxExponentialDelay is Java's DEFAULT_MAX_SLEEP_MS, 24.8 days.
	maxExponentialDelay = math.MaxInt32 * time.Millisecond
)

// ExponentialBackoff returns a policy that retries maxRetries times, at most 29. It waits
// base times a random number that is at least 1 and below 2^(attempt+1), and never longer
// than 24 days.
//
// Java: new ExponentialBackoffRetry(baseMs, maxRetries). The random number is an integer there,
// so all clients wait equally long before their first retry.
func ExponentialBackoff(base time.Duration, maxRetries int) Policy {
	return exponential{"ExponentialBackoff", base, max(base, maxExponentialDelay), maxRetries}
}

// BoundedExponentialBackoff returns a policy that is [ExponentialBackoff] with no wait
// above ceiling. If a wait could reach the ceiling, a random wait below the ceiling is used
// instead, so clients that lost a server do not reconnect at the same time.
//
// Java: new BoundedExponentialBackoffRetry(baseMs, maxMs, maxRetries).
func BoundedExponentialBackoff(base, ceiling time.Duration, maxRetries int) Policy {
	return exponential{"BoundedExponentialBackoff", base, ceiling, maxRetries}
}

type exponential struct {
	name          string
	base, ceiling time.Duration
	maxRetries    int
}

func (p exponential) Next(attempt int, _ time.Duration, _ error) (time.Duration, bool) {
	attempt = max(attempt, 0)
	if attempt >= min(p.maxRetries, maxExponentialRetries) {
		return 0, false
	}
	top := p.ceiling
	if p.base <= top>>(attempt+1) { // else base<<(attempt+1) is above the ceiling, or overflows
		top = p.base << (attempt + 1)
	}
	if top <= p.base {
		return top, true
	}
	return p.base + rand.N(top-p.base), true
}

func (p exponential) validate() error {
	err := errors.Join(
		checkCount(p.name, p.maxRetries),
		checkDuration(p.name, "base", p.base),
		checkDuration(p.name, "ceiling", p.ceiling))
	if err == nil && p.ceiling < p.base {
		return fmt.Errorf("%s: ceiling %v is below base %v", p.name, p.ceiling, p.base)
	}
	return err
}

// SessionFailed returns policy, except that it does not retry after the end of a session: an
// error in whose chain an error has a method SessionEnded() bool that reports true.
//
// Java: new SessionFailedRetryPolicy(policy).
func SessionFailed(policy Policy) Policy { return sessionFailed{policy} }

type sessionFailed struct{ policy Policy }

func (p sessionFailed) Next(attempt int, elapsed time.Duration, err error) (time.Duration, bool) {
	var ender interface{ SessionEnded() bool }
	if p.policy == nil || errors.As(err, &ender) && ender.SessionEnded() {
		return 0, false
	}
	return p.policy.Next(attempt, elapsed, err)
}

func (p sessionFailed) validate() error {
	if err := check(p.policy); err != nil {
		return fmt.Errorf("SessionFailed: %w", err)
	}
	return nil
}

func (p sessionFailed) forLoop() Policy { return sessionFailed{forLoop(p.policy)} }

// Validate returns an error that wraps [ErrInvalidPolicy] for an invalid policy of this
// package: a missing policy, a negative count, a duration that is negative or between zero and
// a millisecond, which is usually a number of milliseconds written as in Java. It returns nil
// for other implementations of [Policy]. framework.NewClient and [Do] call it.
func Validate(policy Policy) error {
	if err := check(policy); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidPolicy, err)
	}
	return nil
}

// check is Validate without the wrapping, for policies that contain others.
func check(policy Policy) error {
	if policy == nil {
		return errors.New("nil; use None() for no retries")
	}
	if own, ok := policy.(interface{ validate() error }); ok {
		return own.validate()
	}
	return nil
}

// checkDuration refuses what nobody means. Constructors are called with the numbers of a
// Java program, ExponentialBackoff(1000, 3), and the compiler takes 1000 for a microsecond.
func checkDuration(policy, name string, d time.Duration) error {
	switch {
	case d < 0:
		return fmt.Errorf("%s: negative %s %v", policy, name, d)
	case 0 < d && d < time.Millisecond:
		return fmt.Errorf("%s: %s %v is shorter than a millisecond; Go durations are nanoseconds: %d*time.Millisecond?",
			policy, name, d, d.Nanoseconds())
	}
	return nil
}

func checkCount(policy string, n int) error {
	if n < 0 {
		return fmt.Errorf("%s: negative number of retries %d", policy, n)
	}
	return nil
}
