package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/go-curator/curator/internal/verify/ensemble"
)

// breaking is the subcommand ensemble.
func breaking() subcommand {
	return subcommand{"ensemble", "break real ensembles, and see that no two clients hold a lock at once", `
Ensemble tests, on real ensembles with faults, that no two clients believe at the same time that they hold
the same lock. It prints a table with a row for each fault, error policy and session timeout. Package
internal/verify/ensemble says how it measures, and how much the results may be wrong.

	make ensemble-proof
	go run ./tools/verify ensemble -scenarios A,C -timeouts 10s -rounds 1
	go run ./tools/verify ensemble -rule answers    # a rule that is wrong: the result must have overlaps

The exit status is 0 if there was no overlap, no lease was lost by a fault that healed in time (scenarios
K and L, under the session policy), every kind of pair had locks that were granted to the waiter after the
loss (except K and L), some pair held a lock when its fault began, and every round could be run. With
-rule answers it is 0 if there were overlaps, because they must be detected.

The scenarios are

` + ensemble.Describe(), defineEnsemble}
}

func defineEnsemble(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	c := ensemble.Config{
		Policies: []string{"session", "standard"},
		Timeouts: []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second},
	}
	names(flags, &c.Scenarios, "scenarios", "run only the scenarios with these `names`, separated by commas (default all)")
	names(flags, &c.Policies, "policies", "the error `policies` of the holders, separated by commas (default session,standard)")
	durations(flags, &c.Timeouts, "timeouts", "the nominal session `timeouts` of the holders, separated by commas (default 10s,20s,40s)")
	flags.IntVar(&c.Pairs, "pairs", 6, "the number of pairs for each policy and timeout in a round")
	flags.IntVar(&c.Rounds, "rounds", 3, "the number of rounds for each fault")
	flags.IntVar(&c.Scale, "scale", 4, "divide all nominal times by this number")
	flags.IntVar(&c.Ensembles, "ensembles", 1, "the number of ensembles that run rounds at the same time")
	flags.Uint64Var(&c.Seed, "seed", uint64(time.Now().UnixNano()), "the seed of the random numbers, by default the time")
	flags.StringVar(&c.Rule, "rule", "beat", "how clients prove their sessions: beat, or answers, which is wrong")
	return func(ctx context.Context, out, progress io.Writer) error { return ensemble.Run(ctx, c, out, progress) }
}
