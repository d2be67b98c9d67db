package main

import (
	"fmt"
	"time"

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

// newPairs returns pairs for every policy and timeout, none of which is started.
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
