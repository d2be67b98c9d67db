// Package ensemble tests, on real ensembles with faults, that no two clients believe at the same time
// that they hold the same lock.
//
// It starts real ensembles of three servers and breaks the network between them, or between
// them and their clients, in many ways. Under each fault there are pairs of clients: X holds an
// InterProcessMutex, connected to the faulty server alone, and Y, on the other servers, waits
// for it. The package compares the instant at which the context of X's lease ended with the
// instant at which Y's Acquire returned. If Y's instant is earlier, both believed that they
// held the lock: an overlap.
//
// The tables are in nominal time, with ZooKeeper's tick of 2 s. To shorten the run, time is
// scaled down: with a scale of 4 a tick takes 500 ms, a timeout of 10 s takes 2.5 s, and the
// measured times are multiplied by 4 in the table. The times of processors and networks are
// multiplied, too. Elections are not shortened.
//
// # The effect of scheduling
//
// Both instants are taken in this process, by one monotonic clock, each in the first statement
// of its own goroutine after it was woken. An instant is late by the time that its goroutine
// waits for a processor. A late X seems to believe for longer, which can show a false overlap;
// a late Y can hide an overlap. If a stall of the whole process covers both, they are noted at
// its end, in either order. So a goroutine that is due every millisecond notes its own delays,
// and the error of a pair is the possible delay of its two instants. The table has the largest
// error of each row. An overlap or a slack that is shorter than the error means nothing;
// overlaps up to their own error are counted, and reported separately in the message. The
// timers of the clients are late, too, but this is no error, because the context of a lease is
// as late in any program.
package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/verify/ensemble/verdict"
	"github.com/go-curator/curator/internal/verify/realservers"
)

// Config says what is run. Durations are nominal.
type Config struct {
	Scenarios []string        // their names; the default is all
	Policies  []string        // the error policies of the holders: session, standard
	Timeouts  []time.Duration // the session timeouts of the holders
	Pairs     int             // for each policy and timeout in a round
	Rounds    int             // for each fault
	Scale     int             // divides nominal times
	Ensembles int             // that run rounds at the same time
	Seed      uint64          // of the random numbers
	Rule      string          // how clients prove their sessions: beat, or answers, which is wrong
}

// Run runs the rounds, and writes the tables to out and a line for each round to progress. Its error says
// what the results should not be:
//
//   - there was an overlap,
//   - a lease was lost by a fault that healed in time (scenarios K and L, under the session policy),
//   - of a kind of pair no lock was granted to Y after the loss (except K and L),
//   - no pair held a lock when its fault began,
//   - a round could not be run.
//
// With the rule answers it is an error if there were no overlaps, because this package must detect them.
func Run(ctx context.Context, c Config, out, progress io.Writer) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	p := newProof(o, progress)
	runErr := p.run(ctx)
	if _, err := io.WriteString(out, p.markdown()); err != nil {
		return err
	}
	return errors.Join(runErr, p.verdict())
}

// options are a Config that was checked.
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

