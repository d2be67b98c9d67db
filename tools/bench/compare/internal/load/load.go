// Package load runs the workloads of package protocol on locks of Go programs.
//
// Functions join all their goroutines. If an operation fails, the others are cancelled, and its error
// is returned. The end of a context is also such an error.
package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// Op is one operation of one client.
type Op func(ctx context.Context) error

// Acquire waits for a lock, and returns a function that releases it.
type Acquire func(ctx context.Context) (release Op, err error)

// Op returns the operation that acquires and releases. It releases also after the end of ctx.
func (a Acquire) Op() Op {
	return func(ctx context.Context) error {
		release, err := a(ctx)
		if err != nil {
			return err
		}
		return release(context.WithoutCancel(ctx))
	}
}

// Repeat repeats each operation on its own goroutine, and counts the operations after warmup.
func Repeat(ctx context.Context, warmup, duration time.Duration, ops ...Op) (protocol.Result, error) {
	begin := time.Now().Add(warmup)
	end := begin.Add(duration)
	latencies := make([][]int64, len(ops))
	err := together(ctx, len(ops), func(ctx context.Context, i int) error {
		for started := time.Now(); started.Before(end); {
			if err := ops[i](ctx); err != nil {
				return err
			}
			now := time.Now()
			if !now.Before(begin) && now.Before(end) {
				latencies[i] = append(latencies[i], int64(now.Sub(started)))
			}
			started = now
		}
		return nil
	})
	if err != nil {
		return protocol.Result{}, err
	}
	all := slices.Concat(latencies...)
	return protocol.Result{
		Operations:  int64(len(all)),
		ElapsedNS:   int64(duration),
		LatenciesNS: protocol.Sample(all),
	}, nil
}

// queuePause is the pause between two requests for the length of a queue.
const queuePause = 10 * time.Millisecond

// Drain acquires the lock with gate, lets the waiters queue behind it, and releases it. queued returns
// the number of contenders, the holder included.
func Drain(ctx context.Context, gate Acquire, waiters []Acquire, queued func(context.Context) (int, error)) (protocol.Result, error) {
	release, err := gate(ctx)
	if err != nil {
		return protocol.Result{}, fmt.Errorf("acquire the gate: %w", err)
	}
	var opened time.Time
	grants := make([]time.Time, len(waiters))
	releases := make([]time.Time, len(waiters))
	err = together(ctx, len(waiters)+1, func(ctx context.Context, i int) error {
		if i == len(waiters) {
			err := AwaitQueue(ctx, len(waiters)+1, queued)
			opened = time.Now()
			return errors.Join(err, release(context.WithoutCancel(ctx)))
		}
		release, err := waiters[i](ctx)
		if err != nil {
			return err
		}
		grants[i] = time.Now()
		err = release(context.WithoutCancel(ctx))
		releases[i] = time.Now()
		return err
	})
	if err != nil {
		return protocol.Result{}, err
	}
	slices.SortFunc(grants, time.Time.Compare)
	result := protocol.Result{Operations: int64(len(waiters))}
	last := opened
	for _, grant := range grants {
		result.LatenciesNS = append(result.LatenciesNS, int64(grant.Sub(last)))
		last = grant
	}
	if len(releases) > 0 {
		result.ElapsedNS = int64(slices.MaxFunc(releases, time.Time.Compare).Sub(opened))
	}
	result.LatenciesNS = protocol.Sample(result.LatenciesNS)
	return result, nil
}

// AwaitQueue waits until the queue has its length, the holder included.
func AwaitQueue(ctx context.Context, length int, queued func(context.Context) (int, error)) error {
	ticker := time.NewTicker(queuePause)
	defer ticker.Stop()
	for {
		n, err := queued(ctx)
		if err != nil {
			return fmt.Errorf("count the queue: %w", err)
		}
		if n == length {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// together calls fn n times at the same time, and waits for all calls. It returns the first error,
// after which the context of the other calls ends.
func together(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for i := range n {
		wg.Go(func() {
			if err := fn(ctx, i); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	wg.Wait()
	return first
}

// Wait acquires a lock and releases it. The result has the time since the lock was granted.
func Wait(ctx context.Context, acquire Acquire) (protocol.Result, error) {
	release, err := acquire(ctx)
	if err != nil {
		return protocol.Result{}, err
	}
	granted := time.Now()
	err = release(context.WithoutCancel(ctx))
	return protocol.Result{Operations: 1, ElapsedNS: int64(time.Since(granted))}, err
}

// ErrBusy is returned by a Try when the lock is not free.
var ErrBusy = errors.New("the lock is not free")

// Try tries to acquire a lock without waiting, and returns a function that releases it.
type Try func(ctx context.Context) (release Op, err error)

// Op returns the operation that tries, and releases the lock if it got it. With free the lock must be
// free each time, otherwise never.
func (t Try) Op(free bool) Op {
	return func(ctx context.Context) error {
		release, err := t(ctx)
		switch {
		case errors.Is(err, ErrBusy) && !free:
			return nil
		case err != nil:
			return err
		case !free:
			return errors.New("the lock is free, and should not be")
		}
		return release(context.WithoutCancel(ctx))
	}
}

// RepeatBusy is Repeat for a Try of a lock that somebody else holds.
func RepeatBusy(ctx context.Context, warmup, duration time.Duration, holder Acquire, try Try) (protocol.Result, error) {
	release, err := holder(ctx)
	if err != nil {
		return protocol.Result{}, err
	}
	result, err := Repeat(ctx, warmup, duration, try.Op(false))
	return result, errors.Join(err, release(context.WithoutCancel(ctx)))
}
