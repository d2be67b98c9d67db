package retry

import (
	"errors"
	"fmt"
	"time"
)

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
