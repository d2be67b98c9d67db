package ensemble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/verify/ensemble/verdict"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// round is one fault with many pairs.
type round struct {
	number   int
	scenario scenario
	scale    int // the number by which nominal times are divided
	rule     rule
	policies []policy
	timeouts []time.Duration // nominal
	pairs    int             // for each policy and timeout
	seed     uint64
}

// nominalTick is ZooKeeper's default tick time.
const nominalTick = 2 * time.Second

func (r *round) tick() time.Duration { return nominalTick / time.Duration(r.scale) }

// timeout returns the shortest and the longest timeout, scaled.
func (r *round) timeout() (shortest, longest time.Duration) {
	for _, t := range r.timeouts {
		t /= time.Duration(r.scale)
		longest = max(longest, t)
		if shortest == 0 || t < shortest {
			shortest = t
		}
	}
	return shortest, longest
}

// report is the result of a round.
type report struct {
	round    *round
	pairs    []verdict.Pair
	retries  int           // how often waiters called Acquire again
	lateness time.Duration // the longest stall of this process
	took     time.Duration
}

// newPairs returns the pairs for all policies and timeouts. They are not started.
func (r *round) newPairs() []*pair {
	var pairs []*pair
	for _, policy := range r.policies {
		for _, timeout := range r.timeouts {
			for range r.pairs {
				pairs = append(pairs, &pair{
					Pair: verdict.Pair{Case: verdict.Case{Scenario: r.scenario.name, Policy: policy.name, Timeout: timeout}},
					rule: r.rule, moves: r.scenario.moves, policy: policy, timeout: timeout / time.Duration(r.scale),
					path:  fmt.Sprintf("/round-%d/lock-%d", r.number, len(pairs)),
					pings: make(pingWatch),
				})
			}
		}
	}
	return pairs
}

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
	return mutexes, realservers.Each(ctx, -1, pairs, func(ctx context.Context, i int, p *pair) (err error) {
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
	return realservers.Each(ctx, -1, pairs, func(ctx context.Context, _ int, p *pair) error { return p.close(ctx) })
}

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
	err := realservers.Each(queueing, -1, mutexes, func(ctx context.Context, _ int, mutex *locks.InterProcessMutex) error {
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

// stall is a time in which a goroutine that was due did not run.
type stall struct{ from, to time.Duration }

// stalls are the stalls of a round in the order of time.
type stalls []stall

const (
	// interval is the period of the goroutine that measures stalls.
	interval = time.Millisecond
	// grace is how long other goroutines may still wait for a processor after a stall.
	grace = 10 * time.Millisecond
)

// measureStalls starts a goroutine that measures how late it wakes up. end stops it and returns the
// stalls. now returns the instants.
func measureStalls(now func() time.Duration) (end func() stalls) {
	var measured stalls
	done := make(chan struct{})
	var measuring sync.WaitGroup
	measuring.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		last := now()
		for {
			select {
			case <-ticker.C:
				woken := now()
				if woken-last > 2*interval {
					measured = append(measured, stall{last + interval, woken})
				}
				last = woken
			case <-done:
				return
			}
		}
	})
	return func() stalls {
		close(done)
		measuring.Wait()
		return measured
	}
}

// worst returns the longest stall.
func (s stalls) worst() time.Duration {
	var worst time.Duration
	for _, stall := range s {
		worst = max(worst, stall.to-stall.from)
	}
	return worst
}

// at returns how late an instant may have been recorded: the length of the stalls during which, or
// shortly after which, it was recorded. For an instant of 0, which means never, it is 0.
func (s stalls) at(instant time.Duration) time.Duration {
	late := 2 * interval // shorter stalls are not kept
	for _, stall := range s {
		if stall.from <= instant && instant <= stall.to+grace {
			late = max(late, instant-stall.from)
		}
	}
	if instant == 0 {
		return 0
	}
	return late
}
