package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tools/ensembleproof/internal/verdict"
)

// round is one fault, under which there are many pairs.
type round struct {
	number   int
	scenario scenario
	scale    int // by which time is shorter than nominal
	rule     rule
	policies []policy
	timeouts []time.Duration // nominal
	pairs    int             // for each policy and timeout
	seed     uint64
}

// nominalTick is ZooKeeper's default.
const nominalTick = 2 * time.Second

func (r *round) tick() time.Duration { return nominalTick / time.Duration(r.scale) }

// timeout returns the shortest and the longest timeout, as they are.
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

// report is what came of a round.
type report struct {
	round    *round
	pairs    []verdict.Pair
	retries  int           // of the waiters
	lateness time.Duration // of this process, at most
	took     time.Duration
}

// run runs a round on servers that are whole, and leaves them whole. Its instants are now's.
func (r *round) run(ctx context.Context, s *servers, now func() time.Duration) (rep report, err error) {
	start := now()
	random := rand.New(rand.NewPCG(r.seed, uint64(r.number)))
	at := r.place(s, random)
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

// places says which servers have which part in a round.
type places struct {
	leader, faulty   *curatortest.Member
	holders, waiters []*curatortest.Member
}

// place gives the servers their parts.
func (r *round) place(s *servers, random *rand.Rand) places {
	leader := s.Leader()
	var followers []*curatortest.Member
	for _, m := range s.Members() {
		if m != leader {
			followers = append(followers, m)
		}
	}
	i := random.IntN(len(followers))
	faulty, other := followers[i], followers[1-i]
	switch r.scenario.holders {
	case onLeader:
		return places{leader, leader, []*curatortest.Member{leader}, followers}
	case everywhere:
		return places{leader, leader, s.Members(), s.Members()}
	default:
		return places{leader, faulty, []*curatortest.Member{faulty}, []*curatortest.Member{leader, other}}
	}
}

// newPairs returns pairs for every policy and timeout, none of which is started.
func (r *round) newPairs() []*pair {
	var pairs []*pair
	for _, policy := range r.policies {
		for _, timeout := range r.timeouts {
			for range r.pairs {
				pairs = append(pairs, &pair{
					Pair: verdict.Pair{Case: verdict.Case{Scenario: r.scenario.name, Policy: policy.name, Timeout: timeout}},
					rule: r.rule, policy: policy, timeout: timeout / time.Duration(r.scale),
					path:  fmt.Sprintf("/round-%d/lock-%d", r.number, len(pairs)),
					pings: make(pingWatch),
				})
			}
		}
	}
	return pairs
}

// startTimeout bounds how long all pairs of a round may take to start.
const startTimeout = time.Minute

// start starts all clients, the holders at different phases of their pings, and returns the
// waiters' mutexes.
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
			err = p.hold(ctx, at.holders)
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
