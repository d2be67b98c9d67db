package retry

import (
	"errors"
	"fmt"
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
