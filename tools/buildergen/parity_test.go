package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/tools/buildergen/spec"
)

// The table in the repository is that of the specification.
func TestParityNoDrift(t *testing.T) {
	want, err := Parity(spec.Sections)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", ParityOutput))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/%s is not what the specification says; run make generate:\n%s", ParityOutput, diff)
	}
}

// Every public method of Java has a row, and every row names methods that Java has. The lists of Java's
// methods are files that internal/interop writes from the installed Curator.
func TestParityCoversJava(t *testing.T) {
	java := javaNames(t)
	told := map[string]bool{}
	for _, r := range allRows(t) {
		for _, m := range javaMethods(r.Java) {
			found := false
			for _, name := range java {
				owner, member, _ := strings.Cut(name, ".")
				every := m.owner == "*" && strings.HasSuffix(owner, builderSuffix(owner))
				if (m.owner == owner || every) && (m.name == member || m.name == "*") {
					told[name], found = true, true
				}
			}
			if !found && !slices.Contains(spec.Newer, m.name) && !slices.Contains(spec.Uninstalled, m.owner) {
				t.Errorf("Java has no %s", m)
			}
		}
	}
	for _, name := range java {
		if !told[name] {
			t.Errorf("no row has %s", name)
		}
	}
	if len(java) < 300 {
		t.Errorf("Java has only %d methods", len(java))
	}
}

// builderSuffix returns the end of a type's name if chains start with the type.
func builderSuffix(owner string) string {
	if owner == "CuratorMultiTransaction" {
		return owner
	}
	return "Builder"
}

// No name is in two rows, but for overloads, which are told apart by their parameters.
func TestParityNamesOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allRows(t) {
		for _, m := range javaMethods(r.Java) {
			if seen[m.String()] {
				t.Errorf("%s has two rows", m)
			}
			seen[m.String()] = true
		}
	}
}

// The identifiers in the column of counterparts exist.
func TestParityNamesExist(t *testing.T) {
	ours := declarations{}
	for _, r := range allRows(t) {
		for _, name := range splitTrim(r.Ours, ",") {
			if !ours.have(t, name) {
				t.Errorf("%s: there is no %s", r.Java, name)
			}
		}
	}
}

var quoted = regexp.MustCompile("`([\\w.]+)[^`]*`")

// The identifiers in remarks exist here, perhaps as a method of some type, or in Java.
func TestParityRemarks(t *testing.T) {
	ours := declarations{}
	java := javaNames(t)
	for _, r := range allRows(t) {
		for _, m := range quoted.FindAllStringSubmatch(r.Remark, -1) {
			_, member, _ := strings.Cut(m[1], ".")
			known := ours.have(t, m[1]) || slices.Contains(java, m[1]) || slices.Contains(spec.Newer, member)
			for name := range ours["framework"] {
				known = known || strings.HasSuffix(name, "."+m[1])
			}
			if !known {
				t.Errorf("%s: the remark names %s, which does not exist", r.Java, m[1])
			}
		}
	}
}

func javaNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, path := range []string{"testdata/java.txt", "testdata/java-client.txt", "testdata/java-recipes.txt", "testdata/java-discovery.txt"} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.Fields(string(file))...)
	}
	return names
}

// declarations has the declared identifiers of packages, by the packages' names.
type declarations map[string]map[string]bool

// have reports whether there is an exported identifier with the name. A name without a package is one
// of package framework.
func (d declarations) have(t *testing.T, name string) bool {
	t.Helper()
	pkg := "framework"
	if first, rest, _ := strings.Cut(name, "."); !ast.IsExported(first) {
		pkg, name = first, rest
	}
	if d[pkg] == nil {
		d[pkg] = declared(t, pkg)
	}
	return d[pkg][name] && ast.IsExported(name[strings.LastIndex(name, ".")+1:])
}

func allRows(t *testing.T) (rows []spec.Parity) {
	t.Helper()
	for _, s := range spec.Sections {
		more, err := parityRows(s)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	return rows
}

// declared returns the top-level identifiers of a package, and Type.name for methods and fields.
func declared(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	dir := ""
	for _, parent := range []string{"../..", framework, "../../recipes", "../../tools"} {
		if _, err := os.Stat(filepath.Join(parent, pkg)); err == nil {
			dir = filepath.Join(parent, pkg)
			break
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			declare(names, decl)
		}
	}
	return names
}

func declare(names map[string]bool, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		names[name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
				for _, field := range members(s.Type) {
					names[s.Name.Name+"."+field.Name] = true
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names[name.Name] = true
				}
			}
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(expr ast.Expr) string {
	switch x := expr.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// members returns the fields of a struct or the methods of an interface.
func members(expr ast.Expr) (names []*ast.Ident) {
	var list *ast.FieldList
	switch x := expr.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		names = append(names, field.Names...)
	}
	return names
}

func TestParityRefusals(t *testing.T) {
	for name, s := range map[string]spec.Section{
		"neither here nor absent": {Rows: []spec.Parity{{Java: "A.b"}}},
		"both":                    {Rows: []spec.Parity{{Java: "A.b", Ours: "B", Absent: spec.Threads}}},
		"no such reason":          {Rows: []spec.Parity{{Java: "A.b", Absent: "lost"}}},
		"a second column":         {Rows: []spec.Parity{{Java: "A.b", Ours: "B", Remark: "a | b"}}},
		"no such operation":       {Op: "Fly"},
	} {
		if _, err := Parity([]spec.Section{s}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
