package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// finding is a place that breaks a rule, with what to do about it.
type finding struct {
	path string
	line int
	text string
}

// files are sources in memory, by path.
type files map[string]string

// rule is one rule over the sources, with what it must accept and what it must refuse.
type rule struct {
	name  string
	check func(tree []*source) []finding
	good  []files
	bad   []files // one finding each
}

var rules = []rule{
	driverInOnePlace, telemetryAPIOnly, testCodeInTests,
	noPanic, noBackground, noSleep, noSkip, successFirst,
	fileSize, fileEnd, functionSize, functionEnd,
	exportedDocumented, packageDocumented, noTodo,
	packageNames, noForeignNames, generatedFiles, enumsHaveNames,
}

// eachFile makes a check of the whole tree from one of a Go file.
func eachFile(check func(s *source) []finding) func([]*source) []finding {
	return func(tree []*source) (all []finding) {
		for _, s := range tree {
			if s.isGo() {
				all = append(all, check(s)...)
			}
		}
		return all
	}
}

func TestRepository(t *testing.T) {
	tree := load(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range except(r.name, r.check(tree), exceptions) {
				t.Errorf("%s:%d: %s", f.path, f.line, f.text)
			}
		})
	}
}

func TestRules(t *testing.T) {
	names := map[string]bool{}
	for _, r := range rules {
		if names[r.name] {
			t.Errorf("two rules are called %q", r.name)
		}
		names[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			if len(r.good) == 0 || len(r.bad) == 0 {
				t.Fatal("needs a source to accept and one to refuse")
			}
			for i, sources := range r.good {
				for _, f := range r.check(inMemory(t, sources)) {
					t.Errorf("good source %d: refused: %s:%d: %s", i, f.path, f.line, f.text)
				}
			}
			for i, sources := range r.bad {
				found := r.check(inMemory(t, sources))
				if len(found) != 1 {
					t.Fatalf("bad source %d: findings %v, want one", i, found)
				}
				f := found[0]
				if _, ok := sources[f.path]; !ok || f.line < 1 || f.text == "" {
					t.Errorf("bad source %d: finding without place or text: %+v", i, f)
				}
			}
		})
	}
	for _, e := range exceptions {
		if !names[e.rule] || e.why == "" {
			t.Errorf("exception for %s: names no rule, or no reason", e.path)
		}
	}
}

func inMemory(t *testing.T, sources files) []*source {
	t.Helper()
	var tree []*source
	for path, text := range sources {
		s, err := parse(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tree = append(tree, s)
	}
	slices.SortFunc(tree, func(a, b *source) int { return strings.Compare(a.path, b.path) })
	return tree
}

func TestExceptions(t *testing.T) {
	list := []exception{{"rule", "a.go", 2, "why"}, {"other rule", "b.go", 1, "why"}}
	for name, tt := range map[string]struct {
		found []finding
		want  int
	}{
		"as often as said": {[]finding{{"a.go", 1, ""}, {"a.go", 2, ""}}, 0},
		"once more":        {[]finding{{"a.go", 1, ""}, {"a.go", 2, ""}, {"a.go", 3, ""}}, 1},
		"no longer":        {[]finding{{"a.go", 1, ""}}, 1},
		"another file":     {[]finding{{"a.go", 1, ""}, {"a.go", 2, ""}, {"b.go", 1, ""}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := except("rule", tt.found, list); len(got) != tt.want {
				t.Errorf("left over: %s; want %d", fmt.Sprint(got), tt.want)
			}
		})
	}
}
