package leader

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// LeaderSelector takes part in an election, and leads while a function runs. A nil
// LeaderSelector, and the zero value, cannot run.
//
// Java: LeaderSelector, with which it shares elections.
type LeaderSelector struct{ selection *selection }

// NewLeaderSelector returns a selector for the election at path. It does no I/O. Participants
// and Leader work without Run. Errors: framework.ErrInvalidPath, framework.ErrInvalidOption,
// framework.ErrNotStarted for a nil client.
//
// Java: LeaderSelector.
func NewLeaderSelector(client *framework.Client, path string, opts ...SelectorOption) (*LeaderSelector, error) {
	client, cfg, err := newConfig(client, opts, SelectorOption.applySelector)
	if err != nil {
		return nil, err
	}
	e, err := newElection(client, path, cfg, selectorRules)
	if err != nil {
		return nil, err
	}
	options := []locks.MutexOption{locks.WithNodeData([]byte(e.id))}
	if cfg.name != "" {
		options = append(options, locks.WithName(cfg.name))
	}
	mutex, err := locks.NewInterProcessMutex(client, path, options...)
	if err != nil {
		return nil, err
	}
	s := &selection{election: e, mutex: mutex}
	s.terms.api, s.terms.candidate = e.api, e.api.Telemetry().Candidate(tracing.RecipeSelector, cfg.name, path)
	return &LeaderSelector{s}, nil
}

// Run takes part in the election until ctx ends: it waits to be elected, calls takeLeadership,
// steps down when it returns, and joins again at the end of the queue.
//
// takeLeadership's context ends when ctx ends, when the leadership is lost, and after
// Interrupt, each with its cause. As with locks.Do, it re-enters the lock. takeLeadership must
// return then: until it returns, this selector does not join again, and nobody leads if the
// node still exists. Run releases the lease.
//
// When takeLeadership returns
//   - nil, Run joins again, with pauses of up to a quarter of a second when many terms in a row were
//     shorter than 10 ms;
//   - ErrStop, Run returns nil;
//   - the error of a lost connection or session (framework.Retryable), Run logs it, and joins again
//     after a pause. An operation may fail so before the loss of the leadership is known;
//   - another error, and ctx has not ended and the term was neither lost nor interrupted, Run steps
//     down and returns the error. takeLeadership must handle errors that should not end Run;
//   - an error after ctx has ended or the term was lost or interrupted, Run logs it, and joins
//     again, or returns nil if ctx has ended.
//
// Run returns nil after the end of ctx. A lost connection or session does not end it: it joins
// again when there is a connection, after random pauses. Permanent errors end it:
// framework.ErrClosed, framework.ErrNoAuth, framework.ErrAuthFailed, locks.ErrKindMismatch,
// locks.ErrSequenceExhausted, and other answers of the server that refuse the request;
// framework.ErrAlreadyStarted when it runs already, framework.ErrInvalidOption for a nil ctx or
// function. However it ends, its node is removed, if necessary in the background. After a panic
// in takeLeadership Run steps down, and the panic continues.
//
// Java: start with autoRequeue, and LeaderSelectorListener.takeLeadership. Without
// autoRequeue a term is one call that returns ErrStop, and requeue is the next call: a function that
// returns nil stands again, as with autoRequeue.
func (s *LeaderSelector) Run(ctx context.Context, takeLeadership func(ctx context.Context, lease *locks.Lease) error) error {
	switch {
	case s == nil || s.selection == nil:
		return errNil
	case ctx == nil:
		return zkclient.ErrNilContext
	case takeLeadership == nil:
		return errNilFunc
	case !s.selection.enter():
		return framework.ErrAlreadyStarted
	}
	defer s.selection.exit()
	if err := s.selection.run(ctx, takeLeadership); err != nil {
		return fmt.Errorf("leader selector %s: %w", s.selection.path, err)
	}
	return nil
}

// Interrupt ends the context of the present term, with the cause ErrInterrupted. The term ends
// when its function returns; Run then joins again. Interrupt does nothing if the selector does
// not lead.
//
// Java: interruptLeadership, CancelLeadershipException.
func (s *LeaderSelector) Interrupt() {
	if s != nil && s.selection != nil {
		s.selection.interruptTerm()
	}
}

// Leadership returns the lease of the present term, otherwise nil, which behaves like a lease
// that was never held. HasLeadership of Java is Leadership().Err() == nil.
//
// Java: hasLeadership.
func (s *LeaderSelector) Leadership() *locks.Lease {
	if s == nil || s.selection == nil {
		return nil
	}
	return s.selection.terms.present.Load()
}

// Participants lists the leader and the candidates, in order. Participants that leave meanwhile
// are left out. It returns none for a path that does not exist. It costs a list and a read of
// each node, and is no snapshot. Errors: locks.ErrKindMismatch, ctx's error, or the server's.
//
// Java: getParticipants.
func (s *LeaderSelector) Participants(ctx context.Context) ([]Participant, error) {
	if s == nil || s.selection == nil {
		return nil, errNil
	}
	return s.selection.participants(ctx)
}

// Leader returns the first participant in the queue, or ErrNoLeader. The participant may not
// know yet that it leads, or may no longer believe it. Other errors are those of Participants.
//
// Java: getLeader, which returns a participant without an id when there is none.
func (s *LeaderSelector) Leader(ctx context.Context) (Participant, error) {
	if s == nil || s.selection == nil {
		return Participant{}, errNil
	}
	return s.selection.leader(ctx)
}
