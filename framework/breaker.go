package framework

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// WithCircuitBreaker damps what the listeners of ConnectionStateListenable are told of a
// connection that comes and goes, as [state.CircuitBreaker] says; policy tells how long
// states are held back, and how often. All listeners share one breaker. ConnectionState
// still returns the truth, and recipes hear it at once: no lock is given up later. A state
// that is held back when the client is closed is dropped. The default is to damp nothing.
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

// damper puts a breaker between the connection and the listeners, on a goroutine of its
// own: the policy is a user's code.
type damper struct {
	breaker *state.CircuitBreaker
	forward func(state.ConnectionState)
	wake    chan struct{} // tells of states to take

	mu     sync.Mutex
	states []state.ConnectionState
}

// newDamper returns nil without a policy: nothing is damped then.
func newDamper(policy retry.Policy, forward func(state.ConnectionState)) *damper {
	breaker, err := state.NewCircuitBreaker(policy)
	if err != nil {
		return nil
	}
	return &damper{breaker: breaker, forward: forward, wake: make(chan struct{}, 1)}
}

func (d *damper) add(s state.ConnectionState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.states = append(d.states, s)
	select {
	case d.wake <- struct{}{}:
	default: // it has been told already
	}
}

func (d *damper) take() []state.ConnectionState {
	d.mu.Lock()
	defer d.mu.Unlock()
	states := d.states
	d.states = nil
	return states
}

// run feeds the breaker until ctx ends.
func (d *damper) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-d.wake:
			d.pass(timer)
		case <-timer.C:
			s, forward, wait := d.breaker.Elapsed()
			if forward {
				d.forward(s)
			}
			if wait > 0 {
				timer.Reset(wait)
			}
		case <-ctx.Done():
			d.pass(timer) // what came before the end
			return
		}
	}
}

func (d *damper) pass(timer *time.Timer) {
	for _, s := range d.take() {
		forward, wait := d.breaker.Next(s)
		if forward {
			d.forward(s)
		}
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// tell passes a state on to the listeners.
func (c *core) tell(s state.ConnectionState) {
	if c.damper != nil {
		c.damper.add(s)
		return
	}
	c.states.Notify(s)
}
