package main

import (
	"fmt"
	"time"

	"github.com/go-curator/curator/tools/ensembleproof/internal/verdict"
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
