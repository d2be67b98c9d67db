package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/go-curator/curator/internal/verify/chaos"
	"github.com/go-curator/curator/internal/verify/model"
)

// attacking is the subcommand chaos.
func attacking() subcommand {
	return subcommand{"chaos", "attack the recipes on a real ensemble, and judge what they did", `
Chaos runs the recipes on a real ensemble, makes faults, and reports the violations that it finds. It needs
ZooKeeper, and also runs clients of Java Curator and kazoo if they are installed.

	make chaos SEED=7 DURATION=10m
	go run ./tools/verify chaos -seed 7 -duration 10m -workloads mutex,read-write -faults worker-stopped
	go run ./tools/verify chaos -runs 10 -duration 60s
	go run ./tools/verify chaos -replay FILE

If it finds a violation it prints the path of the log of all events, and exits with 1. It compares each run
with the model, by a search that may decide nothing. That is no failure, unless it happens to more than
one in ten locks of several runs. With -replay it only checks whether the run in such a log is possible
in the model. See package internal/verify/chaos and docs/robustness.md.`, defineChaos}
}

func defineChaos(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	var c chaos.Config
	flags.DurationVar(&c.Duration, "duration", 0, "how long to make faults (default 1m)")
	flags.Uint64Var(&c.Seed, "seed", 0, "the seed of the random faults (default a random seed)")
	flags.IntVar(&c.Workers, "workers", 0, "the number of workers in Go (default 4)")
	flags.DurationVar(&c.Session, "session", 0, "the session timeout (default 4s)")
	flags.DurationVar(&c.Pause, "pause", 0, "the mean pause between two operations (default 60ms)")
	flags.Float64Var(&c.Pace, "pace", 0, "multiplies the pauses between faults (default 1)")
	flags.DurationVar(&c.Slack, "slack", 0, "how late an event may be on a slow machine (default 45s)")
	flags.BoolVar(&c.WithoutForeign, "without-foreign", false, "run no clients of Java Curator and kazoo")
	flags.StringVar(&c.Log, "log", "", "write all events to this file (default a temporary file, which is kept after a violation)")
	runs := flags.Int("runs", 1, "how many runs to make, each from another seed; -seed is the first one's")
	log := flags.String("replay", "", "run nothing; check whether the run in this log of events is a path of the model")
	thin := flags.String("thin", "", "with -replay, write what the log says of each lock into this folder, for the tests of internal/verify/chaos/replay")
	for name, into := range map[string]*[]string{"workloads": &c.Workloads, "faults": &c.Faults, "build-flags": &c.BuildFlags} {
		names(flags, into, name, name+", separated by commas or spaces")
	}
	return func(ctx context.Context, out, progress io.Writer) error {
		c.Progress = progress
		if *log != "" {
			return replay(ctx, *log, *thin, out)
		}
		if *runs < 1 {
			return fmt.Errorf("less than one: -runs %d", *runs)
		}
		if *runs > 1 && c.Log != "" {
			return errors.New("-log is the file of one run; several keep the logs that matter among the temporary files")
		}
		if c.Seed == 0 {
			c.Seed = rand.Uint64N(1e9)
		}
		return attack(ctx, c, *runs, out)
	}
}

// attack makes runs from one seed after the other. Its error says which of them found violations, or that
// too few were compared with the model.
func attack(ctx context.Context, c chaos.Config, runs int, out io.Writer) error {
	var found []error
	compared, undecided := 0, 0
	for range runs {
		_, _ = fmt.Fprintf(c.Progress, "seed %d\n", c.Seed) // the report has the seed, too
		report, err := chaos.Run(ctx, c)
		if report.Took > 0 {
			if _, err := io.WriteString(out, report.String()); err != nil {
				return err
			}
		}
		if err != nil {
			return errors.Join(append(found, err)...)
		}
		if n := len(report.Violations); n > 0 {
			found = append(found, fmt.Errorf("seed %d: %d violations", c.Seed, n))
		}
		compared += len(report.Replayed)
		undecided += report.Undecided()
		if ctx.Err() != nil {
			break
		}
		c.Seed++
	}
	return errors.Join(append(found, judge(compared, undecided))...)
}

// judge returns an error if the comparison with the model has decided too little. Of a few locks one may
// be undecided by chance.
func judge(compared, undecided int) error {
	const enough = 10
	if compared >= enough && undecided*10 > compared {
		return fmt.Errorf("the comparison with the model did not decide %d of %d locks; more than one in ten is too many", undecided, compared)
	}
	return nil
}

// replay compares the run in a log with the model. Its error says that it is no path, or not known to be one.
func replay(ctx context.Context, log, thin string, out io.Writer) error {
	found, err := chaos.Replay(ctx, log, thin)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("in this log nobody uses a lock that the model knows")
	}
	var verdicts error
	for _, f := range found {
		if _, err := io.WriteString(out, f.String()); err != nil {
			return err
		}
		if f.Verdict != model.Path {
			verdicts = errors.Join(verdicts, fmt.Errorf("%s: %s", f.Lock, f.Verdict))
		}
	}
	return verdicts
}
