package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/verify/model"
)

// exploring is the subcommand explore.
func exploring() subcommand {
	return subcommand{"explore", "explore a model of the algorithms", `
Explore explores the model of the recipes' algorithms and prints the results in the form of the tables of
docs/lock-model.md. It exits with 1 if a correct algorithm has a violation, or if the exploration does not
find the violation of an algorithm with a mistake. See package internal/verify/model.

	go run ./tools/verify explore -only mistakes -trace
	go run ./tools/verify explore -run 'latch' -time 5m`, defineExplore}
}

// exploration has the values of the flags.
type exploration struct {
	filter  *regexp.Regexp
	only    string
	tier    model.Tier
	limits  model.Limits
	workers int
	trace   bool
	list    bool
}

func defineExplore(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	var o exploration
	filter := flags.String("run", "", "explore only configurations whose names match this regular expression")
	tier := flags.String("tier", "table", "how much to explore: race, test or table, of which race is the least")
	flags.StringVar(&o.only, "only", "", "explore only families or only mistakes (default both)")
	flags.IntVar(&o.limits.States, "states", 12_000_000, "stop a configuration after this number of states; 0 is no limit")
	flags.DurationVar(&o.limits.Time, "time", 10*time.Minute, "stop a configuration after this time; 0 is no limit")
	flags.IntVar(&o.workers, "workers", 1, "the number of configurations to explore at the same time; each may take gigabytes of memory")
	memory := flags.Int64("memory", 4096, "collect garbage more often from this number of MiB on")
	flags.BoolVar(&o.trace, "trace", false, "print the shortest trace of each violation")
	flags.BoolVar(&o.list, "list", false, "print the names only")
	return func(ctx context.Context, out, _ io.Writer) (err error) {
		if o.filter, err = regexp.Compile(*filter); err != nil {
			return fmt.Errorf("-run: %w", err)
		}
		var known bool
		if o.tier, known = map[string]model.Tier{"race": model.Race, "test": model.Test, "table": model.Table}[*tier]; !known {
			return fmt.Errorf("-tier must be race, test or table, not %q", *tier)
		}
		if o.only != "" && o.only != "families" && o.only != "mistakes" {
			return fmt.Errorf("-only must be families or mistakes, not %q", o.only)
		}
		if o.workers < 1 {
			return fmt.Errorf("-workers must be at least 1, not %d", o.workers)
		}
		debug.SetMemoryLimit(*memory << 20)
		debug.SetGCPercent(40)
		return o.run(ctx, out)
	}
}

func (o exploration) run(ctx context.Context, out io.Writer) error {
	p := &printer{out: out}
	if !o.some() {
		return fmt.Errorf("-run: no configuration matches %q", o.filter)
	}
	var wrong []error
	if o.only != "mistakes" {
		wrong = append(wrong, o.families(ctx, p)...)
	}
	if o.only != "families" {
		wrong = append(wrong, o.mistakes(ctx, p)...)
	}
	return errors.Join(append(wrong, p.err, ctx.Err())...)
}

// some tells whether there is a configuration to explore.
func (o exploration) some() bool {
	matches := func(cfg *model.Config) bool { return o.filter.MatchString(cfg.Name) }
	ofFamily := func(f model.Family) bool { return slices.ContainsFunc(f.Configs, matches) }
	return o.only != "mistakes" && slices.ContainsFunc(model.Families(o.tier), ofFamily) ||
		o.only != "families" && slices.ContainsFunc(model.Mistakes(o.tier), matches)
}

// printer prints until a write fails, and keeps the error.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// explore explores the configurations that match the filter, and returns their results.
func (o exploration) explore(ctx context.Context, configs []*model.Config) map[*model.Config]model.Result {
	results := map[*model.Config]model.Result{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	free := make(chan struct{}, o.workers)
	for _, cfg := range configs {
		if !o.filter.MatchString(cfg.Name) {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			r := model.Explore(ctx, cfg, o.limits)
			mu.Lock()
			defer mu.Unlock()
			results[cfg] = r
		})
	}
	wg.Wait()
	return results
}

// families prints a line for each family, and returns the violations.
func (o exploration) families(ctx context.Context, out *printer) (wrong []error) {
	var all, left int
	out.printf("| contenders | faults, explored to the end | states | time | given up at the limit, nothing found (states) |\n" +
		"| --- | --- | --- | --- | --- |\n")
	for _, family := range model.Families(o.tier) {
		if o.list {
			for _, cfg := range family.Configs {
				out.printf("%s\n", cfg.Name)
			}
			continue
		}
		results := o.explore(ctx, family.Configs)
		var complete, given []string
		states, took := 0, time.Duration(0)
		for _, cfg := range family.Configs {
			r, explored := results[cfg]
			faults := strings.TrimPrefix(cfg.Name, family.Name+": ")
			switch {
			case !explored:
				continue
			case r.Violation != "":
				wrong = append(wrong, fmt.Errorf("%s: %s", cfg.Name, r.Violation))
				o.tell(out, r)
			case r.Complete:
				complete = append(complete, faults)
				states += r.States
			default:
				given = append(given, fmt.Sprintf("%s (%s)", faults, millions(r.States)))
				left += r.States
			}
			took += r.Took
		}
		if all += states; took > 0 {
			out.printf("| %s | %s | %s | %s | %s |\n", family.Name, strings.Join(complete, "; "), millions(states), took.Round(time.Second/10), strings.Join(given, ", "))
		}
	}
	out.printf("\n%d states explored to the end, %d besides.\n\n", all, left)
	return wrong
}

// mistakes prints what each mistake breaks, and returns an error for each that was not found.
func (o exploration) mistakes(ctx context.Context, out *printer) (wrong []error) {
	out.printf("| mistake | | breaks | states | steps |\n| --- | --- | --- | --- | --- |\n")
	configs := model.Mistakes(o.tier)
	results := map[*model.Config]model.Result{}
	if !o.list {
		results = o.explore(ctx, configs)
	}
	for _, cfg := range configs {
		r, explored := results[cfg]
		switch {
		case o.list:
			out.printf("%s\n", cfg.Name)
		case explored:
			letter, _, _ := strings.Cut(r.Violation, ":")
			out.printf("| %s | %s | %s | %d | %d |\n", cfg.Name, cfg.About, letter, r.States, r.Depth)
			o.tell(out, r)
			if letter != cfg.Expect {
				wrong = append(wrong, fmt.Errorf("%s: found %q, want %s", cfg.Name, r.Violation, cfg.Expect))
			}
		}
	}
	return wrong
}

// tell prints the trace of a violation if -trace is set.
func (o exploration) tell(out *printer, r model.Result) {
	if !o.trace || r.Violation == "" {
		return
	}
	out.printf("\n%s, after %d steps:\n\n", r.Violation, r.Depth)
	for _, line := range r.Trace {
		out.printf("    %s\n", line)
	}
	out.printf("\n")
}

func millions(states int) string {
	if states < 100_000 {
		return fmt.Sprint(states)
	}
	return fmt.Sprintf("%.1f million", float64(states)/1e6)
}
