package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options are the values of the flags.
type options struct {
	scenarios []scenario
	policies  []policy
	timeouts  []time.Duration // nominal
	pairs     int
	rounds    int
	scale     int
	ensembles int
	seed      uint64
	rule      rule
}

// parse parses the arguments. The help and errors of package flag are written to output.
func parse(args []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("ensembleproof", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(output, "usage: ensembleproof [flags]\n\nThe scenarios are\n\n%s\n", describe(scenarios()))
		flags.PrintDefaults()
	}
	names := flags.String("scenarios", "", "run only the scenarios with these `names`, separated by commas (default all)")
	policies := flags.String("policies", "session,standard", "the error policies of the holders, separated by commas")
	timeouts := flags.String("timeouts", "10s,20s,40s", "the nominal session `timeouts` of the holders, separated by commas")
	flags.IntVar(&o.pairs, "pairs", 6, "the number of pairs for each policy and timeout in a round")
	flags.IntVar(&o.rounds, "rounds", 3, "the number of rounds for each fault")
	flags.IntVar(&o.scale, "scale", 4, "divide all nominal times by this number")
	flags.IntVar(&o.ensembles, "ensembles", 1, "the number of ensembles that run rounds at the same time")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "the seed of the random numbers, by default the time")
	rule := flags.String("rule", string(beatRule), "how clients prove their sessions: beat, or answers, which is wrong")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	for _, count := range []struct {
		name  string
		value int
	}{{"-pairs", o.pairs}, {"-rounds", o.rounds}, {"-scale", o.scale}, {"-ensembles", o.ensembles}} {
		if count.value < 1 {
			return o, fmt.Errorf("%s must be at least 1, not %d", count.name, count.value)
		}
	}
	var err error
	if o.scenarios, err = chooseScenarios(*names); err != nil {
		return o, err
	}
	if o.policies, err = choosePolicies(*policies); err != nil {
		return o, err
	}
	if o.timeouts, err = parseTimeouts(*timeouts); err != nil {
		return o, err
	}
	o.rule, err = parseRule(*rule)
	return o, err
}

// parseTimeouts parses nominal timeouts. It is an error if servers would not grant one of them.
func parseTimeouts(list string) ([]time.Duration, error) {
	var timeouts []time.Duration
	for text := range strings.SplitSeq(list, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("-timeouts: %w", err)
		}
		if d < 2*nominalTick || d > longest*nominalTick {
			return nil, fmt.Errorf("-timeouts: servers do not grant %v, but %v to %v", d, 2*nominalTick, longest*nominalTick)
		}
		timeouts = append(timeouts, d)
	}
	return timeouts, nil
}

// plan returns all rounds. Rounds of one scale are next to each other. The first round of each scenario
// comes before the second round of any, so that a run that ends early has had all scenarios.
func (o options) plan() []*round {
	var scaled, full []*round
	for range o.rounds {
		for _, s := range o.scenarios {
			groups := [][]time.Duration{s.timeouts(o.timeouts, nominalTick)}
			if s.apart {
				groups = nil
				for _, timeout := range o.timeouts {
					groups = append(groups, []time.Duration{timeout})
				}
			}
			for _, group := range groups {
				r := &round{
					scenario: s, scale: o.scale, rule: o.rule, policies: o.policies, timeouts: group, pairs: o.pairs, seed: o.seed,
				}
				if s.fullScale {
					r.scale = 1
					full = append(full, r)
				} else {
					scaled = append(scaled, r)
				}
			}
		}
	}
	rounds := slices.Concat(scaled, full)
	for i, r := range rounds {
		r.number = i + 1
	}
	return rounds
}
