package retry

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// FromBackOff returns a policy that waits for the times of a [backoff.BackOff] and gives up at
// [backoff.Stop]. newBackOff is called once for each loop of [Do]. The loop resets the BackOff
// and does not share it.
//
// A BackOff has state and Next has none. If a policy that wraps this one calls Next outside of
// Do, Next advances a new BackOff to attempt. This is correct for a BackOff that depends on the
// number of tries, but not for one that depends on a clock, as with backoff.WithMaxElapsedTime.
func FromBackOff(newBackOff func() backoff.BackOff) Policy { return fromBackOff{newBackOff} }

type fromBackOff struct{ newBackOff func() backoff.BackOff }

func (p fromBackOff) Next(attempt int, elapsed time.Duration, err error) (time.Duration, bool) {
	loop := p.forLoop()
	delay, ok := loop.Next(0, elapsed, err)
	for i := 1; ok && i <= attempt; i++ {
		delay, ok = loop.Next(i, elapsed, err)
	}
	return delay, ok
}

func (p fromBackOff) validate() error {
	if p.newBackOff == nil {
		return errors.New("FromBackOff: nil function")
	}
	return nil
}

func (p fromBackOff) forLoop() Policy {
	if p.newBackOff == nil {
		return None()
	}
	b := p.newBackOff()
	if b == nil {
		return None()
	}
	b.Reset()
	return loopBackOff{b}
}

// loopBackOff is a policy of one loop: it has state, and is asked in order.
type loopBackOff struct{ backOff backoff.BackOff }

func (p loopBackOff) Next(int, time.Duration, error) (time.Duration, bool) {
	delay := p.backOff.NextBackOff()
	return delay, delay >= 0 // Stop is negative
}

// forLoop returns what stands for policy in one loop. Only a policy with state per loop
// is not its own.
func forLoop(policy Policy) Policy {
	if p, ok := policy.(interface{ forLoop() Policy }); ok {
		return p.forLoop()
	}
	return policy
}

// ToBackOff returns a [backoff.BackOff] that waits for the times of policy, for one loop at a
// time. The policy gets nil as the error, because a BackOff does not get the error. An invalid
// policy stops immediately.
func ToBackOff(policy Policy) backoff.BackOff {
	if Validate(policy) != nil {
		policy = None()
	}
	b := &policyBackOff{policy: policy}
	b.Reset()
	return b
}

type policyBackOff struct {
	policy Policy

	loop    Policy
	start   time.Time
	attempt int
}

func (b *policyBackOff) Reset() {
	b.loop, b.start, b.attempt = forLoop(b.policy), time.Now(), 0
}

func (b *policyBackOff) NextBackOff() time.Duration {
	delay, ok := b.loop.Next(b.attempt, time.Since(b.start), nil)
	if !ok {
		return backoff.Stop
	}
	b.attempt++
	return max(delay, 0)
}
