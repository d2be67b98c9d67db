package migration_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The section of docs/parity.md that has no methods of Java, but what users of Java Curator have reported.
const (
	reportsTitle = "What Curator's users report"
	reportsTable = "| report | what was seen | here |\n| --- | --- | --- |\n"
)

var (
	// reportRow is a row of the section: where it was reported, what, and what this library does, with tests at the end.
	reportRow = regexp.MustCompile("^\\| ((?:apache/curator#|CURATOR-|ZOOKEEPER-)\\d+[^|]*) \\| ([^|]+) \\| ([^|]*?)((?:`Test\\w+`(?:, | and )?)+ in `[\\w/]+`[^|]*) \\|\n$")
	// testsOfRow are tests of one directory.
	testsOfRow  = regexp.MustCompile("((?:`Test\\w+`(?:, | and )?)+) in `([\\w/]+)`")
	libraryName = regexp.MustCompile("`([a-z]+\\.[A-Z][\\w.]*)`")
)

// checkReports finds rows without a test, and tests and names that do not exist.
func (p *parity) checkReports(body string) {
	_, table, ok := strings.Cut(body, reportsTable)
	if !ok {
		p.errorf("%s has no table of reports", reportsTitle)
	}
	for line := range strings.Lines(table) {
		cells := reportRow.FindStringSubmatch(line)
		if cells == nil {
			p.errorf("%s: %q is not a report: its number, what was seen, and what is so here, with tests", reportsTitle, line)
			continue
		}
		for _, tests := range testsOfRow.FindAllStringSubmatch(cells[4], -1) {
			for _, test := range quoted.FindAllStringSubmatch(tests[1], -1) {
				p.wantTest(test[1], tests[2])
			}
		}
		for _, name := range libraryName.FindAllStringSubmatch(line, -1) {
			if !p.ours[name[1]] {
				p.errorf("%s: there is no %s", cells[1], name[1])
			}
		}
	}
}

// wantTest finds a test that a directory does not have.
func (p *parity) wantTest(test, dir string) {
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		p.errorf("%s: %v", dir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			p.errorf("%s: %v", dir, err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(") {
			return
		}
	}
	p.errorf("%s: there is no %s in %s", reportsTitle, test, dir)
}
