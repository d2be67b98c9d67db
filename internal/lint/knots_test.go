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

// A knot is a group of files of a package that use each other in a circle: to understand one of them is
// to understand all. The list has the packages that are above the limit. Its numbers may only fall.
var knotCeilings = ceilings{"files that use each other in a circle", 4, nil, map[string]int{
	"internal/zkconn": 0, "internal/zkconn/hosts": 0, "internal/zkconn/lease": 0, "tools/curator": 0,
}}

// fieldCeilings is about the structs that have methods, likewise.
var fieldCeilings = ceilings{"fields of a struct with methods", 16, map[string]int{
	"internal/zkserver.Server": 21,
	"internal/zkserver.conn":   19,
}, nil}

// ceilings are the limit of something that is counted, and where it may be more.
type ceilings struct {
	what  string
	limit int
	list  map[string]int
	lower map[string]int // limits of those that keep to less
}

// limitOf returns the limit of name.
func (c ceilings) limitOf(name string) int {
	if lower, ok := c.lower[name]; ok {
		return lower
	}
	return c.limit
}

// judge compares a count with the limit, or with the ceiling of name; advice is for one that is too large.
func (c ceilings) judge(name string, count int, advice string) string {
	ceiling, listed := c.list[name]
	limit := c.limitOf(name)
	switch {
	case listed && count <= limit:
		return fmt.Sprintf("take the ceiling of %s out of internal/lint/knots_test.go: %d %s are within the limit", name, count, c.what)
	case listed && count < ceiling:
		return fmt.Sprintf("lower the ceiling of %s in internal/lint/knots_test.go to %d %s", name, count, c.what)
	case count > max(ceiling, limit):
		return fmt.Sprintf("%s: %d %s, and at most %d are allowed; %s", name, count, c.what, max(ceiling, limit), advice)
	}
	return ""
}

// another is behind the name of a package in the ceiling of its knots that are not the largest.
const another = ", another"

// judge returns what is wrong with the package in dir.
func (g *fileGraph) judge(dir string, knots, fields ceilings) (wrong []string) {
	const advice = "move names until one file can do without another"
	largest := g.knot()
	if text := knots.judge(dir, len(largest), advice+g.arrowsWithin(largest)); text != "" {
		wrong = append(wrong, text)
	}
	for _, knot := range g.knots() {
		if len(knot) > knots.limitOf(dir) && knot[0] != largest[0] {
			if text := knots.judge(dir+another, len(knot), advice+g.arrowsWithin(knot)); text != "" {
				wrong = append(wrong, text)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.structs)) {
		if text := fields.judge(dir+"."+name, g.structs[name], "give some of them a type of their own"); text != "" {
			wrong = append(wrong, text)
		}
	}
	return wrong
}

// arrowsWithin says which files of a knot use which others for what.
func (g *fileGraph) arrowsWithin(knot []string) (text string) {
	const most = 8 // names
	for _, from := range knot {
		for _, to := range knot {
			if names := g.names[arrow{from, to}]; len(names) > most {
				text += fmt.Sprintf("\n\t%s uses %s and %d more of %s", from, strings.Join(names[:most], ", "), len(names)-most, to)
			} else if len(names) > 0 {
				text += fmt.Sprintf("\n\t%s uses %s of %s", from, strings.Join(names, ", "), to)
			}
		}
	}
	return text
}

// figures is the row of a package in the table that the test prints with -v.
func (g *fileGraph) figures(dir string) string {
	lines := slices.Sorted(maps.Values(g.lines))
	total, median := 0, 0
	for _, n := range lines {
		total += n
	}
	if len(lines) > 0 {
		median = lines[len(lines)/2]
	}
	name, fields := g.largestStruct()
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %s | %d |", dir, len(g.files), median, len(g.knot()), total, name, fields)
}

// TestKnots prints a table with -v, without tests and generated files. The last two columns are about the
// largest struct that has methods.
func TestKnots(t *testing.T) {
	graphs := loadGraphs(t)
	table := "\n| package | files | median lines | largest knot | lines | largest struct | fields |\n| --- | --- | --- | --- | --- | --- | --- |"
	for _, dir := range slices.Sorted(maps.Keys(graphs)) {
		table += "\n" + graphs[dir].figures(dir)
		for _, wrong := range graphs[dir].judge(dir, knotCeilings, fieldCeilings) {
			t.Error(wrong)
		}
	}
	if testing.Verbose() {
		t.Log(table)
	}
	for dir := range knotCeilings.lower {
		if graphs[dir] == nil {
			t.Errorf("take the limit of %s out: there is no such package", dir)
		}
	}
	for dir := range knotCeilings.list {
		if graphs[strings.TrimSuffix(dir, another)] == nil {
			t.Errorf("take the ceiling of %s out: there is no such package", dir)
		}
	}
	for name := range fieldCeilings.list {
		dot := strings.LastIndexByte(name, '.')
		if g := graphs[name[:dot]]; g == nil || g.structs[name[dot+1:]] == 0 {
			t.Errorf("take the ceiling of %s out: there is no such struct with methods", name)
		}
	}
}

func TestFileGraph(t *testing.T) {
	for name, tt := range map[string]struct {
		sources files
		arrows  int
		knot    int
	}{
		"functions":        {files{"a.go": "func f() { g() }", "b.go": "func g() { f() }"}, 2, 2},
		"types":            {files{"a.go": "type a struct { *b }", "b.go": "type b struct { *a }"}, 2, 2},
		"constant and var": {files{"a.go": "const a = 1; var x = b", "b.go": "var b = a"}, 2, 2},
		"method":           {files{"a.go": "type a int; func f(x a) { x.m() }", "b.go": "func (a) m() {}"}, 2, 2},
		"generic method":   {files{"a.go": "type a[X any] int; func f(x a[int]) { x.m() }", "b.go": "func (a[X]) m() {}"}, 2, 2},
		"interface method": {files{"a.go": "func f() { g(nil) }", "b.go": "type b interface { m() }", "c.go": "func g(x b) { x.m(); f() }"}, 3, 2},
		"field":            {files{"a.go": "type a struct { x int }; var y = g()", "b.go": "func g() int { return h().x }", "c.go": "func h() (x a) { return }"}, 4, 3},
		"one way":          {files{"a.go": "func f() { g(); g() }", "b.go": "func g() { g() }"}, 1, 0},
		"method, one way":  {files{"a.go": "type a int; func (a) m() {}", "b.go": "func f(x a) { x.m() }"}, 1, 0},
		"same name":        {files{"a.go": "func f() { g() }", "b.go": "func g() { f := g; f() }"}, 1, 0},
		"satisfied":        {files{"a.go": "type a interface { m() }", "b.go": "type b int; func (b) m() {}; var x a = b(1)"}, 1, 0},
		"a ring":           {files{"a.go": "func f() { g() }", "b.go": "func g() { h() }", "c.go": "func h() { f() }", "d.go": "func i() { f() }"}, 4, 3},
		"generated":        {files{"a.go": "func f() { g() }", "b_gen.go": "func g() { f() }"}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphInMemory(t, tt.sources)
			if len(g.names) != tt.arrows || len(g.knot()) != tt.knot {
				t.Errorf("%v; want %d arrows, largest knot %d", g.names, tt.arrows, tt.knot)
			}
		})
	}
}

