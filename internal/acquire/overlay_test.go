package acquire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/acquire"
)

const module = "github.com/go-curator/curator/"

// counted has the packages whose functions are recorded.
var counted = []string{module + "recipes/locks", module + "recipes/internal/lockqueue", module + "recipes/internal/ephemeral"}

// sourceFile is a file of a counted package.
type sourceFile struct {
	path string // as the compiler has it
	name string // as the test prints it
}

// declaration is a function, method or variable that has code.
type declaration struct {
	sourceFile
	function    string // its name; of a method, with the type before it
	first, last int    // lines
}

// declarations are those of the counted packages.
type declarations []declaration

// at returns the declaration that has the place. It returns false for a place outside of the counted packages.
func (all declarations) at(p acquire.Place) (declaration, bool) {
	i := slices.IndexFunc(all, func(d declaration) bool { return d.path == p.File && d.first <= p.Line && p.Line <= d.last })
	if i < 0 {
		return declaration{}, false
	}
	return all[i], true
}

// build compiles the tests of this package with copies of the counted packages that record, and returns the
// path of the binary.
func build(t *testing.T) (binary string, all declarations) {
	t.Helper()
	dir := t.TempDir()
	copies := map[string]string{}
	for _, file := range listFiles(t) {
		text, err := os.ReadFile(file.path)
		if err != nil {
			t.Fatal(err)
		}
		text, found, err := instrument(file, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
		copies[file.path] = filepath.Join(dir, fmt.Sprintf("%d.go", len(copies)))
		if err := os.WriteFile(copies[file.path], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": copies})
	if err != nil {
		t.Fatal(err)
	}
	overlay, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "acquire.test.exe") // Windows wants this ending
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("go", "test", "-c", "-trimpath=false", "-overlay", overlay, "-o", binary, module+"internal/acquire"))
	return binary, all
}

func listFiles(t *testing.T) (files []sourceFile) {
	t.Helper()
	out := run(t, exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles"}, counted...)...))
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.GoFiles {
			files = append(files, sourceFile{
				path: filepath.ToSlash(filepath.Join(p.Dir, name)),
				name: strings.TrimPrefix(p.ImportPath, module+"recipes/") + "/" + name,
			})
		}
	}
}

func run(t *testing.T, command *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, stderr.Bytes())
	}
	return out
}

// instrument returns a copy of a file in which every function begins with a call of acquire.Entered. The lines
// keep their numbers.
func instrument(from sourceFile, text []byte) (copied []byte, all declarations, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, from.path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	line := func(pos token.Pos) int { return fset.Position(pos).Line }
	var bodies []int // the offset behind the opening brace of each function
	for _, decl := range file.Decls {
		before := len(bodies)
		ast.Inspect(decl, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch n := n.(type) {
			case *ast.FuncDecl:
				body = n.Body
			case *ast.FuncLit:
				body = n.Body
			}
			if body != nil {
				bodies = append(bodies, fset.Position(body.Lbrace).Offset+1)
			}
			return true
		})
		if len(bodies) > before {
			all = append(all, declaration{from, nameOf(decl), line(decl.Pos()), line(decl.End())})
		}
	}
	if len(bodies) == 0 {
		return text, nil, nil
	}
	end := fset.Position(file.Name.End()).Offset
	copied = append(slices.Clone(text[:end]), `; import entered "`+module+`internal/acquire"`...)
	slices.Sort(bodies)
	for _, body := range bodies {
		copied = append(append(copied, text[end:body]...), " entered.Entered(); "...)
		end = body
	}
	return append(copied, text[end:]...), all, nil
}

// nameOf returns the name of a declaration that has code; of several variables, that of the first.
func nameOf(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		receiver := d.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if generic, ok := receiver.(*ast.IndexExpr); ok {
			receiver = generic.X
		}
		return receiver.(*ast.Ident).Name + "." + d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return "?"
}

func TestInstrument(t *testing.T) {
	const source = "package p\n\nimport \"x\"\n\nvar v = func() {}\n\nfunc f() { x.Y() }\n\n" +
		"func (t *T[A]) m() {\n\tg(func() int { return 1 })\n}\n\ntype T int\n"
	const want = "package p; import entered \"" + module + "internal/acquire\"\n\nimport \"x\"\n\n" +
		"var v = func() { entered.Entered(); }\n\nfunc f() { entered.Entered();  x.Y() }\n\n" +
		"func (t *T[A]) m() { entered.Entered(); \n\tg(func() int { entered.Entered();  return 1 })\n}\n\ntype T int\n"
	from := sourceFile{"/p.go", "p.go"}
	got, all, err := instrument(from, []byte(source))
	if err != nil || string(got) != want {
		t.Errorf("error %v, copied %s", err, got)
	}
	if want := (declarations{{from, "v", 5, 5}, {from, "f", 7, 7}, {from, "T.m", 9, 11}}); !slices.Equal(all, want) {
		t.Errorf("declarations %v", all)
	}
	const noCode = "package p\n\ntype T int\n"
	if got, all, err := instrument(from, []byte(noCode)); err != nil || string(got) != noCode || len(all) > 0 {
		t.Errorf("without code: error %v, copied %s, declarations %v", err, got, all)
	}
}
