package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options are what the flags set.
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

// parse reads the arguments. Its output is what flag writes.
func parse(args []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("ensembleproof", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(output, "usage: ensembleproof [flags]\n\nThe scenarios are\n\n%s\n", describe(scenarios()))
		flags.PrintDefaults()
	}
	names := flags.String("scenarios", "", "the scenarios with these `names`, separated by commas; all if there are none")
	policies := flags.String("policies", "session,standard", "the error policies of the holders, separated by commas")
	timeouts := flags.String("timeouts", "10s,20s,40s", "the nominal session `timeouts` of the holders, separated by commas")
	flags.IntVar(&o.pairs, "pairs", 6, "the pairs of each policy and timeout under one fault")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each fault is made")
	flags.IntVar(&o.scale, "scale", 4, "how much shorter than nominal time is")
	flags.IntVar(&o.ensembles, "ensembles", 1, "how many ensembles have rounds at the same time")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "what the chances come from; the clock if it is not set")
	rule := flags.String("rule", string(beatRule), "the rule of the clients, beat or answers")
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
			return o, fmt.Errorf("%s %d: less than 1", count.name, count.value)
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

// parseTimeouts reads nominal timeouts, which servers must grant.
func parseTimeouts(list string) ([]time.Duration, error) {
	var timeouts []time.Duration
	for text := range strings.SplitSeq(list, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("-timeouts: %w", err)
		}
		if d < 2*nominalTick || d > longest*nominalTick {
			return nil, fmt.Errorf("-timeouts: %v: servers grant %v to %v", d, 2*nominalTick, longest*nominalTick)
		}
		timeouts = append(timeouts, d)
	}
	return timeouts, nil
}

// plan returns all rounds, those of one scale next to each other. The first round of every
// scenario comes before the second one of any, so that an early end has seen all.
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
