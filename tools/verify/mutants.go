package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
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
	write := flags.String("write", "", "write the table into this file, between the lines "+begin+" and "+end)
	workers := flags.Int("workers", 1, "the number of mutants to test at the same time")
	return func(ctx context.Context, out, _ io.Writer) error {
		filter, err := regexp.Compile(*names)
		if err != nil {
			return fmt.Errorf("-run: %w", err)
		}
		return runMutants(ctx, filter, *write, *workers, out)
	}
}

// runMutants runs the tests of the mutants whose names match, and prints the table.
func runMutants(ctx context.Context, filter *regexp.Regexp, write string, workers int, out io.Writer) error {
	root, err := mutants.Root(".")
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool { return !filter.MatchString(m.Name) })
	lines, wrong := make([]string, len(chosen)), make([]error, len(chosen))
	free := make(chan struct{}, max(workers, 1))
	var wg sync.WaitGroup
	for i, m := range chosen {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			var o mutants.Outcome
			o, wrong[i] = mutants.Run(ctx, root, m)
			lines[i] = fmt.Sprintf("| %s | %s | %s | %v |\n", m.Name, m.Breaks, caught(m, o), o.Took.Round(10*time.Millisecond))
		})
	}
	wg.Wait()
	table := "| mutant | breaks | caught by | after |\n| --- | --- | --- | --- |\n" + strings.Join(lines, "")
	if write != "" {
		err = replace(write, table)
	}
	if _, err := io.WriteString(out, table); err != nil {
		return err
	}
	return errors.Join(errors.Join(wrong...), err)
}

// The lines around the table in a page.
const (
	begin = "<!-- mutants: written by make mutants -->"
	end   = "<!-- end of mutants -->"
)

// replace replaces the table in a page.
func replace(file, table string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), begin+"\n")
	_, after, found := strings.Cut(rest, end+"\n")
	if !ok || !found {
		return fmt.Errorf("%s has no lines %s and %s", file, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+table+end+"\n"+after), 0o644)
}

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
