package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/curatorvet/checks"
)

// TestVet builds the tool and runs it over the cases, as a tool of go vet and directly.
func TestVet(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "curatorvet.exe")
	if out, err := run(t, ".", "go", "build", "-o", tool, "."); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const finding = "bad.go:11:15: the lease that mutex.Acquire returns is dropped"
	for name, tt := range map[string]struct {
		command []string
		status  int
		want    string
	}{
		"by go vet":      {[]string{"go", "vet", "-vettool=" + tool, "./droppedlease"}, 1, finding},
		"by itself":      {[]string{tool, "./droppedlease"}, 1, finding},
		"without errors": {[]string{tool, "-droppedlease=false", "./droppedlease"}, 0, ""},
		"one check":      {[]string{tool, "-deferredrelease", "./droppedlease"}, 0, ""},
		"no package":     {[]string{tool, "./none"}, 1, "none"},
		"help":           {[]string{tool, "help"}, 0, "cacheddecision"},
		"help of one":    {[]string{tool, "help", "leadershipnil"}, 0, "be called on a nil lease"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, filepath.Join("checks", "testdata"), tt.command...)
			var failed *exec.ExitError
			if err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			if failed != nil && failed.ExitCode() != tt.status || failed == nil && tt.status != 0 || !strings.Contains(out, tt.want) {
				t.Errorf("%v, want status %d and %q in:\n%s", err, tt.status, tt.want, out)
			}
		})
	}
}

// run runs a command in a directory, and returns its output.
func run(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), args[0], args[1:]...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	return string(out), err
}

// TestDocumented checks that every check is on the page and in the package comments.
func TestDocumented(t *testing.T) {
	page := text(t, filepath.Join("..", "..", "docs", "curatorvet.md"))
	comment := text(t, filepath.Join("checks", "doc.go"))
	for _, check := range checks.All() {
		if !strings.Contains(page, "\n### "+check.Name+"\n") {
			t.Errorf("docs/curatorvet.md has no part with the heading %s", check.Name)
		}
		if !strings.Contains(comment, "\n//\t"+check.Name+" ") {
			t.Errorf("checks/doc.go does not list %s", check.Name)
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
