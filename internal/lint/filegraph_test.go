package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrow goes from a file to another file of its package that it uses.
type arrow struct{ from, to string }

// fileGraph has the files of a package and, for each arrow, the names that are used.
//
// A name counts if it is written in one file and declared in another of the same package: a
// function, type, constant, variable, method or field. A method so uses the file of its
// receiver's type. What is not written does not count: that a type satisfies an interface,
// or the embedded field that leads to a promoted name.
type fileGraph struct {
	files []string
	names map[arrow][]string
}

// newFileGraph type-checks the files of a package.
func newFileGraph(fset *token.FileSet, pkgPath string, parsed []*ast.File, imp types.Importer) (*fileGraph, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imp}).Check(pkgPath, fset, parsed, info)
	if err != nil {
		return nil, err
	}
	fileOf := func(pos token.Pos) string { return filepath.Base(fset.File(pos).Name()) }
	g := &fileGraph{names: map[arrow][]string{}}
	for _, f := range parsed {
		g.files = append(g.files, fileOf(f.Package))
	}
	for use, object := range info.Uses {
		if object.Pkg() != pkg { // of another package, or of the language
			continue
		}
		if a := (arrow{fileOf(use.Pos()), fileOf(object.Pos())}); a.from != a.to {
			g.names[a] = append(g.names[a], nameOf(object))
		}
	}
	for a, names := range g.names {
		slices.Sort(names)
		g.names[a] = slices.Compact(names)
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

// pairs returns the files that use each other, each pair once.
func (g *fileGraph) pairs() (pairs []arrow) {
	for a := range g.names {
		if a.from < a.to && g.names[arrow{a.to, a.from}] != nil {
			pairs = append(pairs, a)
		}
	}
	slices.SortFunc(pairs, func(a, b arrow) int {
		return slices.Compare([]string{a.from, a.to}, []string{b.from, b.to})
	})
	return pairs
}

// knot returns the size of the largest set of files each of which reaches all others.
func (g *fileGraph) knot() (largest int) {
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
	for _, a := range g.files {
		size := 0
		for _, b := range g.files {
			if reach[arrow{a, b}] && reach[arrow{b, a}] {
				size++
			}
		}
		largest = max(largest, size)
	}
	return largest
}

// figures is what the test says of every package with -v.
func (g *fileGraph) figures() string {
	return fmt.Sprintf("%d files, %d arrows, %d pairs, largest knot %d", len(g.files), len(g.names), len(g.pairs()), g.knot())
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
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
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
