package checks

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const ignoreDirective = "//curatorvet:ignore"

// line is a line of a file.
type line struct {
	file   string
	number int
}

// withoutIgnored returns run without the findings that a directive silences. A directive without a
// reason is a finding itself.
func withoutIgnored(name string, run func(pass *analysis.Pass) (any, error)) func(pass *analysis.Pass) (any, error) {
	return func(pass *analysis.Pass) (any, error) {
		ignored := ignoredLines(pass, name)
		filtered := *pass
		filtered.Report = func(d analysis.Diagnostic) {
			if !ignored[lineOf(pass, d.Pos)] {
				pass.Report(d)
			}
		}
		return run(&filtered)
	}
}

// ignoredLines returns the lines in which directives silence a check: the line of the directive and
// the next one.
func ignoredLines(pass *analysis.Pass, name string) map[line]bool {
	lines := map[line]bool{}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				rest, found := strings.CutPrefix(comment.Text, ignoreDirective)
				words := strings.Fields(rest)
				switch {
				case !found || len(words) == 0 || words[0] != name:
				case len(words) == 1:
					pass.Reportf(comment.Pos(), "a directive that silences %s needs a reason after the name", name)
				default:
					at := lineOf(pass, comment.Pos())
					lines[at] = true
					lines[line{at.file, at.number + 1}] = true
				}
			}
		}
	}
	return lines
}

func lineOf(pass *analysis.Pass, pos token.Pos) line {
	position := pass.Fset.Position(pos)
	return line{position.Filename, position.Line}
}
