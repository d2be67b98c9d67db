// Programs runs the tests of programs that others have written with the one line changed that imports their
// ZooKeeper driver, so that they run on framework/zk:
//
//	make programs
//	make programs PROGRAMS=vault,gokit
//	go run ./tools/programs -driver original -servers embedded vault
//
// It takes each program, at a fixed version, from Go's module cache into a temporary folder, with go mod
// download. It runs the program's own tests there, first with the driver that the program came with, then
// with framework/zk of this work tree, each on the embedded server and on a real one. Then it writes a test
// file of ours from testdata into the copy, which makes faults while the program works. It never changes the
// module cache.
//
// It prints a table of the programs and one of the faults. With -write these replace the tables of a page.
//
// # Exit status
//
// It is 0 if every program could be downloaded and built, every test of its own passes with both drivers, and
// every fault is survived with framework/zk, but those that the program's entry names, with the reason; 1
// otherwise. The faults that the original driver does not survive are only counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "programs:", err)
		os.Exit(1)
	}
}

// options are the values of the flags, and the programs that are named.
type options struct {
	programs []program
	drivers  []driver
	servers  []server
	write    string
	keep     bool
}

// all tells whether nothing was left out.
func (o options) all() bool {
	return len(o.programs) == len(programs()) && len(o.drivers) == 2 && len(o.servers) == 2
}

// run runs the command with args. Tables are written to stdout, progress and failed tests to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	root, err := workTree(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(o.drivers, ours) && !exists(root, shimDir) {
		return fmt.Errorf("%s is not there; -driver original runs the programs as they are", shimDir)
	}
	var rows []*row
	var wrong []error
	for _, p := range o.programs {
		r := &row{program: p}
		rows = append(rows, r)
		if err := r.fill(ctx, root, o, stderr); err != nil {
			_, _ = fmt.Fprintf(stderr, "%s: %v\n", p.name, err)
			wrong = append(wrong, fmt.Errorf("%s: %w", p.name, err))
			continue
		}
		wrong = append(wrong, r.verdict()...)
	}
	tables := markdown(rows)
	if _, err := io.WriteString(stdout, tables); err != nil {
		return err
	}
	if o.write != "" {
		wrong = append(wrong, replaceTables(o.write, tables))
	}
	return errors.Join(wrong...)
}

// parse parses the arguments. The help and errors of package flag are written to output.
func parse(args []string, output io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("programs", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		var names []string
		for _, p := range programs() {
			names = append(names, p.name)
		}
		_, _ = fmt.Fprintf(output, "usage: programs [flags] [PROGRAM,...]\n\nThe programs are %s; all of them by default.\n\n", strings.Join(names, ", "))
		flags.PrintDefaults()
	}
	drivers := flags.String("driver", "original,ours", "the `drivers`, separated by commas: the program's own, and framework/zk")
	servers := flags.String("servers", "embedded,real", "the `servers`, separated by commas")
	flags.StringVar(&o.write, "write", "", "write the tables into this `page`, between the lines "+begin+" and "+end)
	flags.BoolVar(&o.keep, "keep", false, "keep the copies, and say where they are")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 1 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(1))
	}
	if o.drivers, err = choose(*drivers, []driver{original, ours}, func(d driver) string { return string(d) }); err != nil {
		return o, fmt.Errorf("-driver: %w", err)
	}
	if o.servers, err = choose(*servers, []server{embedded, realServer}, func(s server) string { return string(s) }); err != nil {
		return o, fmt.Errorf("-servers: %w", err)
	}
	if o.programs, err = choose(flags.Arg(0), programs(), func(p program) string { return p.name }); err != nil {
		return o, err
	}
	if o.write != "" && !o.all() {
		return o, errors.New("-write: the page has the tables of all programs, drivers and servers")
	}
	return o, nil
}

// choose returns those of all that a list with commas names, and all of them if it is empty.
func choose[T any](list string, all []T, name func(T) string) (chosen []T, err error) {
	if strings.TrimSpace(list) == "" {
		return all, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		i := slices.IndexFunc(all, func(one T) bool { return name(one) == text })
		if i < 0 {
			return nil, fmt.Errorf("there is no %q", text)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
