package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Outcome is what came of the tests of a mutant.
type Outcome struct {
	CaughtBy []string      // the tests that failed, without those that contain them
	Took     time.Duration // the tests, without building them
}

// Run runs the tests of a mutant. An error says that they could not be run, or that none of them has
// failed.
func Run(ctx context.Context, root string, m Mutant) (Outcome, error) {
	files, err := apply(root, m)
	if err != nil {
		return Outcome{}, err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder that stays harms nobody
	overlay, err := writeOverlay(root, dir, files)
	if err != nil {
		return Outcome{}, err
	}
	binary := filepath.Join(dir, "mutant.test")
	if out, err := command(ctx, root, "go", "test", "-c", "-overlay", overlay, "-o", binary, "./"+m.Package); err != nil {
		return Outcome{}, fmt.Errorf("mutant %q does not build: %w\n%s", m.Name, err, out)
	}
	began := time.Now()
	out, err := command(ctx, filepath.Join(root, filepath.FromSlash(m.Package)), binary, "-test.run", m.Tests, "-test.timeout", "60s", "-test.failfast")
	o := Outcome{CaughtBy: failed(out), Took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case err == nil && strings.Contains(out, "no tests to run"):
		return o, fmt.Errorf("mutant %q: no test of %s matches %q", m.Name, m.Package, m.Tests)
	case err == nil:
		return o, fmt.Errorf("mutant %q survives the tests %q of %s", m.Name, m.Tests, m.Package)
	case !errors.As(err, &exit):
		return o, err
	case len(o.CaughtBy) == 0:
		return o, fmt.Errorf("mutant %q: the tests ended with %w, but none has failed:\n%s", m.Name, err, out)
	}
	return o, nil
}

func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+) \(`)
	running = regexp.MustCompile(`(?m)^\t+(Test\S+) \(\d`)
)

// failed returns the tests that have failed, or were running when the time was up, without those that
// contain others.
func failed(out string) (names []string) {
	found := failure.FindAllStringSubmatch(out, -1)
	if strings.Contains(out, "panic: test timed out") || len(found) == 0 && strings.Contains(out, "panic: ") {
		found = append(found, running.FindAllStringSubmatch(out, -1)...)
	}
	for _, f := range found {
		contains := false
		for _, other := range found {
			contains = contains || strings.HasPrefix(other[1], f[1]+"/")
		}
		if !contains {
			names = append(names, f[1])
		}
	}
	return names
}
