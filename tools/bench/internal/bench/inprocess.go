package bench

import (
	"context"
	"errors"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// reentry re-enters a lock that is held.
func reentry(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	return underHolder(ctx, l, path, func(held lease, again, _ lock) (measure.Run, error) {
		outer, ok := held.(reentrant)
		if !ok {
			return measure.Run{}, errUnsupported
		}
		return l.cycles(ctx, []lock{within{again, outer.Context()}}, t)
	})
}

// within is a lock that is acquired with a fixed context.
type within struct {
	lock
	ctx context.Context // is what is measured
}

func (w within) Acquire(context.Context) (lease, error) { return w.lock.Acquire(w.ctx) }

// tryFree acquires a free lock without waiting.
func tryFree(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	locks, err := l.locks(ctx, 1, 1, mutex, 0, func(int) string { return path })
	if err != nil {
		return measure.Run{}, err
	}
	asked, ok := locks[0].(tryLocker)
	if !ok {
		return measure.Run{}, errUnsupported
	}
	return l.cycles(ctx, []lock{tried{asked, true}}, t)
}

// tryBusy tries without waiting to acquire a lock that somebody else holds.
func tryBusy(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	return underHolder(ctx, l, path, func(_ lease, _, other lock) (measure.Run, error) {
		asked, ok := other.(tryLocker)
		if !ok {
			return measure.Run{}, errUnsupported
		}
		return l.cycles(ctx, []lock{tried{asked, false}}, t)
	})
}

// tried is a lock that is acquired without waiting. It must always be free, or never.
type tried struct {
	tryLocker
	free bool
}

func (t tried) Acquire(ctx context.Context) (lease, error) {
	held, err := t.tryAcquire(ctx)
	switch {
	case err != nil:
		return nil, err
	case (held != nil) != t.free:
		return nil, errors.New("the lock is free although it should not be, or the other way round")
	case held == nil:
		return nothing{}, nil
	}
	return held, nil
}

// nothing is the lease of a lock that was not free.
type nothing struct{}

func (nothing) Release(context.Context) error { return nil }

// underHolder calls do while a lock is held. again is the lock in the holder's session, and other in
// another session.
func underHolder(ctx context.Context, l *local, path string, do func(held lease, again, other lock) (measure.Run, error)) (measure.Run, error) {
	locks, err := l.locks(ctx, 2, 3, mutex, 0, func(int) string { return path })
	if err != nil {
		return measure.Run{}, err
	}
	held, err := locks[0].Acquire(ctx)
	if err != nil {
		return measure.Run{}, err
	}
	run, err := do(held, locks[2], locks[1])
	return run, errors.Join(err, held.Release(ctx))
}

// reader is a session that reads a node repeatedly.
type reader interface {
	// read returns a lock whose Acquire reads the node at path, which must exist.
	read(path string) lock
}

// burster is a session that sends many reads of a node in one write. It shows the limit of the server.
type burster interface {
	// burst returns a lock whose Acquire reads the node at path n times, in one write.
	burst(path string, n int) lock
}

// throughput lets goroutines of one client read one node. An operation is one read.
func throughput(ctx context.Context, l *local, w workload, _ string, t timing) (measure.Run, error) {
	sessions, err := l.connect(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	const node = "/zookeeper" // every server has it
	switch s := sessions[0].(type) {
	case burster:
		run, err := l.cycles(ctx, []lock{s.burst(node, w.waiters)}, t)
		run.Operations *= w.waiters
		return run, err
	case reader:
		if l.name != "floor" && l.name != results.Ours {
			break // the sessions are all of the same client
		}
		locks := make([]lock, w.waiters)
		for i := range locks {
			locks[i] = s.read(node)
		}
		return l.cycles(ctx, locks, t)
	}
	return measure.Run{}, errUnsupported
}

// reads is a lock whose Acquire only reads.
type reads func(ctx context.Context) error

func (r reads) Acquire(ctx context.Context) (lease, error) { return nothing{}, r(ctx) }

func (s *driverSession) read(path string) lock {
	return reads(func(context.Context) error {
		_, _, err := s.conn.Get(path)
		return err
	})
}

func (s *curatorSession) read(path string) lock {
	return reads(func(ctx context.Context) error {
		_, err := s.client.GetData().ForPath(ctx, path)
		return err
	})
}
