package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// startTimeout bounds the start of all pairs of a round, and then the time until all waiters are
// queued.
const startTimeout = time.Minute

// watch lets the waiters wait, makes the fault at a random moment, and watches the pairs until both
// clients of each have an outcome, but not for longer than that can take.
func (r *round) watch(ctx context.Context, pairs []*pair, mutexes []*locks.InterProcessMutex, f *field, now func() time.Duration, rep *report) error {
	watching, stop := context.WithCancel(ctx)
	var undecided sync.WaitGroup
	for i, p := range pairs {
		undecided.Go(func() { p.watchHolder(watching, now) })
		undecided.Go(func() { p.watchWaiter(watching, mutexes[i], now) })
	}
	decided := make(chan struct{})
	go func() {
		defer close(decided)
		undecided.Wait()
	}()
	var fault time.Duration
	err := r.rest(ctx, mutexes, f)
	measured := measureStalls(now)
	if err == nil {
		fault = now()
		err = r.scenario.fault(ctx, f)
	}
	if err == nil {
		timer := time.NewTimer(r.patience())
		defer timer.Stop()
		select {
		case <-decided:
		case <-timer.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	watched := now()
	stop()
	<-decided
	stalls := measured()
	rep.lateness = stalls.worst()
	for _, p := range pairs {
		p.Fault, p.Watched = fault, watched
		p.Error = stalls.at(p.Ended) + stalls.at(p.Acquired)
	}
	return err
}

// rest waits until all waiters are queued, and then for a random time.
func (r *round) rest(ctx context.Context, mutexes []*locks.InterProcessMutex, f *field) error {
	queueing, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the waiters do not wait after %v", startTimeout))
	defer cancel()
	err := together(queueing, mutexes, func(ctx context.Context, _ int, mutex *locks.InterProcessMutex) error {
		return awaitQueued(ctx, mutex)
	})
	if err != nil {
		return err
	}
	// A client that has just been granted a lock may have proved its session less recently than it
	// does later, and has pinged less often than an idle client.
	_, longest := r.timeout()
	least := longest * 35 / 100
	return wait.For(ctx, f.between(least, least+max(longest/3, r.tick())))
}

// patience returns how long pairs are watched after the fault. It is the time that a session and a
// server's error about it can last, and that an election takes. For a fault that is healed it is the
// time until a lost lease would have ended.
func (r *round) patience() time.Duration {
	_, longest := r.timeout()
	if r.scenario.passes {
		return longest*2/3 + 3*r.tick()
	}
	return longest + (syncLimit+8)*r.tick() + 5*time.Second
}
