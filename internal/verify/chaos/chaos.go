// Package chaos runs recipes on a real ensemble while it and its clients are attacked, and judges
// what the clients have noted:
//
//	make chaos SEED=7 DURATION=10m
//
// Workers are processes of their own, in Go, in Java with Curator and in Python with kazoo. A
// nemesis kills, stops and cuts off servers and workers, ends sessions and deletes nodes, by
// chance from a seed. Everything is noted on one clock, and package check looks for what must not
// be: two who believe at once, tokens that fall, changes that are lost, waiters who are forgotten,
// nodes and goroutines that are left. docs/robustness.md says what is run and what was found.
//
// The parts: history, the events and their clock; worker, the processes in Go; fleet, which runs
// all processes; nemesis, which attacks; store, a resource that checks fencing tokens; wallclock,
// which steps the wall clocks of processes; check, which judges; txnlog, which reads what the servers
// have committed; replay, which looks for the run among the paths of internal/verify/model. This package
// puts them together.
package chaos

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
)

// Config says what is run. The zero value of every field has a default.
type Config struct {
	// Duration is how long the nemesis attacks. The default is a minute.
	Duration time.Duration
	// Seed is what faults and workers are drawn from.
	Seed uint64
	// Workloads are the names of those to run; the default is all of them. See worker.Names.
	Workloads []string
	// Faults are the kinds to make; the default is all that ZooKeeper itself survives. See
	// nemesis.Kinds.
	Faults []string
	// Workers is how many processes in Go there are, 4 by default. The first one knows the
	// first server alone, the second one the second.
	Workers int
	// WithoutForeign leaves Java and kazoo out. Without it they take part if they are installed,
	// in the workloads that share locks with them.
	WithoutForeign bool
	// WithoutModel does not compare the run with the model. That is a search, which may decide nothing.
	WithoutModel bool
	// Session is the session timeout of all, 4 s by default, in ten ticks of the servers. It is in whole
	// milliseconds, as servers grant it.
	Session time.Duration
	// Pause is the mean pause of a worker between two operations, 60 ms by default.
	Pause time.Duration
	// Pace multiplies the pauses between faults, 1 by default.
	Pace float64
	// BuildFlags are flags of go build with which the workers in Go are built, such as -tags or
	// -overlay: for mistakes that are made on purpose. Without them the workers are processes of
	// the present program, which must call Work first of all.
	BuildFlags []string
	// Env has more variables for the environment of the workers in Go, as NAME=value.
	Env []string
	// Slack is how much later than promised something may be answered or served on this
	// machine, 45 s by default.
	Slack time.Duration
	// Log is the file for the history. The default is one in the folder for temporary files,
	// which stays if Report.Keep.
	Log string
	// Progress is told how the run goes, a line now and then.
	Progress io.Writer
	// Skipf is called, and must not return, if this machine has no ZooKeeper. Without it Run
	// returns an error then.
	Skipf func(format string, args ...any)
}

// defaults returns the configuration with its defaults, or an error for what makes no sense.
func (c Config) defaults() (Config, error) {
	setDefault(&c.Duration, time.Minute)
	setDefault(&c.Workers, 4)
	setDefault(&c.Session, 4*time.Second)
	setDefault(&c.Pause, 60*time.Millisecond)
	setDefault(&c.Pace, 1)
	setDefault(&c.Slack, 45*time.Second)
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	if len(c.Workloads) == 0 {
		c.Workloads = worker.Names()
	}
	for _, name := range c.Workloads {
		if !slices.Contains(worker.Names(), name) {
			return c, fmt.Errorf("there is no workload %q; there are %v", name, worker.Names())
		}
	}
	for _, kind := range c.Faults {
		if !slices.Contains(nemesis.Kinds(), kind) {
			return c, fmt.Errorf("there is no fault %q; there are %v", kind, nemesis.Kinds())
		}
	}
	switch {
	case c.Duration < 0 || c.Pace < 0 || c.Slack < 0:
		return c, fmt.Errorf("less than 0: Duration %v, Pace %v, Slack %v", c.Duration, c.Pace, c.Slack)
	case c.Session < time.Second:
		return c, fmt.Errorf("less than a second: Session %v", c.Session)
	case c.Session%time.Millisecond != 0:
		return c, fmt.Errorf("not in whole milliseconds: Session %v", c.Session)
	case c.Pause < time.Millisecond:
		return c, fmt.Errorf("less than a millisecond: Pause %v", c.Pause)
	case c.Workers < worker.Members && slices.Contains(c.Workloads, worker.Barrier):
		return c, fmt.Errorf("too few for the barrier: Workers %d; it needs %d", c.Workers, worker.Members)
	case c.Workers < 1:
		return c, fmt.Errorf("less than one: Workers %d", c.Workers)
	}
	return c, nil
}

func setDefault[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}

// tick returns the tick of the servers.
func (c Config) tick() time.Duration { return c.Session / 10 }

// Work does the work of a worker, if this process was started as one; it tells whether it was. A
// program whose processes are to be workers calls it before anything else, and ends if it was.
func Work(ctx context.Context) (was bool, err error) {
	settings, was, err := worker.Told()
	if !was || err != nil {
		return was, err
	}
	return true, worker.Run(ctx, settings, os.Stdin, os.Stdout)
}
