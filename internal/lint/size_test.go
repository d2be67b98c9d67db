package lint

import (
	"fmt"
	"go/ast"
	"strings"
)

// Files that are longer than maxFileLines, and functions that are longer than maxFunctionLines, are in
// the list of exceptions, which may only get shorter. No exception goes beyond the ends. Tests of one thing
// have long tables: their functions may reach the end.
const (
	maxFileLines     = 400
	endOfFile        = 500
	maxFunctionLines = 60
	endOfFunction    = 80
)

// longTests are tests that were longer when that became the limit.
func longTests(paths ...string) (list []exception) {
	for _, path := range paths {
		list = append(list, exception{fileSize.name, path, 1, "was longer when 400 lines became the limit"})
	}
	return list
}

var fileSize = rule{
	name:  "files are short",
	check: eachFile(func(s *source) []finding { return s.longerThan(maxFileLines) }),
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

var fileEnd = rule{
	name:  "no file is very long",
	check: eachFile(func(s *source) []finding { return s.longerThan(endOfFile) }),
	good:  []files{{"state/a_test.go": "package state" + strings.Repeat("\n", endOfFile)}},
	bad:   []files{{"state/a_test.go": "package state" + strings.Repeat("\n", endOfFile+1)}},
}

func (s *source) longerThan(limit int) []finding {
	if s.isGenerated() || s.lines() <= limit {
		return nil
	}
	return []finding{{s.path, limit + 1, fmt.Sprintf("%d lines; split it by what it is about: at most %d", s.lines(), limit)}}
}

var functionSize = rule{
	name: "functions are short",
	check: eachFile(func(s *source) []finding {
		if s.isTest() {
			return nil
		}
		return s.functionsLongerThan(maxFunctionLines)
	}),
	good: []files{
		{"state/a.go": "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines-1) + "}"},
		{"state/a.go": "package state\n" + strings.Repeat("// f is long to tell.\n", maxFunctionLines) + "func f() {\n}"},
		{"state/a_gen.go": generatedHeader + "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
		{"state/a_test.go": "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
	},
	bad: []files{
		{"state/a.go": "package state\nfunc f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
		{"state/a.go": "package state\n// f is a method.\nfunc (t T) f() {" + strings.Repeat("\n", maxFunctionLines) + "}"},
	},
}

var functionEnd = rule{
	name:  "no function is very long",
	check: eachFile(func(s *source) []finding { return s.functionsLongerThan(endOfFunction) }),
	good:  []files{{"state/a_test.go": "package state\nfunc f() {" + strings.Repeat("\n", endOfFunction-1) + "}"}},
	bad:   []files{{"state/a_test.go": "package state\nfunc f() {" + strings.Repeat("\n", endOfFunction) + "}"}},
}

func (s *source) functionsLongerThan(limit int) (found []finding) {
	if s.isGenerated() {
		return nil
	}
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if lines := s.fset.Position(f.End()).Line - s.line(f.Type) + 1; lines > limit {
			found = append(found, s.at(f.Type, fmt.Sprintf("%s has %d lines; give its parts names: at most %d", f.Name.Name, lines, limit)))
		}
	}
	return found
}
