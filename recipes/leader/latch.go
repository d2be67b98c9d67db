package leader

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// LeaderLatch takes part in an election from Start to Close. It leads after all participants
// that joined before it have left. A nil LeaderLatch, and the zero value, cannot be started.
//
// Java: LeaderLatch, with which it shares elections.
type LeaderLatch struct {
	candidate *candidate
	life      lifecycle.Lifecycle
}

var _ framework.Component = (*LeaderLatch)(nil)

// NewLeaderLatch returns a latch for the election at path. It does no I/O. Participants and
// Leader work without Start. Errors: framework.ErrInvalidPath, framework.ErrInvalidOption,
// framework.ErrNotStarted for a nil client.
//
// Java: LeaderLatch.
func NewLeaderLatch(client *framework.Client, path string, opts ...LatchOption) (*LeaderLatch, error) {
	client, cfg, err := newConfig(client, opts, LatchOption.applyLatch)
	if err != nil {
		return nil, err
	}
	e, err := newElection(client, path, cfg, latchRules)
	if err != nil {
		return nil, err
	}
	c := &candidate{election: e, silent: cfg.silent}
	c.terms.listeners.Limit(listen.MaxStates, newLostTerms)
	c.terms.api, c.terms.candidate = e.api, e.api.Telemetry().Candidate(tracing.RecipeLatch, cfg.name, path)
	l := &LeaderLatch{candidate: c}
	if cfg.background {
		l.life.InBackground(lifecycle.Background{Client: client, What: "leader latch " + path})
	}
	return l, nil
}

// Start joins the election: it returns nil when the latch is in the queue, whether it leads or
// not. The latch keeps its place until Close. If the session ends or somebody deletes the node,
// it joins again at the end of the queue. See framework.Component. With WithStartInBackground Start
// does not wait.
//
// ctx bounds the joining. If it ends first, a node that was created is deleted, if necessary in
// the background. Errors in addition to ctx's and the server's: locks.ErrKindMismatch,
// locks.ErrSequenceExhausted, framework.ErrAlreadyStarted, framework.ErrClosed. Later failures
// are logged, and the latch tries again at each new connection and after pauses.
//
// Java: start, which does not wait: WithStartInBackground.
func (l *LeaderLatch) Start(ctx context.Context) error {
	if l == nil || l.candidate == nil {
		return errNil
	}
	return l.life.Start(ctx, l.candidate.join, l.candidate.run)
}

// Close leaves the election: the lease of a term ends with locks.ErrReleased, and the node is
// removed, if necessary in the background. It works with an ended ctx. Its error says that the
// removal is not confirmed, as with locks.Lease.Release, or that listeners still run. If the client was
// closed before, and has closed its session, the node is gone, and that is no error. After the
// node was removed, Close waits for them until ctx ends. A listener that closes its own latch
// should pass context.WithoutCancel of its context, because Close ends that context.
//
// Java: close.
func (l *LeaderLatch) Close(ctx context.Context) error {
	if l == nil || l.candidate == nil {
		return nil
	}
	left := l.life.Close(ctx, l.candidate.leave)
	if ctx == nil {
		return left // which refuses it
	}
	ctx, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	return errors.Join(left, l.candidate.terms.listeners.Close(ctx))
}

// Await waits for leadership and returns the term's lease. Close releases the lease. Release of
// the lease steps down: the latch then joins again, at the end of the queue. Errors: ctx's,
// framework.ErrClosed when the latch or its client is closed, and framework.ErrNotStarted.
//
// Java: await.
func (l *LeaderLatch) Await(ctx context.Context) (*locks.Lease, error) {
	switch {
	case l == nil || l.candidate == nil:
		return nil, errNil
	case ctx == nil:
		return nil, zkclient.ErrNilContext
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
			return nil, l.candidate.explain(zkclient.ContextError(ctx))
		case <-l.life.Done():
		case <-l.candidate.client.Done():
			return nil, l.candidate.explain(fmt.Errorf("%w: the latch or its client", framework.ErrClosed))
		}
	}
}

// Leadership returns the lease of the present term, otherwise nil, which behaves like a lease
// that was never held. HasLeadership of Java is Leadership().Err() == nil. It does not wait,
// and costs one atomic load.
//
// Java: hasLeadership, getOurPath, getLastPathIsLeader.
func (l *LeaderLatch) Leadership() *locks.Lease {
	if l == nil || l.candidate == nil {
		return nil
	}
	return l.candidate.terms.present.Load()
}

// LeadershipListenable takes listeners for the latch's terms. They get the changes in order.
// The end of a term is reported after the lease's context has ended. A listener that blocks
// delays neither the latch nor the other listeners. Up to 1,024 changes wait for it. While that many
// wait, terms that begin and end meanwhile are not reported to it.
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
