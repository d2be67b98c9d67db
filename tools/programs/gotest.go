package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tools/programs/scenario"
)

// outcome is what came of the tests of a program, of its own or of ours, on one server. Tests that contain
// others are not in it.
type outcome struct {
	passed, failed, skipped []string
	repeated                []string            // those of passed that had failed before
	measured                map[string][]string // by test
	log                     map[string][]string // by failed test
}

func (o *outcome) add(more outcome) {
	o.passed = append(o.passed, more.passed...)
	o.failed = append(o.failed, more.failed...)
	o.skipped = append(o.skipped, more.skipped...)
	o.repeated = append(o.repeated, more.repeated...)
	if o.measured == nil {
		o.measured, o.log = map[string][]string{}, map[string][]string{}
	}
	maps.Copy(o.measured, more.measured)
	maps.Copy(o.log, more.log)
}

// count is the number of tests that have run.
func (o *outcome) count() int { return len(o.passed) + len(o.failed) }

// buildTimeout bounds the building of a program's tests, with the downloads of what they need.
const buildTimeout = 45 * time.Minute

// tries is how often a racy test runs until it passes.
const tries = 3

// test runs a suite in a copy, and those of its racy tests again that have failed.
func (s suite) test(ctx context.Context, c *copied, on server, log io.Writer) (outcome, error) {
	o, err := s.once(ctx, c, on, log)
	if err != nil {
		return o, err
	}
	for i, name := range slices.Backward(o.failed) {
		again := s
		again.run = exactly(name)
		for try := 1; try < tries && s.racy[name] != ""; try++ {
			_, _ = fmt.Fprintf(log, "%s has failed, and runs again: %s\n", name, s.racy[name])
			later, err := again.once(ctx, c, on, log)
			if err != nil {
				return o, err
			}
			if len(later.failed) == 0 {
				o.passed, o.repeated = append(o.passed, name), append(o.repeated, name)
				o.failed = slices.Delete(o.failed, i, i+1)
				break
			}
		}
	}
	return o, nil
}

// exactly returns the pattern of go test for one test.
func exactly(name string) string { return "^" + strings.ReplaceAll(name, "/", "$/^") + "$" }

// once runs a suite in a copy, on a server of its own.
func (s suite) once(ctx context.Context, c *copied, on server, log io.Writer) (outcome, error) {
	env := []string{scenario.ServerVariable + "=" + string(on)}
	if s.env != "" {
		address, stop, err := startServer(on)
		if err != nil {
			return outcome{}, err
		}
		defer func() {
			if err := stop(); err != nil {
				_, _ = fmt.Fprintf(log, "stop the server: %v\n", err)
			}
		}()
		env = append(env, s.env+"="+address)
	}
	limit := buildTimeout + s.timeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("building and running %s takes longer than %v", s.pkg, limit))
	defer cancel()
	cmd := golang(ctx, c.dir, env, s.arguments()...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	o, other, readErr := read(stdout)
	waitErr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case readErr != nil:
		return o, readErr
	case o.count() == 0:
		return o, fmt.Errorf("no test of %s has run: %w\n%s%s", s.pkg, waitErr, other, stderr.String())
	case waitErr != nil && len(o.failed) == 0:
		return o, fmt.Errorf("the tests of %s: %w\n%s%s", s.pkg, waitErr, other, stderr.String())
	}
	return o, nil
}

// arguments returns those of go for a suite.
func (s suite) arguments() []string {
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout", s.timeout.String()}
	for _, f := range [][2]string{{"-tags", s.tags}, {"-run", s.pattern()}, {"-skip", s.skip}} {
		if f[1] != "" {
			args = append(args, f[0], f[1])
		}
	}
	return append(args, s.pkg)
}

// pattern returns the pattern of the tests that are run. Our files with faults are beside the program's tests.
func (s suite) pattern() string {
	if s.faults {
		return "^TestFaults$"
	}
	return s.run
}

// startServer starts a server for a program's own tests.
func startServer(on server) (address string, stop func() error, err error) {
	if on == realServer {
		e, err := curatortest.NewReal(1, curatortest.WithTickTime(scenario.Tick))
		if err != nil {
			return "", nil, err
		}
		return e.ConnectString(), e.Close, nil
	}
	s, err := curatortest.New(curatortest.WithTickTime(scenario.Tick))
	if err != nil {
		return "", nil, err
	}
	return s.ConnectString(), s.Close, nil
}

// event is a line of go test -json.
type event struct{ Action, Test, Output string }

// read reads what go test -json prints. Other has what belongs to no test, such as errors of the compiler.
func read(from io.Reader) (o outcome, other string, err error) {
	o = outcome{measured: map[string][]string{}, log: map[string][]string{}}
	ended, output := map[string]string{}, map[string][]string{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<24)
	var rest strings.Builder
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			rest.WriteString(lines.Text() + "\n")
			continue
		}
		switch {
		case e.Action == "output" && e.Test != "":
			output[e.Test] = append(output[e.Test], e.Output)
			if _, text, ok := strings.Cut(e.Output, scenario.Measured); ok {
				o.measured[e.Test] = append(o.measured[e.Test], strings.TrimSpace(text))
			}
		case e.Output != "":
			rest.WriteString(e.Output)
		case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
			ended[e.Test] = e.Action
		}
	}
	names := slices.Sorted(maps.Keys(ended))
	for _, name := range names {
		if slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") }) {
			continue
		}
		switch ended[name] {
		case "pass":
			o.passed = append(o.passed, name)
		case "skip":
			o.skipped = append(o.skipped, name)
		default:
			o.failed, o.log[name] = append(o.failed, name), output[name]
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		return o, rest.String(), err
	}
	return o, rest.String(), nil
}
