package checks_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"github.com/go-curator/curator/tools/curatorvet/checks"
)

// cases returns the directory of the module with the cases. It uses the library of this repository.
func cases(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// goCommand runs go in the module of the cases, and returns its output.
func goCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = cases(t)
	out, err := command.CombinedOutput()
	return string(out), err
}

// TestCases runs all checks over all cases: a check must not report anything in the cases of another
// check. The packages are loaded only once, because that takes most of the time.
func TestCases(t *testing.T) {
	// analysistest downloads nothing.
	if out, err := goCommand(t, "list", "-deps", "./..."); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := &analysis.Analyzer{
		Name: "all", Doc: "runs all checks",
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			for _, check := range checks.All() {
				if _, err := check.Run(pass); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
	analysistest.Run(t, cases(t), all, "./...")
}

// TestAllHaveCases checks that each check has good and bad cases.
func TestAllHaveCases(t *testing.T) {
	for _, check := range checks.All() {
		for _, file := range []string{"good.go", "bad.go"} {
			if found, err := filepath.Glob(filepath.Join("testdata", check.Name, file)); err != nil || len(found) != 1 {
				t.Errorf("%s: no %s", check.Name, file)
			}
		}
		if title, text, _ := strings.Cut(check.Doc, "\n\n"); title == "" || text == "" {
			t.Errorf("%s: the documentation needs a title and a text", check.Name)
		}
	}
	if err := analysis.Validate(checks.All()); err != nil {
		t.Error(err)
	}
}
