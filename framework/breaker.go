package framework

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// WithCircuitBreaker hides the states of a flapping connection from the listeners of
// ConnectionStateListenable; see [state.CircuitBreaker]. policy says how long and how often
// states are held back. All listeners share one breaker. ConnectionState still returns every
// state, and recipes get it immediately, so no lock is given up later. A state that is held
// back when the client is closed is dropped. The default is no breaker.
//
// Java: Builder.connectionStateListenerManagerFactory with
// ConnectionStateListenerManagerFactory.circuitBreaking(policy).
func WithCircuitBreaker(policy retry.Policy) Option {
	return option(func(c *config) error {
		if err := retry.Validate(policy); err != nil {
			return fmt.Errorf("WithCircuitBreaker: %w", err)
		}
		c.breaker = policy
		return nil
	})
}

// breakerQueue puts a breaker between the connection and the listeners, on a goroutine of its
// own: the policy is a user's code.
type breakerQueue struct {
	breaker *state.CircuitBreaker
	forward func(state.ConnectionState)
	wake    wait.Signal // tells of states to take

	mu     sync.Mutex
	states []state.ConnectionState
}

// newBreakerQueue returns nil if there is no policy.
func newBreakerQueue(policy retry.Policy, forward func(state.ConnectionState)) *breakerQueue {
	breaker, err := state.NewCircuitBreaker(policy)
	if err != nil {
		return nil
	}
	return &breakerQueue{breaker: breaker, forward: forward, wake: wait.NewSignal()}
}

func (q *breakerQueue) add(s state.ConnectionState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.states = append(q.states, s)
	q.wake.Set()
}

func (q *breakerQueue) take() []state.ConnectionState {
	q.mu.Lock()
	defer q.mu.Unlock()
	states := q.states
	q.states = nil
	return states
}

// run feeds the breaker until ctx ends.
func (q *breakerQueue) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-q.wake:
			q.pass(timer)
		case <-timer.C:
			s, forward, pause := q.breaker.Elapsed()
			if forward {
				q.forward(s)
			}
			if pause > 0 {
				timer.Reset(pause)
			}
		case <-ctx.Done():
			q.pass(timer) // what came before the end
			return
		}
	}
}

func (q *breakerQueue) pass(timer *time.Timer) {
	for _, s := range q.take() {
		forward, pause := q.breaker.Next(s)
		if forward {
			q.forward(s)
		}
		if pause > 0 {
			timer.Reset(pause)
		}
	}
}
