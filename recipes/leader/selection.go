package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/locks"
)

// stopWait bounds the wait for the deletion of the node when Run is about to return.
const stopWait = time.Second

// selection is the life of a selector: a mutex that is acquired again and again.
//
// At the end of a term the function has returned, then the selector does not lead any more, and
// then the mutex is released.
type selection struct {
	*election
	mutex *locks.InterProcessMutex
	terms terms

	mu        sync.Mutex
	running   bool
	interrupt context.CancelCauseFunc // ends the context of the present term; nil without one
}

// enter reports whether the selector did not run before.
func (s *selection) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	entered := !s.running
	s.running = true
	return entered
}

func (s *selection) exit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

func (s *selection) setInterrupt(interrupt context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = interrupt
}

func (s *selection) interruptTerm() {
	s.mu.Lock()
	interrupt := s.interrupt
	s.mu.Unlock()
	if interrupt != nil {
		interrupt(ErrInterrupted)
	}
}

// run stands for election until ctx ends, or until another try would change nothing.
func (s *selection) run(ctx context.Context, take func(ctx context.Context, lease *locks.Lease) error) error {
	s.api.Log(func() { s.terms.candidate.Standing(ctx) })
	p := lifecycle.NewPauses()
	var hurry shortTerms
	failing := false
	for {
		lease, err := s.mutex.Acquire(ctx)
		switch {
		case err == nil:
			if failing {
				failing = false
				s.api.Log(func() { s.client.Logger().Info("leader selector stands for election again", "path", s.path) })
			}
			begun := time.Now()
			again, why := s.lead(ctx, lease, take)
			if !again {
				return why
			}
			if err = why; err == nil {
				p = lifecycle.NewPauses()
				s.slowDown(ctx, &hurry, begun)
				continue
			}
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the selection ends with ctx, without an error
		case !framework.Retryable(err):
			return err
		case !failing:
			failing = true
			s.warn("leader selector cannot stand for election; it will try again", err)
		}
		if err := p.Await(ctx, s.client, err); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // as above
			}
			return err
		}
	}
}

// slowDown pauses behind a term that was short, if many were: a function that returns at once would take
// as many terms as the servers can give. Most often it is a listener of Java's without autoRequeue.
func (s *selection) slowDown(ctx context.Context, hurry *shortTerms, begun time.Time) {
	pause := hurry.next(time.Since(begun))
	if hurry.n == patientTerms+1 {
		s.api.Log(func() {
			s.client.Logger().Warn("leader's function returns at once, term after term, which are slowed down; return ErrStop to leave the election", "path", s.path)
		})
	}
	_ = wait.For(ctx, pause) // the next Acquire sees the end of ctx
}

// lead is one term. It reports whether the selector stands again; if so, err is what it pauses for. An
// operation of the leader's function may fail with a connection before the loss of the term is told, so
// that error is the end of the term, and not of the selection.
func (s *selection) lead(ctx context.Context, lease *locks.Lease, take func(ctx context.Context, lease *locks.Lease) error) (again bool, err error) {
	defer func() { s.release(ctx, lease, again) }() // also when take panics
	bound, cancel := context.WithCancelCause(lease.Bind(ctx))
	defer cancel(nil)
	if ctx.Err() != nil || lease.Err() != nil { // between the grant and the term
		return ctx.Err() == nil, nil
	}
	s.setInterrupt(cancel)
	s.terms.begin(ctx, lease)
	defer func() {
		s.setInterrupt(nil)
		s.terms.end(ctx, true)
	}()
	err = take(bound, lease)
	why := s.whyEnded(ctx, bound, lease)
	switch {
	case errors.Is(err, ErrStop):
		return false, nil
	case err != nil && why == nil && framework.Retryable(err):
		s.warn("leader's function has lost its connection or session; the selector stands again", err)
		return ctx.Err() == nil, err
	case err != nil && why == nil:
		return false, err
	case err != nil:
		s.warn("leader's function returned an error after the end of its term", err, "reason", why)
	}
	return ctx.Err() == nil, nil
}

// whyEnded returns what explains an error of the leader's function: the end of ctx, the loss of
// the term, or Interrupt. It returns nil if nothing does.
func (s *selection) whyEnded(ctx, bound context.Context, lease *locks.Lease) error {
	lost, cause := lease.Err(), context.Cause(bound)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(lost, locks.ErrLockLost):
		return lost
	case errors.Is(cause, ErrInterrupted):
		return cause
	}
	return nil
}

// release releases the lease of a term. If the selector stands again it waits for the answer, so
// that it does not stand behind its own node.
func (s *selection) release(ctx context.Context, lease *locks.Lease, again bool) {
	if !again {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), stopWait)
		defer cancel()
	}
	lost := lease.Err() // has been logged
	if err := lease.Release(ctx); err != nil && !errors.Is(lost, locks.ErrLockLost) {
		s.warn("leadership was not given up as usual", err)
	}
}

func (s *selection) warn(text string, err error, args ...any) {
	s.api.Log(func() {
		s.client.Logger().Warn(text, append([]any{"path", s.path, "error", err}, args...)...)
	})
}

const (
	shortTerm    = 10 * time.Millisecond // a term in which nothing was done, as a rule
	patientTerms = 100                   // how many of these in a row go on without a pause
)

// shortTerms counts short terms in a row. The zero value is ready to use.
type shortTerms struct {
	n    int
	pace wait.Pace
}

// next takes note of a term, and returns the pause behind it.
func (s *shortTerms) next(took time.Duration) time.Duration {
	if took >= shortTerm {
		*s = shortTerms{}
		return 0
	}
	if s.n++; s.n <= patientTerms {
		return 0
	}
	s.pace.First, s.pace.Most = shortTerm, 25*shortTerm
	return s.pace.Next()
}
