package migration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The Go of the document is that of this package, and its tables have every name of go-zookeeper/zk with
// what there is in place of it.
func TestGoZooKeeperGuide(t *testing.T) {
	guide := contents(t, "../../docs/from-go-zookeeper.md")
	wantBlocks(t, guide, "go", goOfTests(t), "\t")

	_, part, ok := strings.Cut(guide, "\n## Every name of go-zookeeper\n")
	if !ok {
		t.Fatal("no tables of names")
	}
	part, _, _ = strings.Cut(part, "\n## ")
	ours, there := exported(t), driverNames(t)
	for _, cells := range rows(part) {
		for _, name := range quoted.FindAllStringSubmatch(cells[0], -1) {
			if !there[name[1]] {
				t.Errorf("go-zookeeper/zk has no %s, or it has two rows", name[1])
			}
			delete(there, name[1])
		}
		ours.wantNames(t, cells[1])
	}
	for name := range there {
		t.Errorf("%s has no row", name)
	}
}

// The patterns and what forks add name what is exported.
func TestGoZooKeeperPatterns(t *testing.T) {
	guide, ours, n := contents(t, "../../docs/from-go-zookeeper.md"), exported(t), 0
	for _, heading := range []string{"\n## Hand-made patterns\n", "\n## Forks\n"} {
		_, part, _ := strings.Cut(guide, heading)
		part, _, _ = strings.Cut(part, "\n## ")
		for line := range strings.Lines(part) {
			if cells := strings.Split(strings.Trim(line, "|\n "), " | "); strings.HasPrefix(line, "| ") && len(cells) > 1 {
				column := 1 // of the patterns
				if strings.HasPrefix(heading, "\n## Forks") {
					column = len(cells) - 1
				}
				n += ours.wantNames(t, cells[column])
			}
		}
	}
	if n < 40 {
		t.Errorf("%d names", n)
	}
}

// driverNames has the exported names of go-zookeeper/zk, with methods as Type.Method.
func driverNames(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/go-zookeeper/zk").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			addNames(names, decl)
		}
	}
	if len(names) < 130 {
		t.Errorf("%d names", len(names))
	}
	return names
}

func addNames(names map[string]bool, decl ast.Decl) {
	add := func(id *ast.Ident, owner string) {
		if id.IsExported() && (owner == "" || ast.IsExported(owner)) {
			names[strings.TrimPrefix(owner+"."+id.Name, ".")] = true
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		owner := ""
		if d.Recv != nil {
			of := d.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			owner = of.(*ast.Ident).Name
		}
		add(d.Name, owner)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				add(s.Name, "")
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add(id, "")
				}
			}
		}
	}
}
