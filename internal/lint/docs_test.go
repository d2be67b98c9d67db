package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

var exportedDocumented = rule{
	name: "what is exported is documented",
	check: eachFile(func(s *source) (found []finding) {
		if s.isTest() || s.file.Name.Name == "main" {
			return nil
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && isExportedReceiver(d.Recv) {
					found = append(found, s.documented(d.Name, d.Doc)...)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					found = append(found, s.documentedSpec(d, spec)...)
				}
			}
		}
		return found
	}),
	good: []files{
		{"state/a.go": "// A is 1.\npackage state\n// T is 2.\ntype T int\n// M is 3.\nfunc (t *T) M() {}\n// F is 4.\nfunc F[X any]() {}"},
		{"state/a.go": "package state\n// The colours.\nconst (\n\tRed = 1\n\tBlue = 2\n)\nvar (\n\t// X is 1.\n\tX = 1\n\tY = 2 // Y is 2.\n)"},
		{"state/a.go": "package state\ntype t[X any] int\nfunc (t t[X]) M() {}\nfunc f() {}\nvar x, y = 1, 2\ntype (\n\t// A is 1.\n\tA int\n)"},
		{"state/a_test.go": "package state\nfunc TestA() {}"},
		{"tools/curator/a.go": "package main\nfunc Run() {}"},
	},
	bad: []files{
		{"state/a.go": "package state\ntype T int"},
		{"state/a.go": "package state\n// This type is 2.\ntype T int"},
		{"state/a.go": "package state\ntype (\n\tT int\n)"},
		{"state/a.go": "package state\n// T is 2.\ntype T[X any] int\nfunc (t *T[X]) M() {}"},
		{"state/a.go": "package state\n// f is 4.\nfunc F() {}"},
		{"state/a.go": "package state\nfunc F() {}"},
		{"state/a.go": "package state\nvar ErrX = 1"},
		{"state/a.go": "package state\n// An error.\nvar ErrX = 1"},
		{"state/a.go": "package state\nconst (\n\t// X is 1.\n\tX = 1\n\tY = 2\n)"},
		{"state/a_gen.go": generatedHeader + "package state\nfunc F() {}"},
	},
}

// documented finds a missing comment, or one that does not start with the name.
func (s *source) documented(name *ast.Ident, doc *ast.CommentGroup) []finding {
	if text := strings.TrimSpace(doc.Text()); text == "" {
		return []finding{s.at(name, fmt.Sprintf("%s is exported: say what it is, starting with // %[1]s", name.Name))}
	} else if first, _, _ := strings.Cut(text, " "); strings.TrimRight(first, ",.:") != name.Name {
		return []finding{s.at(name, fmt.Sprintf("the comment must start with // %s, for go doc", name.Name))}
	}
	return nil
}

func (s *source) documentedSpec(d *ast.GenDecl, spec ast.Spec) []finding {
	single := !d.Lparen.IsValid()
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if doc := spec.Doc; spec.Name.IsExported() {
			if single {
				doc = d.Doc
			}
			return s.documented(spec.Name, doc)
		}
	case *ast.ValueSpec:
		exported := ""
		for _, name := range spec.Names {
			if name.IsExported() && exported == "" {
				exported = name.Name
				if single {
					return s.documented(name, d.Doc)
				}
			}
		}
		if exported != "" && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
			return []finding{s.at(spec, fmt.Sprintf("%s is exported: document it, or the group as a whole", exported))}
		}
	}
	return nil
}

// isExportedReceiver tells whether the methods of a receiver are part of the
// documentation; nil, for a function, is.
func isExportedReceiver(receiver *ast.FieldList) bool {
	if receiver == nil || len(receiver.List) == 0 {
		return true
	}
	t := receiver.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

var packageDocumented = rule{
	name: "every package has a comment",
	check: func(tree []*source) (found []finding) {
		first := map[string]*source{}
		comments := map[string]int{}
		var dirs []string
		for _, s := range tree {
			if !s.isGo() || s.isTest() {
				continue
			}
			if first[s.dir()] == nil {
				first[s.dir()] = s
				dirs = append(dirs, s.dir())
			}
			text := s.file.Doc.Text()
			if text == "" {
				continue
			}
			comments[s.dir()]++
			name := s.file.Name.Name
			if name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
				found = append(found, s.at(s.file.Name, "the comment must start with // Package "+name))
			}
		}
		for _, dir := range dirs {
			if s := first[dir]; comments[dir] != 1 {
				found = append(found, s.at(s.file.Name, fmt.Sprintf(
					"package %s has %d package comments; it needs one, in doc.go or in its only file", s.file.Name.Name, comments[dir])))
			}
		}
		return found
	},
	good: []files{
		{"state/a.go": "package state", "state/doc.go": "// Package state has 1.\npackage state", "state/a_test.go": "package state"},
		{"tools/curator/main.go": "// Curator is a command.\npackage main"},
		{"internal/x/a_test.go": "package x"},
	},
	bad: []files{
		{"state/a.go": "package state"},
		{"state/a.go": "// The states.\npackage state"},
		{"state/a.go": "// Package states has 1.\npackage state"},
		{"tools/curator/main.go": "package main"},
		{"state/a.go": "// Package state has 1.\npackage state", "state/b.go": "// Package state has 2.\npackage state"},
	},
}

var todo = regexp.MustCompile(`(?:^|[^.\w])(?:TODO|FIXME|XXX)\b`)

var noTodo = rule{
	name: "nothing is left to do",
	check: eachFile(func(s *source) (found []finding) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if todo.MatchString(c.Text) {
					line := s.fset.Position(c.Pos()).Line
					found = append(found, finding{s.path, line, "do it, or open an issue and say in the documentation what is missing"})
				}
			}
		}
		return found
	}),
	good: []files{
		{"state/a.go": "package state // context.TODO is not allowed\nvar s = `TODO`"},
	},
	bad: []files{
		{"state/a.go": "package state // TODO: more"},
		{"state/a.go": "package state\n/* FIXME */"},
		{"state/a_test.go": "package state\nfunc f() {\n\t// see below (XXX)\n}"},
	},
}
