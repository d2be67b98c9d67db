package leader

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// LeaderLatch stands for election from Start to Close, and leads from the moment that all
// who joined before it are gone. A nil LeaderLatch, and the zero value, cannot be started.
//
// Java: LeaderLatch, with which it shares elections.
type LeaderLatch struct {
	candidate *candidate
	life      lifecycle.Lifecycle
}

var _ framework.Component = (*LeaderLatch)(nil)

// NewLeaderLatch returns a latch for the election at path. It does no I/O. One that was
// not started can be asked for the participants. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: LeaderLatch.
func NewLeaderLatch(client *framework.Client, path string, opts ...LatchOption) (*LeaderLatch, error) {
	cfg, err := newConfig(opts, LatchOption.applyLatch)
	if err != nil {
		return nil, err
	}
	e, err := newElection(client, path, cfg, latchRules)
	if err != nil {
		return nil, err
	}
	c := &candidate{election: e, silent: cfg.silent, gone: make(chan struct{})}
	c.terms.api, c.terms.candidate = e.api, e.api.Telemetry().Candidate(tracing.RecipeLatch, cfg.name, path)
	return &LeaderLatch{candidate: c}, nil
}

// Start joins the election: it returns nil when the latch has its place in the line,
// whether it leads or not. The place is kept, or taken anew at the end of the line when
// the session ends or somebody deletes the node, until Close. See framework.Component.
//
// ctx bounds the joining. If it ends first, the node that may have been made is deleted, in
// the background if need be. Errors besides ctx's and the server's: locks.ErrKindMismatch,
// locks.ErrSequenceExhausted, framework.ErrAlreadyStarted, framework.ErrClosed. What fails
// after Start is logged and tried again, at each new connection and after pauses.
//
// Java: start, which does not wait.
func (l *LeaderLatch) Start(ctx context.Context) error {
	if l == nil || l.candidate == nil {
		return errNil
	}
	return l.life.Start(ctx, l.candidate.join, l.candidate.run)
}

// Close leaves the election: the lease of a term ends with locks.ErrReleased, and the node
// is removed, in the background if need be. It works although ctx has ended. Its error
// says what could not be confirmed, as that of locks.Lease.Release does, or that listeners
// still run: Close waits for them until ctx ends, after the node was removed. A listener
// that closes its own latch should pass a context that is made by context.WithoutCancel of
// the one that it was given, because Close ends that one.
//
// Java: close.
func (l *LeaderLatch) Close(ctx context.Context) error {
	if l == nil || l.candidate == nil {
		return nil
	}
	return l.life.Close(ctx, l.candidate.close)
}

// Await waits for leadership and returns the term's lease. It need not be released: Close
// does that. Release steps down: the latch then stands again, at the end of the line.
// Errors: ctx's, framework.ErrClosed when the latch or its client is closed, and
// framework.ErrNotStarted.
//
// Java: await.
func (l *LeaderLatch) Await(ctx context.Context) (*locks.Lease, error) {
	switch {
	case l == nil || l.candidate == nil:
		return nil, errNil
	case ctx == nil:
		return nil, errNilCtx
	}
	for {
		begun := l.candidate.terms.beginning()
		if err := l.life.Started(); err != nil {
			return nil, l.candidate.explain(err)
		}
		if lease := l.Leadership(); lease.Err() == nil {
			return lease, nil
		}
		select {
		case <-begun:
		case <-ctx.Done():
			return nil, l.candidate.explain(lockqueue.ContextError(ctx))
		case <-l.life.Done():
		case <-l.candidate.gone:
			return nil, l.candidate.explain(fmt.Errorf("%w: the latch or its client", framework.ErrClosed))
		}
	}
}

// Leadership returns the lease of the present term, else nil, which acts as a lease that
// was never held. HasLeadership of Java is Leadership().Err() == nil. It does not wait, and
// costs one atomic load.
//
// Java: hasLeadership, getOurPath, getLastPathIsLeader.
func (l *LeaderLatch) Leadership() *locks.Lease {
	if l == nil || l.candidate == nil {
		return nil
	}
	return l.candidate.terms.present.Load()
}

// LeadershipListenable takes listeners for the latch's terms. They are told in order; that
// of an end comes after the lease's context has ended. A listener that blocks holds up
// neither the latch nor the other listeners.
//
// Java: addListener with a LeaderLatchListener.
func (l *LeaderLatch) LeadershipListenable() listen.Listenable[Change] {
	if l == nil || l.candidate == nil {
		return listen.Listenable[Change]{}
	}
	return l.candidate.terms.listeners.Listenable()
}

// Participants is LeaderSelector.Participants for a latch's election.
//
// Java: getParticipants.
func (l *LeaderLatch) Participants(ctx context.Context) ([]Participant, error) {
	if l == nil || l.candidate == nil {
		return nil, errNil
	}
	return l.candidate.participants(ctx)
}

// Leader is LeaderSelector.Leader for a latch's election.
//
// Java: getLeader.
func (l *LeaderLatch) Leader(ctx context.Context) (Participant, error) {
	if l == nil || l.candidate == nil {
		return Participant{}, errNil
	}
	return l.candidate.leader(ctx)
}
