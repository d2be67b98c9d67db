package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/matrix"
)

// subcommand is one of the proofs.
type subcommand struct {
	name  string
	short string // for the list of all
	long  string // for -h
	// define defines the flags, and returns what is to be run when they are parsed. Results go to out,
	// and what tells how the run goes to progress.
	define func(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error
}

// run parses the flags, and runs the subcommand.
func (s subcommand) run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("verify "+s.name, flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(progress, "usage: verify %s [flags]\n\n%s\n\n", s.name, strings.TrimSpace(s.long))
		flags.PrintDefaults()
	}
	do := s.define(flags)
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected arguments: %q", flags.Args())
	}
	if err == nil {
		err = do(ctx, out, progress)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// names defines a flag for names that are separated by commas or spaces.
func names(flags *flag.FlagSet, into *[]string, name, usage string) {
	list(flags, into, name, usage, func(field string) (string, error) { return field, nil })
}

// homes defines the flag for releases of ZooKeeper by their folders, in order.
func homes(flags *flag.FlagSet, into *[]matrix.Release) {
	list(flags, into, "homes", "the `folders` of the releases, as of ZOOKEEPER_HOME, in order; make servers fetches some", matrix.At)
}

// durations defines a flag for durations that are separated by commas or spaces.
func durations(flags *flag.FlagSet, into *[]time.Duration, name, usage string) {
	list(flags, into, name, usage, time.ParseDuration)
}

// list defines a flag for values that are separated by commas or spaces.
func list[T any](flags *flag.FlagSet, into *[]T, name, usage string, parse func(field string) (T, error)) {
	flags.Func(name, usage, func(text string) error {
		all, err := fields(text)
		if err != nil {
			return err
		}
		*into = nil
		for _, field := range all {
			value, err := parse(field)
			if err != nil {
				return err
			}
			*into = append(*into, value)
		}
		return nil
	})
}

// fields returns what is separated by commas or spaces. An empty list is an error, because with it a proof
// would run nothing, and succeed.
func fields(text string) ([]string, error) {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	if len(all) == 0 {
		return nil, errors.New("the list is empty; without the flag it is the default")
	}
	return all, nil
}

// section is a part of a page, between two lines.
type section struct{ begin, end string }

// replace replaces the section in a page.
func (s section) replace(file, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), s.begin+"\n")
	_, after, found := strings.Cut(rest, s.end+"\n")
	if !ok || !found {
		return fmt.Errorf("%s has no lines %s and %s", file, s.begin, s.end)
	}
	return os.WriteFile(file, []byte(before+s.begin+"\n"+text+s.end+"\n"+after), 0o644)
}
