package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// cell is a place in a row.
type cell struct {
	driver driver
	server server
}

// row has what came of the tests of one program.
type row struct {
	program program
	lines   changed
	own     map[cell]*outcome // the program's own tests
	faults  map[cell]*outcome // our tests with faults
	failure error             // why the row is not complete; nil if it is
}

// fill runs the tests of the program with the chosen drivers on the chosen servers.
func (r *row) fill(ctx context.Context, root string, o options, log io.Writer) (err error) {
	defer func() { r.failure = err }()
	r.own, r.faults = map[cell]*outcome{}, map[cell]*outcome{}
	source, err := r.program.download(ctx)
	if err != nil {
		return err
	}
	for _, d := range o.drivers {
		if err := r.fillDriver(ctx, source, root, d, o, log); err != nil {
			return fmt.Errorf("with the driver %s: %w", d, err)
		}
	}
	return nil
}

// fillDriver runs the tests in a new copy. The program's own tests come first, so that with the original
// driver nothing in the copy is ours by then.
func (r *row) fillDriver(ctx context.Context, source, root string, d driver, o options, log io.Writer) (err error) {
	c, err := r.program.copy(ctx, source, root, d)
	if err != nil {
		return err
	}
	if o.keep {
		_, _ = fmt.Fprintf(log, "%s with the driver %s is in %s\n", r.program.name, d, c.dir)
	} else {
		defer func() { err = errors.Join(err, c.remove()) }()
	}
	if d == ours {
		r.lines = c.lines
	}
	suites := slices.Clone(r.program.suites)
	slices.SortStableFunc(suites, func(a, b suite) int { return cmp.Compare(order(a), order(b)) })
	for _, s := range suites {
		if s.file != "" {
			if err := c.add(s); err != nil {
				return err
			}
		}
		if s.faults && d == original { // for package scenario
			if err := c.requireCurator(ctx, root); err != nil {
				return err
			}
		}
		for _, on := range o.servers {
			if err := r.fillCell(ctx, c, s, cell{d, on}, log); err != nil {
				return err
			}
		}
	}
	return nil
}

func order(s suite) int {
	if s.faults {
		return 1
	}
	return 0
}

func (r *row) fillCell(ctx context.Context, c *copied, s suite, at cell, log io.Writer) error {
	began := time.Now()
	o, err := s.test(ctx, c, at.server, log)
	if err != nil {
		return fmt.Errorf("on the %s server: %w", at.server, err)
	}
	_, _ = fmt.Fprintf(log, "%s, %s driver, %s server, %s%s: %d passed, %d failed, %d skipped, %v with building\n",
		r.program.name, at.driver, at.server, s.pkg, map[bool]string{true: " with faults"}[s.faults],
		len(o.passed), len(o.failed), len(o.skipped), time.Since(began).Round(time.Second))
	for _, name := range o.failed {
		_, _ = fmt.Fprintf(log, "%s", indent(strings.Join(o.log[name], "")))
	}
	cells := r.own
	if s.faults {
		cells = r.faults
	}
	if cells[at] == nil {
		cells[at] = &outcome{}
	}
	cells[at].add(o)
	return nil
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// fault returns the name of a fault, which is that of a test below TestFaults.
func fault(test string) string { return test[strings.Index(test, "/")+1:] }

// verdict returns what is not as it should be in a row that is filled.
func (r *row) verdict() (wrong []error) {
	say := func(at cell, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s, %s driver, %s server: %s", r.program.name, at.driver, at.server, fmt.Sprintf(format, args...)))
	}
	for at, o := range ordered(r.own) {
		for _, name := range o.failed {
			if r.program.broken[name] == "" {
				say(at, "%s fails", name)
			}
		}
		before := r.own[cell{original, at.server}]
		if at.driver == ours && before != nil {
			for _, name := range before.passed {
				if !slices.Contains(o.passed, name) && !slices.Contains(o.failed, name) {
					say(at, "%s has not run", name)
				}
			}
		}
	}
	survived := map[string]int{}
	for at, o := range ordered(r.faults) {
		if at.driver != ours {
			continue
		}
		for _, name := range o.failed {
			if r.program.weak[fault(name)] == "" {
				say(at, "the fault is not survived: %s", fault(name))
			}
		}
		for _, name := range o.skipped {
			say(at, "%s was skipped", name)
		}
		for _, name := range o.passed {
			survived[fault(name)]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.program.weak)) {
		if n := survived[name]; n > 0 && n == count(r.faults, ours) {
			wrong = append(wrong, fmt.Errorf("%s: take %s out of the weak places: it is survived", r.program.name, name))
		}
	}
	return wrong
}

// count returns the number of cells of a driver.
func count(cells map[cell]*outcome, d driver) (n int) {
	for at := range cells {
		if at.driver == d {
			n++
		}
	}
	return n
}

// ordered returns cells in the order of the tables.
func ordered(cells map[cell]*outcome) func(yield func(cell, *outcome) bool) {
	return func(yield func(cell, *outcome) bool) {
		for _, d := range []driver{original, ours} {
			for _, s := range []server{embedded, realServer} {
				if o := cells[cell{d, s}]; o != nil && !yield(cell{d, s}, o) {
					return
				}
			}
		}
	}
}