func (c Config) options() (o options, err error) {
	for _, count := range []struct {
		name  string
		value int
	}{{"-pairs", c.Pairs}, {"-rounds", c.Rounds}, {"-scale", c.Scale}, {"-ensembles", c.Ensembles}} {
		if count.value < 1 {
			return o, fmt.Errorf("%s must be at least 1, not %d", count.name, count.value)
		}
	}
	switch {
	case len(c.Timeouts) == 0:
		return o, errors.New("-timeouts must name a session timeout")
	case len(c.Policies) == 0:
		return o, errors.New("-policies must name an error policy")
	}
	for _, d := range c.Timeouts {
		if d < 2*nominalTick || d > longest*nominalTick {
			return o, fmt.Errorf("-timeouts: servers do not grant %v, but %v to %v", d, 2*nominalTick, longest*nominalTick)
		}
	}
	o = options{
		timeouts: c.Timeouts, pairs: c.Pairs, rounds: c.Rounds, scale: c.Scale, ensembles: c.Ensembles, seed: c.Seed,
	}
	if o.scenarios, err = chooseScenarios(c.Scenarios); err != nil {
		return o, err
	}
	if o.policies, err = choosePolicies(c.Policies); err != nil {
		return o, err
	}
	o.rule, err = parseRule(c.Rule)
	return o, err
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

// proof is a run.
type proof struct {
	options  options
	rounds   []*round
	progress io.Writer
	origin   time.Time // the origin of all instants

	mu      sync.Mutex
	reports []report
}

func newProof(o options, progress io.Writer) *proof {
	return &proof{options: o, rounds: o.plan(), progress: progress, origin: time.Now()}
}

// now returns the time since the origin, by the monotonic clock.
func (p *proof) now() time.Duration { return time.Since(p.origin) }

// run runs the rounds on the ensembles, each round on the first ensemble that is free. It stops at the
// first error.
func (p *proof) run(ctx context.Context) error {
	todo := make(chan *round, len(p.rounds))
	for _, r := range p.rounds {
		todo <- r
	}
	close(todo)
	ensembles := make([]struct{}, min(p.options.ensembles, len(p.rounds)))
	return realservers.Each(ctx, -1, ensembles, func(ctx context.Context, _ int, _ struct{}) error {
		return p.work(ctx, todo)
	})
}

// work runs rounds until none is left, each on an ensemble with the round's tick.
func (p *proof) work(ctx context.Context, todo <-chan *round) (err error) {
	var s *servers
	defer func() {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for r := range todo {
		if s != nil && s.tick != r.tick() {
			if err := s.Close(); err != nil {
				return err
			}
			s = nil
		}
		if s == nil {
			if s, err = startServers(r.tick()); err != nil {
				return err
			}
			if err := s.settle(ctx, r.rule); err != nil {
				return err
			}
		}
		rep, err := r.run(ctx, s, p.now)
		if err != nil {
			return fmt.Errorf("round %d, %s: %w", r.number, r.scenario.name, err)
		}
		p.add(rep)
	}
	return nil
}

// add adds the report of a round, and prints a line about it.
func (p *proof) add(rep report) {
	total := verdict.Total(verdict.Sum(rep.pairs))
	line := fmt.Sprintf("round %d of %d, %s: %d pairs, %d overlaps, %d kept, %d ended before the fault, %d retries; late by %v at most; took %v\n",
		rep.round.number, len(p.rounds), rep.round.scenario.name, total.Pairs, total.Overlaps, total.Kept, total.Early, rep.retries,
		rep.lateness.Round(100*time.Microsecond), rep.took.Round(100*time.Millisecond))
	p.mu.Lock()
	p.reports = append(p.reports, rep)
	p.mu.Unlock()
	_, _ = io.WriteString(p.progress, line) // the results are in the table
}

// rows returns the rows of the table, in the order of the options.
func (p *proof) rows() []verdict.Row {
	var pairs []verdict.Pair
	for _, rep := range p.reports {
		pairs = append(pairs, rep.pairs...)
	}
	rows := verdict.Sum(pairs)
	slices.SortStableFunc(rows, func(a, b verdict.Row) int {
		return cmp.Or(
			cmp.Compare(p.scenarioIndex(a), p.scenarioIndex(b)),
			cmp.Compare(p.policyIndex(a), p.policyIndex(b)),
			cmp.Compare(a.Timeout, b.Timeout),
		)
	})
	return rows
}

func (p *proof) scenarioIndex(r verdict.Row) int {
	return slices.IndexFunc(p.options.scenarios, func(s scenario) bool { return s.name == r.Scenario })
}

func (p *proof) policyIndex(r verdict.Row) int {
	return slices.IndexFunc(p.options.policies, func(q policy) bool { return q.name == r.Policy })
}

// scaleOf returns the number by which nominal times were divided in the rounds of a row.
func (p *proof) scaleOf(r verdict.Row) int {
	if p.options.scenarios[p.scenarioIndex(r)].fullScale {
		return 1
	}
	return p.options.scale
}

// markdown returns the results of the run.
func (p *proof) markdown() string {
	var b strings.Builder
	rows := p.rows()
	b.WriteString(verdict.Table(rows, p.scaleOf))
	b.WriteByte('\n')
	b.WriteString(describe(p.options.scenarios))
	var lateness time.Duration
	retries := 0
	for _, rep := range p.reports {
		lateness = max(lateness, rep.lateness)
		retries += rep.retries
	}
	fmt.Fprintf(&b, "\nThe rule is %s. %d of %d rounds took %v; nominal times were divided by %d; the seed was %d.\n", p.options.rule,
		len(p.reports), len(p.rounds), p.now().Round(time.Second), p.options.scale, p.options.seed)
	if total := verdict.Total(rows); total.Doubtful > 0 {
		fmt.Fprintf(&b, "Of the overlaps, %d were not longer than their own error.\n", total.Doubtful)
	}
	fmt.Fprintf(&b, "A goroutine of this process woke up late by at most %v of real time. Acquire was retried %d times.\n",
		lateness.Round(100*time.Microsecond), retries)
	return b.String()
}

// verdict returns an error if the results are not as they must be.
func (p *proof) verdict() error {
	rows := p.rows()
	total := verdict.Total(rows)
	if p.options.rule == answersRule {
		if total.Overlaps == total.Doubtful {
			return errors.New("no overlap was found, although the rule is wrong: there are too few pairs, or this program does not detect overlaps")
		}
		return nil
	}
	var errs []error
	if total.Overlaps > 0 {
		errs = append(errs, fmt.Errorf("in %d pairs both clients believed at the same time that they held the lock, in %d of them not for longer than the error of measurement", total.Overlaps, total.Doubtful))
	}
	for _, r := range rows {
		passes := p.options.scenarios[p.scenarioIndex(r)].passes
		if !passes && r.Silent() {
			errs = append(errs, fmt.Errorf("%s, %s, T = %v: after the losses no waiter got a lock while it was watched, so these pairs show nothing", r.Scenario, r.Policy, r.Timeout))
		}
		if passes && r.Policy == "session" && r.Kept+r.Overlaps < r.Pairs {
			errs = append(errs, fmt.Errorf("%s, T = %v: %d leases were lost, although the fault was healed in time", r.Scenario, r.Timeout, r.Pairs-r.Kept-r.Overlaps))
		}
	}
	if total.Pairs == 0 {
		errs = append(errs, errors.New("no pair held a lock when a fault began, so nothing is shown"))
	}
	return errors.Join(errs...)
}
