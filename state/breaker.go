package state

import (
	"errors"
	"time"
)

// Policy is what a [CircuitBreaker] asks how long to stay open; every retry.Policy is one.
// The error it is given says that there is no connection. It must not block.
type Policy interface {
	// Next returns how long to wait before the connection is looked at again, after
	// attempt such waits that have taken elapsed together; ok is false to wait no more.
	Next(attempt int, elapsed time.Duration, err error) (delay time.Duration, ok bool)
}

var (
	errNoPolicy     = errors.New("circuit breaker: the policy is nil")
	errNotConnected = errors.New("not connected")
)

// CircuitBreaker damps the states of a connection that comes and goes. While it is closed
// it forwards every state. It opens at the first state without a connection, which is still
// forwarded, if its policy gives it a time to wait; then it swallows what comes, but for the
// first [Lost] after another state. When the time is over and there is a connection, or the
// policy gives no more time, it closes and forwards the last state if that is news.
//
// It makes no promise about what is between: who is behind it cannot tell one disconnect
// from ten, learns of a connection late, and may see [Suspended] follow [Lost], which
// [Legal] excludes, when a session came and went in between. What must not be late, as the
// loss of a lock, does not belong behind it.
//
// It has no clock and no goroutine: who feeds it waits as it says, and makes one call after
// the other. The zero value never opens.
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

// NewCircuitBreaker returns a closed breaker, which stays open as long as policy says. A nil
// policy is an error.
func NewCircuitBreaker(policy Policy) (*CircuitBreaker, error) {
	if policy == nil {
		return nil, errNoPolicy
	}
	return &CircuitBreaker{policy: policy}, nil
}

// Next takes the connection's next state. forward tells whether to pass it on. A wait above
// zero says that the breaker has just opened: Elapsed is to be called when it is over.
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

// Elapsed takes the end of a wait. With another wait above zero the breaker stays open and
// Elapsed is to be called again; else it has closed, and forward tells whether to pass s on.
// While the breaker is closed Elapsed does nothing.
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

// Open tells whether states are being held back.
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
