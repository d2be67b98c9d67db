package lint

import (
	"fmt"
	"go/ast"
	"strings"
)

// The aims are 300 lines for a file and 60 for a function; these are where it stops.
const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

var fileSize = rule{
	name: "files are short",
	check: eachFile(func(s *source) []finding {
		if s.isGenerated() || s.lines() <= maxFileLines {
			return nil
		}
		return []finding{{s.path, maxFileLines + 1, fmt.Sprintf(
			"%d lines; split it by what it is about: aim at 300, stop at %d", s.lines(), maxFileLines)}}
	}),
	good: []files{
		{"state/a.go": "package state" + strings.Repeat("\n", maxFileLines)},
		{"state/a_gen.go": generatedHeader + "package state" + strings.Repeat("\n", maxFileLines)},
		{"README.md": strings.Repeat("\n", maxFileLines+1)},
	},
	bad: []files{
		{"state/a.go": "package state" + strings.Repeat("\n", maxFileLines+1)},
		{"state/a_test.go": "package state" + strings.Repeat("\n", maxFileLines+1)},
	},
}

var functionSize = rule{
	name: "functions are short",
	check: eachFile(func(s *source) (found []finding) {
		if s.isGenerated() {
			return nil
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := s.fset.Position(f.End()).Line - s.line(f) + 1
			if f.Doc != nil {
				lines = s.fset.Position(f.End()).Line - s.line(f.Type) + 1
			}
			if lines > maxFunctionLines {
				found = append(found, s.at(f.Type, fmt.Sprintf(
					"%s has %d lines; give its parts names: aim at 60, stop at %d", f.Name.Name, lines, maxFunctionLines)))
			}
		}
		return found
	}),
	good: []files{
		{"state/a.go": "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines-1) + "}"},
		{"state/a.go": "package state\n" + strings.Repeat("// f is long to tell.\n", maxFunctionLines) + "func f() {\n}"},
		{"state/a_gen.go": generatedHeader + "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
	},
	bad: []files{
		{"state/a.go": "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
		{"state/a_test.go": "package state\n// f is a test.\nfunc (t T) f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
	},
}
