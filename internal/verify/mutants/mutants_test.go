package mutants

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMutantsApply sees that each mutant is found in the code, and that all together compile. That the
// tests catch them is what make mutants shows.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	var all []Mutant
	var packages []string
	for _, m := range All() {
		files, err := apply(root, m)
		if err != nil {
			t.Error(err)
			continue
		}
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Errorf("mutant %q: %v", m.Name, err)
			}
			packages = append(packages, "./"+path.Dir(name))
		}
		if _, err := apply(root, append(slices.Clone(all), m)...); err == nil {
			all = append(all, m) // else it changes what another one has changed
		}
	}
	if t.Failed() {
		return
	}
	if len(all) < len(All())-2 {
		t.Errorf("only %d of %d mutants can be applied together: give the others a run of their own", len(all), len(All()))
	}
	files, err := apply(root, all...)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := writeOverlay(root, t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	build := exec.CommandContext(t.Context(), "go", append([]string{"build", "-overlay", overlay}, slices.Compact(packages)...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTestsExist sees that the tests that are to notice each mutant are there.
func TestTestsExist(t *testing.T) {
	t.Parallel()
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	tests := map[string][]string{} // by package
	for _, m := range All() {
		if tests[m.Package] == nil {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m.Package), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range declared.FindAllStringSubmatch(string(text), -1) {
					tests[m.Package] = append(tests[m.Package], name[1])
				}
			}
		}
		top, _, _ := strings.Cut(m.Tests, "/")
		if !slices.ContainsFunc(tests[m.Package], regexp.MustCompile(top).MatchString) {
			t.Errorf("mutant %q: no test of %s matches %q", m.Name, m.Package, m.Tests)
		}
	}
}

// TestStaleMutant sees that a mutant whose text is not in the code, or is there twice, is an error.
func TestStaleMutant(t *testing.T) {
	t.Parallel()
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"this text is nowhere", "return"} {
		m := Mutant{Name: "stale", Edits: []Edit{{"internal/verify/mutants/mutants.go", old, ""}}}
		if files, err := apply(root, m); err == nil {
			t.Errorf("%q was applied: %d files", old, len(files))
		}
	}
}

// TestFailed sees which tests count as those that caught a mutant.
func TestFailed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		out  string
		want []string
	}{
		"passed":    {"ok\n", nil},
		"one":       {"--- FAIL: TestA (0.01s)\n    a_test.go:1: x\nFAIL\n", []string{"TestA"}},
		"nested":    {"--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/b (0.00s)\n        --- FAIL: TestA/b/c (0.00s)\n", []string{"TestA/b/c"}},
		"timed out": {"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestB (59s)\n\t\tTestB/virtual (59s)\n", []string{"TestB/virtual"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failed(tt.out); !slices.Equal(got, tt.want) {
				t.Errorf("failed(%q) = %q, want %q", tt.out, got, tt.want)
			}
		})
	}
}
