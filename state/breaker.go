package state

import (
	"errors"
	"time"
)

// Policy says how long a [CircuitBreaker] stays open; every retry.Policy is one. Its err
// argument says that there is no connection. It must not block.
type Policy interface {
	// Next returns how long to wait before the connection is checked again. attempt is the
	// number of waits so far, elapsed their total time; ok is false to stop waiting.
	Next(attempt int, elapsed time.Duration, err error) (delay time.Duration, ok bool)
}

var (
	errNoPolicy     = errors.New("circuit breaker: the policy is nil")
	errNotConnected = errors.New("not connected")
)

// CircuitBreaker reduces the states of a flapping connection. While it is closed it forwards
// every state. If its policy gives a time to wait, it opens at the first state without a
// connection. That state is still forwarded. While it is open it drops all states except the
// first [Lost] after another state. When the time is over and there is a connection, or the
// policy gives no more time, it closes and forwards the last state if it differs from the last
// forwarded one.
//
// The states in between are lost: a listener behind the breaker cannot distinguish one
// disconnect from ten, learns of a connection late, and may get [Suspended] after [Lost], which
// [Legal] excludes, when a session began and ended in between. Do not use it for events that
// must not be late, such as the loss of a lock.
//
// It has no clock and no goroutine: its caller waits for the returned times, and makes one call
// after the other. The zero value never opens.
//
// Java: CircuitBreaker and CircuitBreakingConnectionStateListener.
type CircuitBreaker struct {
	policy Policy

	open     bool
	attempts int           // how often the policy has given time
	elapsed  time.Duration // which is how much together
	told     ConnectionState
	last     ConnectionState
}

// NewCircuitBreaker returns a closed breaker. policy says how long it stays open. A nil policy
// is an error.
func NewCircuitBreaker(policy Policy) (*CircuitBreaker, error) {
	if policy == nil {
		return nil, errNoPolicy
	}
	return &CircuitBreaker{policy: policy}, nil
}

// Next takes the connection's next state. forward says whether to forward it. A wait above zero
// says that the breaker has just opened: call Elapsed after this time.
func (b *CircuitBreaker) Next(s ConnectionState) (forward bool, wait time.Duration) {
	if !b.open {
		if s.IsConnected() {
			return true, 0
		}
		b.attempts, b.elapsed = 0, 0
		if wait = b.extend(); wait > 0 {
			b.open, b.told, b.last = true, s, s
		}
		return true, wait
	}
	b.last = s
	if s == Lost && b.told != Lost {
		b.told = Lost
		return true, 0
	}
	return false, 0
}

// Elapsed reports the end of a wait to the breaker. If it returns another wait above zero, the
// breaker stays open and Elapsed must be called again after it. Otherwise the breaker has
// closed, and forward says whether to forward s. While the breaker is closed Elapsed does
// nothing.
func (b *CircuitBreaker) Elapsed() (s ConnectionState, forward bool, wait time.Duration) {
	if !b.open {
		return 0, false, 0
	}
	if !b.last.IsConnected() {
		if wait = b.extend(); wait > 0 {
			return 0, false, wait
		}
	}
	b.open = false
	return b.last, b.last != b.told, 0
}

// Open reports whether states are being held back.
func (b *CircuitBreaker) Open() bool { return b.open }

// extend asks the policy for time. No time at all is the least that can be waited: the
// breaker is open until then.
func (b *CircuitBreaker) extend() (wait time.Duration) {
	if b.policy == nil {
		return 0
	}
	wait, ok := b.policy.Next(b.attempts, b.elapsed, errNotConnected)
	if !ok {
		return 0
	}
	wait = max(wait, 1)
	b.attempts++
	b.elapsed += wait
	return wait
}
