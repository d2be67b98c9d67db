package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxRecipePairs is how many pairs of files that use each other a package of recipes may
// have: an option may need the type that the options are for.
const maxRecipePairs = 1

// pairCeilings has how many such pairs every other package has. The numbers may only fall,
// and a package that is not listed has none.
var pairCeilings = map[string]int{
	"framework":                    18,
	"framework/listen":             1,
	"framework/schema":             2,
	"internal/jute":                1,
	"internal/suite":               2,
	"internal/telemetry":           3,
	"internal/zkconn":              10,
	"retry":                        2,
	"tools/bench/internal/bench":   5,
	"tools/bench/internal/results": 1,
	"tools/curator":                5,
	"tools/curatortest":            1,
}

// judge returns what is wrong with the number of pairs of the package in dir, or nothing.
func (g *fileGraph) judge(dir string, ceilings map[string]int) string {
	pairs := g.pairs()
	ceiling, isRecipe := ceilings[dir], within(dir, "recipes")
	if isRecipe {
		ceiling = maxRecipePairs
	}
	switch {
	case len(pairs) < ceiling && !isRecipe && len(pairs) == 0:
		return fmt.Sprintf("take the ceiling of %s out of internal/lint/directions_test.go: it has no pairs left", dir)
	case len(pairs) < ceiling && !isRecipe:
		return fmt.Sprintf("lower the ceiling of %s to %d in internal/lint/directions_test.go", dir, len(pairs))
	case len(pairs) <= ceiling:
		return ""
	}
	text := fmt.Sprintf("%s: pairs of files that use each other: %d, and at most %d are allowed; move names until one file can do without the other",
		dir, len(pairs), ceiling)
	for _, p := range pairs {
		text += fmt.Sprintf("\n%s: %s and %s use each other (%[2]s uses %[4]s; %[3]s uses %[5]s)",
			dir, p.from, p.to, enumerate(g.names[p]), enumerate(g.names[arrow{p.to, p.from}]))
	}
	return text
}

// enumerate joins names, the first few if there are many.
func enumerate(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// TestFileDirections says with -v how many arrows and pairs every package has.
func TestFileDirections(t *testing.T) {
	graphs := loadGraphs(t)
	for _, dir := range slices.Sorted(maps.Keys(graphs)) {
		t.Run(dir, func(t *testing.T) {
			t.Log(graphs[dir].figures())
			if wrong := graphs[dir].judge(dir, pairCeilings); wrong != "" {
				t.Error(wrong)
			}
		})
	}
	for dir := range pairCeilings {
		if graphs[dir] == nil || within(dir, "recipes") {
			t.Errorf("take the ceiling of %s out: it is no package, or one of recipes", dir)
		}
	}
}

func TestFileGraph(t *testing.T) {
	for name, tt := range map[string]struct {
		sources files
		arrows  int
		pairs   int
		knot    int
	}{
		"functions":        {files{"a.go": "func f() { g() }", "b.go": "func g() { f() }"}, 2, 1, 2},
		"types":            {files{"a.go": "type a struct { *b }", "b.go": "type b struct { *a }"}, 2, 1, 2},
		"constant and var": {files{"a.go": "const a = 1; var x = b", "b.go": "var b = a"}, 2, 1, 2},
		"method":           {files{"a.go": "type a int; func f(x a) { x.m() }", "b.go": "func (a) m() {}"}, 2, 1, 2},
		"generic method":   {files{"a.go": "type a[X any] int; func f(x a[int]) { x.m() }", "b.go": "func (a[X]) m() {}"}, 2, 1, 2},
		"interface method": {files{"a.go": "func f() { g(nil) }", "b.go": "type b interface { m() }", "c.go": "func g(x b) { x.m(); f() }"}, 3, 1, 2},
		"field":            {files{"a.go": "type a struct { x int }; var y = g()", "b.go": "func g() int { return h().x }", "c.go": "func h() (x a) { return }"}, 4, 1, 3},
		"one way":          {files{"a.go": "func f() { g(); g() }", "b.go": "func g() { g() }"}, 1, 0, 0},
		"method, one way":  {files{"a.go": "type a int; func (a) m() {}", "b.go": "func f(x a) { x.m() }"}, 1, 0, 0},
		"same name":        {files{"a.go": "func f() { g() }", "b.go": "func g() { f := g; f() }"}, 1, 0, 0},
		"satisfied":        {files{"a.go": "type a interface { m() }", "b.go": "type b int; func (b) m() {}; var x a = b(1)"}, 1, 0, 0},
		"a ring":           {files{"a.go": "func f() { g() }", "b.go": "func g() { h() }", "c.go": "func h() { f() }", "d.go": "func i() { f() }"}, 4, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphInMemory(t, tt.sources)
			if len(g.names) != tt.arrows || len(g.pairs()) != tt.pairs || g.knot() != tt.knot {
				t.Errorf("%s: %v; want %d arrows, %d pairs, largest knot %d", g.figures(), g.names, tt.arrows, tt.pairs, tt.knot)
			}
		})
	}
}

func TestFileDirectionsJudged(t *testing.T) {
	none := graphInMemory(t, files{"a.go": "func f() {}"})
	one := graphInMemory(t, files{"a.go": "type a int; func f(x a) { x.m() }; func g() {}", "b.go": "func (a) m() { g() }"})
	two := graphInMemory(t, files{"a.go": "func f() { g(); h() }", "b.go": "func g() { f() }", "c.go": "func h() { f() }"})
	ceilings := map[string]int{"retry": 1, "recipes/locks": 2}
	for name, tt := range map[string]struct {
		graph *fileGraph
		dir   string
		want  string // part of the text; empty if nothing is wrong
	}{
		"at the ceiling":         {one, "retry", ""},
		"above the ceiling":      {two, "retry", "retry: a.go and c.go use each other (a.go uses h; c.go uses f)"},
		"below the ceiling":      {none, "retry", "take the ceiling of retry out"},
		"none, not listed":       {none, "state", ""},
		"one, not listed":        {one, "state", "state: a.go and b.go use each other (a.go uses a.m; b.go uses a, g)"},
		"a recipe with none":     {none, "recipes/locks", ""},
		"a recipe with one":      {one, "recipes/internal/x", ""},
		"a recipe with two":      {two, "recipes/locks", "at most 1"},
		"a recipe's name is not": {one, "recipesfor", "at most 0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.graph.judge(tt.dir, ceilings)
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
	if got, want := two.judge("framework", map[string]int{"framework": 3}), "lower the ceiling of framework to 2"; !strings.Contains(got, want) {
		t.Errorf("judged %q, want %q", got, want)
	}
}

// graphInMemory type-checks sources that import nothing.
func graphInMemory(t *testing.T, sources files) *fileGraph {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(fset, name, "package p; "+sources[name], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	g, err := newFileGraph(fset, "p", parsed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
