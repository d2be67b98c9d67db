// Package mutants breaks the algorithms of the recipes on purpose, one by one, and checks that
// a test notices.
//
// A mutant is a change of a few lines of the code, as text. It is applied to a copy that go
// test compiles instead of the original (-overlay), so the code itself does not change. The
// table is in table.go.
//
// The tests run in virtual time, without the race detector. To run all of them:
//
//	make mutants
package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Mutant is a mistake that a test must catch.
type Mutant struct {
	Name    string // what is wrong, in a few words
	Breaks  string // the rule or the promise that is broken
	Edits   []Edit
	Package string // of the tests, as a path below the repository: "recipes/locks"
	Tests   string // the expression for go test -run
}

// Edit replaces text that is in a file once.
type Edit struct {
	File string // below the repository, with slashes
	Old  string
	New  string
}

// apply returns the files that the edits of some mutants change, by their path below root. It fails if
// the text of an edit is not in its file once: the code has changed, and the table must follow.
func apply(root string, all ...Mutant) (map[string]string, error) {
	files := map[string]string{}
	for _, m := range all {
		for _, e := range m.Edits {
			text, ok := files[e.File]
			if !ok {
				original, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
				if err != nil {
					return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
				}
				text = string(original)
			}
			if n := strings.Count(text, e.Old); n != 1 {
				return nil, fmt.Errorf("mutant %q: %s has this text %d times, not once; correct internal/verify/mutants/table.go:\n%s", m.Name, e.File, n, e.Old)
			}
			files[e.File] = strings.Replace(text, e.Old, e.New, 1)
		}
	}
	return files, nil
}

// writeOverlay writes files and the description that go's -overlay wants into dir, and returns the
// path of the description.
func writeOverlay(root, dir string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for i, file := range slices.Sorted(maps.Keys(files)) {
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(copied, []byte(files[file]), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// Root returns the directory of the repository that dir is in.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("there is no go.mod above %s", dir)
		}
		dir = parent
	}
}

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
