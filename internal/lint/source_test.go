package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/go-curator/curator"

// source is one text file of the repository.
type source struct {
	path string // slashes, relative to the root
	text []byte
	fset *token.FileSet
	file *ast.File // nil if it is not Go
}

func (s *source) dir() string { return path.Dir(s.path) }

// top returns the first element of the path.
func (s *source) top() string { first, _, _ := strings.Cut(s.path, "/"); return first }

func (s *source) isGo() bool   { return s.file != nil }
func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) lines() int   { return bytes.Count(s.text, []byte("\n")) }

// isTestOnly tells whether only tests can use what the file has.
func (s *source) isTestOnly() bool { return s.isTest() || testOnly[s.dir()] }

// isLibrary tells whether the file becomes part of programs that use the module.
func (s *source) isLibrary() bool { return s.isGo() && !s.isTestOnly() && library[s.top()] }

func (s *source) line(n ast.Node) int { return s.fset.Position(n.Pos()).Line }

// at makes a finding at n.
func (s *source) at(n ast.Node, text string) finding { return finding{s.path, s.line(n), text} }

func (s *source) isGenerated() bool { return s.isGo() && ast.IsGenerated(s.file) }

func parse(path string, text []byte) (*source, error) {
	s := &source{path: path, text: text}
	if !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata/") {
		return s, nil
	}
	s.fset = token.NewFileSet()
	file, err := parser.ParseFile(s.fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s.file = file
	return s, nil
}

// load parses the repository that the test runs in.
func load(t *testing.T) []*source {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(root, "go.mod")) {
		parent := filepath.Dir(root)
		if parent == root {
			t.Fatal("no go.mod above the working directory")
		}
		root = parent
	}
	var tree []*source
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular() || path == ".git": // a file in a further work tree of a repository
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 { // a binary file
			return nil
		}
		s, err := parse(path, text)
		if err != nil {
			t.Errorf("does not parse: %v", err)
			return nil
		}
		tree = append(tree, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) < 20 {
		t.Fatalf("only %d files below %s: the rules would hold for nothing", len(tree), root)
	}
	return tree
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