func TestStructs(t *testing.T) {
	g := graphInMemory(t, files{
		"a.go":     "type a struct { x, y int; b }; func (*a) m() {}; type b struct { x int }; type c int; func (c) m() {}",
		"b.go":     "type d[T any] struct { x T }; func (d[T]) m() {}; type e = a; func f() {}",
		"c_gen.go": "type g struct { x int }; func (g) m() {}",
	})
	if want := map[string]int{"a": 3, "d": 1}; !maps.Equal(g.structs, want) {
		t.Errorf("structs %v, want %v", g.structs, want)
	}
	if name, fields := g.largestStruct(); name != "a" || fields != 3 {
		t.Errorf("the largest is %s with %d fields", name, fields)
	}
}

func TestKnotsJudged(t *testing.T) {
	knot := graphInMemory(t, files{"a.go": "func f() { g() }", "b.go": "func g() { f() }"})
	knots := graphInMemory(t, files{"a.go": "func f() { g() }", "b.go": "func g() { f() }", "c.go": "func h() { i() }", "d.go": "func i() { h() }"})
	three := graphInMemory(t, files{"a.go": "type a struct { x, y, z int }; func (a) m() {}"})
	one := graphInMemory(t, files{"a.go": "type a struct { x int }; func (a) m() {}"})
	for name, tt := range map[string]struct {
		graph         *fileGraph
		knots, fields int    // ceilings; 0: none
		want          string // part of the text; empty if nothing is wrong
	}{
		"within the limits":     {one, 0, 0, ""},
		"a knot":                {knot, 0, 0, "p: 2 files that use each other in a circle, and at most 1 are allowed"},
		"the arrows of a knot":  {knot, 0, 0, "b.go uses f of a.go"},
		"at its ceiling":        {knot, 2, 0, ""},
		"another knot":          {knots, 2, 0, "p, another: 2 files that use each other in a circle"},
		"below its ceiling":     {knot, 3, 0, "lower the ceiling of p in internal/lint/knots_test.go to 2"},
		"no knot":               {one, 2, 0, "take the ceiling of p out"},
		"a struct":              {three, 0, 0, "p.a: 3 fields of a struct with methods, and at most 2 are allowed"},
		"a struct at its":       {three, 0, 3, ""},
		"a struct below its":    {three, 0, 4, "lower the ceiling of p.a in internal/lint/knots_test.go to 3"},
		"a struct above its":    {three, 0, 2, "at most 2 are allowed"},
		"a struct within limit": {one, 0, 3, "take the ceiling of p.a out"},
	} {
		t.Run(name, func(t *testing.T) {
			knots, fields := ceilings{knotCeilings.what, 1, map[string]int{}, nil}, ceilings{fieldCeilings.what, 2, map[string]int{}, nil}
			if tt.knots > 0 {
				knots.list["p"] = tt.knots
			}
			if tt.fields > 0 {
				fields.list["p.a"] = tt.fields
			}
			got := strings.Join(tt.graph.judge("p", knots, fields), "\n")
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
}

// A package may have a limit that is lower than that of all.
func TestLowerLimitOfKnots(t *testing.T) {
	knot := graphInMemory(t, files{"a.go": "func f() { g() }", "b.go": "func g() { f() }"})
	limits := ceilings{knotCeilings.what, 4, nil, map[string]int{"p": 0}}
	got := knot.judge("p", limits, fieldCeilings)
	if len(got) != 1 || !strings.Contains(got[0], "p: 2 files that use each other in a circle, and at most 0 are allowed") {
		t.Errorf("judged %q", got)
	}
	if got := knot.judge("q", limits, fieldCeilings); len(got) != 0 {
		t.Errorf("judged %q", got)
	}
}

// graphInMemory type-checks sources that import nothing.
func graphInMemory(t *testing.T, sources files) *fileGraph {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		text := "package p; " + sources[name]
		if strings.HasSuffix(name, "_gen.go") {
			text = generatedHeader + text
		}
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
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
