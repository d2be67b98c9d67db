package leader

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// LeaderSelector stands for election, and leads for as long as a function runs. A nil
// LeaderSelector, and the zero value, cannot run.
//
// Java: LeaderSelector, with which it shares elections.
type LeaderSelector struct{ selection *selection }

// NewLeaderSelector returns a selector for the election at path. It does no I/O. One that
// does not run can be asked for the participants. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: LeaderSelector.
func NewLeaderSelector(client *framework.Client, path string, opts ...SelectorOption) (*LeaderSelector, error) {
	cfg, err := newConfig(opts, SelectorOption.applySelector)
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

// Run stands for election until ctx ends: it waits to be elected, calls takeLeadership,
// steps down when that returns, and stands again at the end of the line.
//
// takeLeadership's context ends when ctx does, when the leadership is lost, and after
// Interrupt, each with its cause. It re-enters, as that of locks.Do. takeLeadership must
// return then: until it does, this selector does not stand, and nobody leads if the node
// is still there. Run releases the lease.
//
// When takeLeadership returns
//   - nil, Run stands again;
//   - ErrStop, Run returns nil;
//   - an error while ctx had not ended and the term was neither lost nor interrupted, Run
//     steps down and returns it. What is not to end the elections is for takeLeadership
//     to deal with;
//   - an error after any of these, it is explained by that: it is logged, and Run stands
//     again, or returns if ctx has ended.
//
// Run returns nil after the end of ctx. It does not end for want of a connection, and not
// with a session: it stands again when there is one, with pauses drawn at random. It ends
// with what would not change by trying again: framework.ErrClosed, framework.ErrNoAuth,
// framework.ErrAuthFailed, locks.ErrKindMismatch, locks.ErrSequenceExhausted, and other
// answers of the server that refuse the request; framework.ErrAlreadyStarted when it runs
// already, framework.ErrInvalidOption for a nil ctx or function. However it ends, its node
// is removed, in the background if need be. A panic in takeLeadership steps down and goes
// on.
//
// Java: start with autoRequeue, and LeaderSelectorListener.takeLeadership. Without
// autoRequeue a term is one call that returns ErrStop, and requeue is the next call.
func (s *LeaderSelector) Run(ctx context.Context, takeLeadership func(ctx context.Context, lease *locks.Lease) error) error {
	switch {
	case s == nil || s.selection == nil:
		return errNil
	case ctx == nil:
		return errNilCtx
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

// Interrupt ends the context of the term that runs now, with the cause ErrInterrupted. The
// term ends when its function returns; Run then stands again. Who does not lead is not
// disturbed.
//
// Java: interruptLeadership, CancelLeadershipException.
func (s *LeaderSelector) Interrupt() {
	if s != nil && s.selection != nil {
		s.selection.interruptTerm()
	}
}

// Leadership returns the lease of the term that runs now, else nil, which acts as a lease
// that was never held. HasLeadership of Java is Leadership().Err() == nil.
//
// Java: hasLeadership.
func (s *LeaderSelector) Leadership() *locks.Lease {
	if s == nil || s.selection == nil {
		return nil
	}
	return s.selection.terms.present.Load()
}

// Participants lists who stands and who leads, in order. Those that leave meanwhile are
// left out; of a path that does not exist there are none. It costs a list and a read of each
// node, and is no snapshot. Errors: locks.ErrKindMismatch, ctx's error, or the server's.
//
// Java: getParticipants.
func (s *LeaderSelector) Participants(ctx context.Context) ([]Participant, error) {
	if s == nil || s.selection == nil {
		return nil, errNil
	}
	return s.selection.participants(ctx)
}

// Leader returns the first of the line, or ErrNoLeader. It may not know yet that it leads,
// or not believe it any more. Other errors are those of Participants.
//
// Java: getLeader, which returns a participant without an id when there is none.
func (s *LeaderSelector) Leader(ctx context.Context) (Participant, error) {
	if s == nil || s.selection == nil {
		return Participant{}, errNil
	}
	return s.selection.leader(ctx)
}
