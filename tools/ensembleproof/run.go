package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// run runs a round on a working ensemble, and leaves the ensemble working. now returns its instants.
func (r *round) run(ctx context.Context, s *servers, now func() time.Duration) (rep report, err error) {
	start := now()
	random := rand.New(rand.NewPCG(r.seed, uint64(r.number)))
	at := r.scenario.place(s, random)
	shortest, _ := r.timeout()
	pairs := r.newPairs()
	pinging := pairs[random.IntN(len(pairs))]
	f := &field{
		random: random, tick: r.tick(), timeout: shortest, leader: at.leader, faulty: at.faulty,
		pinged: func(ctx context.Context) error { return pinging.pings.await(ctx, 3*pinging.timeout) },
	}
	defer func() {
		f.heal()
		errs := []error{err, s.settle(ctx, r.rule), closePairs(ctx, pairs)}
		err = errors.Join(errs...)
		rep.took = now() - start
	}()
	mutexes, err := r.start(ctx, pairs, at, random)
	if err != nil {
		return rep, err
	}
	if err := r.watch(ctx, pairs, mutexes, f, now, &rep); err != nil {
		return rep, err
	}
	rep.round = r
	for _, p := range pairs {
		rep.pairs = append(rep.pairs, p.Pair)
		rep.retries += p.retries
	}
	return rep, nil
}

// start starts all clients, and returns the waiters' mutexes. The holders start at different times, so
// that they do not all ping at the same time.
func (r *round) start(ctx context.Context, pairs []*pair, at places, random *rand.Rand) ([]*locks.InterProcessMutex, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the pairs have not started after %v", startTimeout))
	defer cancel()
	offsets := make([]time.Duration, len(pairs))
	for i, p := range pairs {
		offsets[i] = time.Duration(random.Float64() * float64(p.timeout) / 3)
	}
	mutexes := make([]*locks.InterProcessMutex, len(pairs))
	return mutexes, together(ctx, pairs, func(ctx context.Context, i int, p *pair) (err error) {
		if err = wait.For(ctx, offsets[i]); err == nil {
			err = p.hold(ctx, at)
		}
		if err == nil {
			mutexes[i], err = p.join(ctx, at.waiters, longest*r.tick())
		}
		return err
	})
}

func closePairs(ctx context.Context, pairs []*pair) error {
	return together(ctx, pairs, func(ctx context.Context, _ int, p *pair) error { return p.close(ctx) })
}
