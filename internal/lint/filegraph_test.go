package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrow goes from a file to another file of its package that it uses.
type arrow struct{ from, to string }

// fileGraph has the files of a package that are written by hand and, for each arrow, the names that are used.
//
// A name counts if it is written in one file and declared in another of the same package: a
// function, type, constant, variable, method or field. A method so uses the file of its
// receiver's type. What is not written does not count: that a type satisfies an interface,
// or the embedded field that leads to a promoted name. Generated files do not count either: nobody reads
// them to understand the others.
type fileGraph struct {
	files   []string
	lines   map[string]int // of each file
	names   map[arrow][]string
	structs map[string]int // the fields of each struct that has methods
}

// newFileGraph type-checks the files of a package.
func newFileGraph(fset *token.FileSet, pkgPath string, parsed []*ast.File, imp types.Importer) (*fileGraph, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imp}).Check(pkgPath, fset, parsed, info)
	if err != nil {
		return nil, err
	}
	fileOf := func(pos token.Pos) string { return filepath.Base(fset.File(pos).Name()) }
	g := &fileGraph{lines: map[string]int{}, names: map[arrow][]string{}, structs: map[string]int{}}
	for _, f := range parsed {
		if file := fset.File(f.Package); !ast.IsGenerated(f) {
			g.files = append(g.files, fileOf(f.Package))
			g.lines[fileOf(f.Package)] = file.LineCount()
		}
	}
	byHand := func(pos token.Pos) bool { return g.lines[fileOf(pos)] > 0 }
	for use, object := range info.Uses {
		if object.Pkg() != pkg { // of another package, or of the language
			continue
		}
		a := arrow{fileOf(use.Pos()), fileOf(object.Pos())}
		if a.from != a.to && byHand(use.Pos()) && byHand(object.Pos()) {
			g.names[a] = append(g.names[a], nameOf(object))
		}
	}
	for a, names := range g.names {
		slices.Sort(names)
		g.names[a] = slices.Compact(names)
	}
	for _, name := range pkg.Scope().Names() {
		object, isType := pkg.Scope().Lookup(name).(*types.TypeName)
		if !isType || object.IsAlias() || !byHand(object.Pos()) {
			continue
		}
		named, _ := object.Type().(*types.Named)
		if s, isStruct := object.Type().Underlying().(*types.Struct); isStruct && named.NumMethods() > 0 {
			g.structs[name] = s.NumFields()
		}
	}
	return g, nil
}

// nameOf returns the name of an object; that of a method has the type before it.
func nameOf(object types.Object) string {
	f, ok := object.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return object.Name()
	}
	t := f.Signature().Recv().Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}

// knot returns the largest of knots; nil if there is none.
func (g *fileGraph) knot() (largest []string) {
	for _, knot := range g.knots() {
		if len(knot) > len(largest) {
			largest = knot
		}
	}
	return largest
}

// knots returns the sets of files each of which reaches all others of its set over arrows.
func (g *fileGraph) knots() (knots [][]string) {
	reach := map[arrow]bool{}
	for a := range g.names {
		reach[a] = true
	}
	for _, via := range g.files {
		for _, from := range g.files {
			for _, to := range g.files {
				if reach[arrow{from, via}] && reach[arrow{via, to}] {
					reach[arrow{from, to}] = true
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, a := range g.files {
		var knot []string
		for _, b := range g.files {
			if !seen[b] && reach[arrow{a, b}] && reach[arrow{b, a}] {
				knot = append(knot, b)
			}
		}
		for _, b := range knot {
			seen[b] = true
		}
		if knot != nil {
			knots = append(knots, knot)
		}
	}
	return knots
}

// largestStruct returns the struct with methods that has the most fields.
func (g *fileGraph) largestStruct() (name string, fields int) {
	for _, s := range slices.Sorted(maps.Keys(g.structs)) {
		if g.structs[s] > fields {
			name, fields = s, g.structs[s]
		}
	}
	return name, fields
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // the file with its types
	GoFiles    []string
	DepOnly    bool // imported, and not of this module
}

// listPackages returns the packages of this module and all that they import, by path.
func listPackages(t *testing.T) map[string]listed {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", module+"/...")
	list.Env = append(os.Environ(), "GOOS=linux") // the same files, and so the same ceilings, everywhere
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", list, err, stderr.Bytes())
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// loadGraphs type-checks the packages of this module, without their tests, by directory.
func loadGraphs(t *testing.T) map[string]*fileGraph {
	t.Helper()
	packages := listPackages(t)
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(packages[path].Export)
	})
	graphs := map[string]*fileGraph{}
	for pkgPath, p := range packages {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		g, err := newFileGraph(fset, pkgPath, parsed, imp)
		if err != nil {
			t.Fatal(err)
		}
		graphs[strings.TrimPrefix(pkgPath, module+"/")] = g
	}
	return graphs
}
