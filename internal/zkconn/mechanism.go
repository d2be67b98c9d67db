package zkconn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// SASL begins the client's side of an authentication with a server, host:port. It is called for
// every connection, one after the other, without locks. It must return when ctx ends.
type SASL func(ctx context.Context, server string) (Mechanism, error)

// Mechanism is the client's side of one authentication. Its methods are called one after the
// other, without locks, and must return when their context ends.
type Mechanism interface {
	// Name is the mechanism's registered name.
	Name() string
	// Next takes the server's token, nil at first, and returns the one that the server is to be
	// sent. If it is done with an answer, the server must accept that answer.
	Next(ctx context.Context, challenge []byte) (answer []byte, done bool, err error)
}

var (
	errMechanismBusy = errors.New("SASL: the mechanism of an earlier connection has not returned")
	errMechanismLate = errors.New("SASL: the mechanism has not answered in the time of a handshake")
	errMechanismLeft = errors.New("SASL: the mechanism has not returned")
	errNoMechanism   = fmt.Errorf("SASL: no mechanism and no error were returned: %w", ErrAuthFailed)
)

// step is what a mechanism returns.
type step struct {
	name   string // of the mechanism
	answer []byte
	done   bool
	err    error
}

// mechanisms runs the mechanisms of one connection after the other. They are a user's code: each
// has a goroutine of its own, so that one that does not return holds up neither the connection's
// end nor Close, and there is one at most.
type mechanisms struct {
	mu      sync.Mutex
	running chan struct{} // closed when the newest has returned; nil before the first
}

// conversation is between the goroutine that reads a connection and the mechanism's.
type conversation struct {
	challenges chan []byte
	steps      chan step
}

// begin starts a mechanism, which ends with ctx. It waits for the one before.
func (r *mechanisms) begin(ctx context.Context, sasl SASL, server string) (*conversation, error) {
	r.mu.Lock()
	before, over := r.running, make(chan struct{})
	r.mu.Unlock()
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
			return nil, errMechanismBusy
		}
	}
	t := &conversation{challenges: make(chan []byte), steps: make(chan step)}
	r.mu.Lock()
	r.running = over
	r.mu.Unlock()
	go func() {
		defer close(over)
		t.run(ctx, sasl, server)
	}()
	return t, nil
}

// run hands a mechanism the challenges until it is done, fails, or ctx ends.
func (t *conversation) run(ctx context.Context, sasl SASL, server string) {
	var m Mechanism
	s := guarded(func() (s step) {
		if m, s.err = sasl(ctx, server); s.err == nil && m == nil {
			s.err = errNoMechanism
		}
		if s.err == nil {
			s.name = m.Name()
		}
		return s
	})
	name := s.name
	for {
		select {
		case t.steps <- s:
		case <-ctx.Done():
			return
		}
		if s.done || s.err != nil {
			return
		}
		var challenge []byte
		select {
		case challenge = <-t.challenges:
		case <-ctx.Done():
			return
		}
		s = guarded(func() (s step) {
			s.answer, s.done, s.err = m.Next(ctx, challenge)
			return s
		})
		s.name = name
	}
}

// guarded calls a user's code. There is no caller that its panic could go to but the driver.
func guarded(call func() step) (s step) {
	defer func() {
		if p := recover(); p != nil {
			s = step{err: fmt.Errorf("SASL: the mechanism panicked: %v: %w", p, ErrAuthFailed)}
		}
	}()
	return call()
}

// next returns the mechanism's next step.
func (t *conversation) next(ctx context.Context, dead <-chan struct{}) (step, error) {
	select {
	case s := <-t.steps:
		return s, s.err
	case <-dead:
		return step{}, errDead
	case <-ctx.Done():
		return step{}, errMechanismLate
	}
}

// hand hands the mechanism a challenge, and returns its next step.
func (t *conversation) hand(ctx context.Context, dead <-chan struct{}, challenge []byte) (step, error) {
	select {
	case t.challenges <- challenge:
		return t.next(ctx, dead)
	case <-ctx.Done():
		return step{}, errMechanismLate
	}
}

// mechanismGrace is how long Close waits for a mechanism even if its own context has ended: one
// that ends with its context needs a moment to do so.
const mechanismGrace = 250 * time.Millisecond

// wait waits until no mechanism is running, and tells whether that is so when ctx ends.
func (r *mechanisms) wait(ctx context.Context) bool {
	r.mu.Lock()
	running := r.running
	r.mu.Unlock()
	if running == nil {
		return true
	}
	grace := time.NewTimer(mechanismGrace)
	defer grace.Stop()
	select {
	case <-running:
		return true
	case <-grace.C:
	}
	select {
	case <-running:
		return true
	case <-ctx.Done():
		return false
	}
}
