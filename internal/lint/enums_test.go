package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// integers are the types of numbers that an enumeration is made of.
var integers = []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"}

// enumsHaveNames wants a String method of every exported type of numbers that a package has constants
// of: a number says nothing in a log or a failed test.
var enumsHaveNames = rule{
	name: "the values of an enumeration have names",
	check: func(tree []*source) (found []finding) {
		packages := map[string][]*source{}
		for _, s := range tree {
			if s.isGo() && !s.isTest() && s.file.Name.Name != "main" && !strings.Contains("/"+s.path, "/internal/") {
				packages[s.dir()] = append(packages[s.dir()], s)
			}
		}
		for _, sources := range packages {
			found = append(found, namelessEnums(sources)...)
		}
		return found
	},
	good: []files{
		{"state/a.go": "package state\ntype T int\nconst A T = 1", "state/b.go": "package state\nfunc (t T) String() string { return \"\" }"},
		{"state/a.go": "package state\ntype t int\nconst A t = 1"},
		{"state/a.go": "package state\ntype T string\nconst A T = \"a\""},
		{"state/a.go": "package state\ntype T int\nconst A = 1"},
		{"internal/a/a.go": "package a\ntype T int\nconst A T = 1"},
		{"recipes/internal/a/a.go": "package a\ntype T int\nconst A T = 1"},
	},
	bad: []files{
		{"state/a.go": "package state\ntype T int\nconst A T = 1"},
		{"state/a.go": "package state\ntype T int32\nconst (\n\tA T = iota\n\tB\n)", "state/b.go": "package state\ntype U int\nfunc (u U) String() string { return \"\" }"},
		{"state/a.go": "package state\ntype T int\nconst A T = 1\nfunc (t *T) String() string { return \"\" }"},
	},
}

// namelessEnums returns the types of one package that want a String method.
func namelessEnums(sources []*source) (found []finding) {
	used, named := map[string]bool{}, map[string]bool{}
	types := map[string]finding{}
	for _, s := range sources {
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "String" {
					if receiver, ok := d.Recv.List[0].Type.(*ast.Ident); ok { // a pointer's is not used by fmt
						named[receiver.Name] = true
					}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					noteEnum(s, d.Tok, spec, types, used)
				}
			}
		}
	}
	for name, f := range types {
		if used[name] && !named[name] {
			found = append(found, f)
		}
	}
	return found
}

// noteEnum notes an exported type of numbers, or the type of constants.
func noteEnum(s *source, tok token.Token, spec ast.Spec, types map[string]finding, used map[string]bool) {
	switch sp := spec.(type) {
	case *ast.TypeSpec:
		if base, ok := sp.Type.(*ast.Ident); ok && sp.Name.IsExported() && slices.Contains(integers, base.Name) {
			types[sp.Name.Name] = s.at(sp, "give "+sp.Name.Name+" a method String() string of the value, not of a pointer")
		}
	case *ast.ValueSpec:
		if of, ok := sp.Type.(*ast.Ident); ok && tok == token.CONST {
			used[of.Name] = true
		}
	}
}
