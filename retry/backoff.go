package retry

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// FromBackOff returns a policy that waits as a [backoff.BackOff] says and gives up when
// it says [backoff.Stop]. newBackOff is called once for each loop of [Do], which resets
// what it gets and keeps it to itself.
//
// A BackOff has state and Next has none, so Next asked outside of Do, by a policy that
// wraps this one, takes a fresh BackOff forward to attempt. That is right for what
// depends on the number of tries, and not for what looks at a clock, as
// backoff.WithMaxElapsedTime does.
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

// ToBackOff returns a [backoff.BackOff] that waits as policy says, for one loop at a
// time. The policy sees nil for the error, because a BackOff is not told. An invalid
// policy stops at once.
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
