package main

import (
	"context"
	"errors"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// reentry acquires a lock again that is held.
func reentry(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	return underHolder(ctx, l, path, func(held lease, again, _ lock) (measure.Run, error) {
		outer, ok := held.(reentrant)
		if !ok {
			return measure.Run{}, errUnsupported
		}
		return l.cycles(ctx, []lock{within{again, outer.Context()}}, t)
	})
}

// within is a lock that is acquired with a context of its own.
type within struct {
	lock
	ctx context.Context //nolint:containedctx // what the lock is measured with
}

func (w within) Acquire(context.Context) (lease, error) { return w.lock.Acquire(w.ctx) }

// tryFree asks without waiting for a lock that is free.
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

// tryBusy asks without waiting for a lock that somebody else holds.
func tryBusy(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	return underHolder(ctx, l, path, func(_ lease, _, other lock) (measure.Run, error) {
		asked, ok := other.(tryLocker)
		if !ok {
			return measure.Run{}, errUnsupported
		}
		return l.cycles(ctx, []lock{tried{asked, false}}, t)
	})
}

// tried is a lock that is asked for without waiting, and is free or not.
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
		return nil, errors.New("the lock is not as free as it should be")
	case held == nil:
		return nothing{}, nil
	}
	return held, nil
}

// nothing is what was not acquired.
type nothing struct{}

func (nothing) Release(context.Context) error { return nil }

// underHolder calls do while a lock is held: again is of the holder's session, other of
// another one.
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
