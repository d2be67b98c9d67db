package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/verify/mutants"
)

// mutating is the subcommand mutants.
func mutating() subcommand {
	return subcommand{"mutants", "break the algorithms one by one, and see that tests notice", `
Mutants breaks the recipes' algorithms one by one, runs the tests that must notice, and prints the tests
that have caught each mutant. It exits with 1 if a mutant was not caught. See package
internal/verify/mutants.

	make mutants
	go run ./tools/verify mutants -run downgrade`, defineMutants}
}

func defineMutants(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	names := flags.String("run", "", "test only mutants whose names match this regular expression")
	write := flags.String("write", "", "write the table into this file, between the lines "+mutantsTable.begin+" and "+mutantsTable.end+", if all mutants were tested")
	workers := flags.Int("workers", 1, "the number of mutants to test at the same time")
	return func(ctx context.Context, out, progress io.Writer) error {
		filter, err := regexp.Compile(*names)
		if err != nil {
			return fmt.Errorf("-run: %w", err)
		}
		root, err := mutants.Root(".")
		if err != nil {
			return err
		}
		m := mutation{all: mutants.All(), filter: filter, write: *write, workers: *workers}
		m.test = func(ctx context.Context, one mutants.Mutant) (mutants.Outcome, error) {
			return mutants.Run(ctx, root, one)
		}
		return m.run(ctx, out, progress)
	}
}

// mutation has the values of the flags, and what they choose from.
type mutation struct {
	all     []mutants.Mutant
	test    func(ctx context.Context, m mutants.Mutant) (mutants.Outcome, error)
	filter  *regexp.Regexp
	write   string // the file for the table, or ""
	workers int
}

// run runs the tests of the mutants whose names match, and prints the table of those that were tested. A table
// without some of the mutants is not written into the file.
func (r mutation) run(ctx context.Context, out, progress io.Writer) error {
	chosen := slices.DeleteFunc(slices.Clone(r.all), func(m mutants.Mutant) bool { return !r.filter.MatchString(m.Name) })
	if len(chosen) == 0 {
		return fmt.Errorf("-run: no mutant matches %q", r.filter)
	}
	lines, wrong := make([]string, len(chosen)), make([]error, len(chosen))
	free := make(chan struct{}, max(r.workers, 1))
	var wg sync.WaitGroup
	for i, m := range chosen {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if o, err := r.test(ctx, m); ctx.Err() == nil {
				lines[i], wrong[i] = fmt.Sprintf("| %s | %s | %s | %v |\n", m.Name, m.Breaks, caught(m, o), o.Took.Round(10*time.Millisecond)), err
			}
		})
	}
	wg.Wait()
	table := "| mutant | breaks | caught by | after |\n| --- | --- | --- | --- |\n" + strings.Join(lines, "")
	if _, err := io.WriteString(out, table); err != nil {
		return err
	}
	failed := append(wrong, ctx.Err())
	switch whole := len(chosen) == len(r.all) && ctx.Err() == nil; {
	case r.write != "" && whole:
		failed = append(failed, mutantsTable.replace(r.write, table))
	case r.write != "":
		_, _ = fmt.Fprintf(progress, "%s stays as it is: not all %d mutants were tested\n", r.write, len(r.all)) // the error and -run say why
	}
	return errors.Join(failed...)
}

// mutantsTable is where the table is in a page.
var mutantsTable = section{"<!-- mutants: written by make mutants -->", "<!-- end of mutants -->"}

// caught returns the names of the first tests that failed, and the number of the others.
func caught(m mutants.Mutant, o mutants.Outcome) string {
	const most = 2
	if len(o.CaughtBy) == 0 {
		return "**nothing**"
	}
	var names []string
	for _, name := range o.CaughtBy[:min(most, len(o.CaughtBy))] {
		names = append(names, "`"+name+"`")
	}
	text := strings.Join(names, ", ")
	if more := len(o.CaughtBy) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " in `" + m.Package + "`"
}
