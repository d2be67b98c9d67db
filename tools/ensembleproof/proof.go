package main

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

	"github.com/go-curator/curator/tools/ensembleproof/internal/verdict"
)

// proof is a run of this program.
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
	return together(ctx, make([]struct{}, min(p.options.ensembles, len(p.rounds))), func(ctx context.Context, _ int, _ struct{}) error {
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
	return errors.Join(errs...)
}
