package driversuite_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// changes are what is to change in the files of a package of tests.
type changes struct {
	without     []string            // declarations
	inspections map[string][]string // names by function
	texts       map[string]string
}

// adapter changes files. It keeps all lines and their numbers, and all columns but those after a text that is
// replaced: what is taken out becomes blank.
type adapter struct {
	changes
	made map[string]bool // the changes of which at least one was made
}

// unmade returns the changes that no file had a place for.
func (a *adapter) unmade() (unmade []string) {
	all := slices.Clone(a.without)
	for function, names := range a.inspections {
		for _, name := range names {
			all = append(all, function+": "+name)
		}
	}
	all = slices.AppendSeq(all, maps.Keys(a.texts))
	for _, change := range all {
		if !a.made[change] {
			unmade = append(unmade, change)
		}
	}
	slices.Sort(unmade)
	return unmade
}

// adapt returns the text of a file with the changes.
func (a *adapter) adapt(name string, text []byte) ([]byte, error) {
	text = bytes.Clone(text)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset }
	for _, decl := range file.Decls {
		name, start := declared(decl)
		if slices.Contains(a.without, name) {
			blank(text, offset(start), offset(decl.End()))
			a.made[name] = true
			continue
		}
		function, ok := decl.(*ast.FuncDecl)
		if !ok || a.inspections[name] == nil {
			continue
		}
		for _, statement := range function.Body.List {
			if found := mentioned(statement, a.inspections[name]); len(found) > 0 {
				blank(text, offset(statement.Pos()), offset(statement.End()))
				for _, what := range found {
					a.made[name+": "+what] = true
				}
			}
		}
	}
	if text, err = withoutUnusedImports(name, text); err != nil {
		return nil, err
	}
	for old, to := range a.texts {
		if bytes.Contains(text, []byte(old)) {
			text = bytes.ReplaceAll(text, []byte(old), []byte(to))
			a.made[old] = true
		}
	}
	return text, nil
}

// declared returns the name of a function, a method with its receiver, or a type, and where its comment starts.
func declared(decl ast.Decl) (name string, start token.Pos) {
	var doc *ast.CommentGroup
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name, doc = d.Name.Name, d.Doc
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			name = receiver.(*ast.Ident).Name + "." + name
		}
	case *ast.GenDecl:
		if t, ok := d.Specs[0].(*ast.TypeSpec); ok {
			name, doc = t.Name.Name, d.Doc
		}
	}
	if doc != nil {
		return name, doc.Pos()
	}
	return name, decl.Pos()
}

// mentioned returns those of the names that a statement has.
func mentioned(statement ast.Stmt, names []string) (found []string) {
	ast.Inspect(statement, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(names, id.Name) {
			found = append(found, id.Name)
		}
		return true
	})
	return found
}

// withoutUnusedImports blanks the imports of packages that the file does not use.
func withoutUnusedImports(name string, text []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("without what is left out: %w", err)
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, decl := range file.Decls {
		imports, ok := decl.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT {
			continue
		}
		unused := slices.DeleteFunc(slices.Clone(imports.Specs), func(spec ast.Spec) bool {
			s := spec.(*ast.ImportSpec)
			return s.Name != nil || used[path.Base(strings.Trim(s.Path.Value, `"`))]
		})
		if len(unused) == len(imports.Specs) {
			blank(text, fset.Position(imports.Pos()).Offset, fset.Position(imports.End()).Offset)
			continue
		}
		for _, spec := range unused {
			blank(text, fset.Position(spec.Pos()).Offset, fset.Position(spec.End()).Offset)
		}
	}
	return text, nil
}

// blank writes spaces over a part of a text, and keeps its lines.
func blank(text []byte, from, to int) {
	for i := from; i < to; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

func TestAdapt(t *testing.T) {
	const source = `package zk

import (
	"io/ioutil"
	"os"
	"testing"
)

// TestA is left out.
func TestA(t *testing.T) {
	ioutil.Discard.Write(nil)
}

func TestB(t *testing.T) {
	limit := 3
	os.Exit(1)
	if x > limit {
		t.Fatal(x)
	}
}

type server struct {
	file int
}

func (s *server) Start() {}

func (s *server) Stop() {}
`
	const want = `package zk

import (

	"os"
	"testing"
)

func TestB(t *testing.T) {

	os.Exit(2)

}

func (s *server) Stop() {}
`
	a := adapter{made: map[string]bool{}, changes: changes{
		without:     []string{"TestA", "server", "server.Start", "TestC"},
		inspections: map[string][]string{"TestB": {"limit", "other"}, "TestD": {"x"}},
		texts:       map[string]string{`x > 3`: `x > 4`, `os.Exit(1)`: `os.Exit(2)`},
	}}
	got, err := a.adapt("a_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(got), "\n"); lines != strings.Count(source, "\n") {
		t.Errorf("%d lines", lines)
	}
	// This is equal but for empty lines, and for spaces at their ends.
	if squeeze(string(got)) != squeeze(want) {
		t.Errorf("adapted:\n%s", got)
	}
	if unmade := a.unmade(); !slices.Equal(unmade, []string{"TestB: other", "TestC", "TestD: x", "x > 3"}) {
		t.Errorf("unmade: %q", unmade)
	}
	if got, err := a.adapt("b_test.go", []byte("package zk\n\nimport \"io\"\n\nvar s = \"io\"\n")); err != nil ||
		squeeze(string(got)) != "package zk\nvar s = \"io\"\n" {
		t.Errorf("error %v, adapted:\n%s", err, got)
	}
}

// squeeze takes empty lines out of a text, and spaces at the ends of lines.
func squeeze(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
