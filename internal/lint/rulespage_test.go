package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/verify/mutants"
)

// rulesPage has each rule that the code cites, with the tests that hold it.
const rulesPage = "docs/rules.md"

// statedOn are the pages that state the rules in full.
var statedOn = []string{"docs/lock-model.md", "docs/session.md"}

// withoutTest is how many rules have no test. The number may only fall.
const withoutTest = 2

// ruleRow is a row of the page.
type ruleRow struct {
	rule    string
	tests   map[string][]string // by directory; empty for none
	mutants []string            // the names
}

var (
	rowOfRule   = regexp.MustCompile(`(?m)^\| ([KLBHS]?[0-9]{1,2}) \|(.*)\|$`)
	testsInDir  = regexp.MustCompile("^(`Test\\w+`(?:, `Test\\w+`)*) in `([\\w/]+)`$")
	testName    = regexp.MustCompile("`(Test\\w+)`")
	letterRules = regexp.MustCompile(`\b([KLBHS])([0-9]{1,2})(?: to ([KLBHS])([0-9]{1,2}))?\b`)
	numberRules = regexp.MustCompile(`\b[Rr]ules? ([0-9]{1,2}(?:(?:, | and | to )[0-9]{1,2})*)\b`)
	numberRange = regexp.MustCompile(`([0-9]+)(?: to ([0-9]+))?`)
)

// rowsOf returns the rows of the page, and what is wrong with their form.
func rowsOf(text string) (rows []ruleRow, wrong []string) {
	for _, m := range rowOfRule.FindAllStringSubmatch(text, -1) {
		row := ruleRow{rule: m[1], tests: map[string][]string{}}
		cells := strings.Split(m[2], " |")
		if len(cells) != 3 || strings.TrimSpace(cells[0]) == "" {
			wrong = append(wrong, "the row of "+row.rule+" needs a sentence, tests and mutants")
			continue
		}
		if tests := strings.TrimSpace(cells[1]); tests != "none" {
			for part := range strings.SplitSeq(tests, "; ") {
				in := testsInDir.FindStringSubmatch(part)
				if in == nil {
					wrong = append(wrong, fmt.Sprintf("the row of %s has %q, not `TestName` in `directory`", row.rule, part))
					continue
				}
				for _, name := range testName.FindAllStringSubmatch(in[1], -1) {
					row.tests[in[2]] = append(row.tests[in[2]], name[1])
				}
			}
		}
		if names := strings.TrimSpace(cells[2]); names != "" {
			row.mutants = strings.Split(names, "; ")
		}
		rows = append(rows, row)
	}
	return rows, wrong
}

// expand returns the rules from first to last with a letter before their numbers, or without.
func expand(letter, first, last string) (rules []string) {
	from, _ := strconv.Atoi(first)
	to, err := strconv.Atoi(last)
	if err != nil {
		to = from
	}
	for n := from; n <= to; n++ {
		rules = append(rules, letter+strconv.Itoa(n))
	}
	return rules
}

// citedIn returns the rules that a comment cites.
func citedIn(comment string) (rules []string) {
	for _, m := range letterRules.FindAllStringSubmatch(comment, -1) {
		rules = append(rules, expand(m[1], m[2], m[4])...)
	}
	for _, m := range numberRules.FindAllStringSubmatch(comment, -1) {
		for _, n := range numberRange.FindAllStringSubmatch(m[1], -1) {
			rules = append(rules, expand("", n[1], n[2])...)
		}
	}
	return rules
}

// citations returns where the comments of Go files cite each rule first.
func citations(tree []*source) map[string]string {
	cited := map[string]string{}
	for _, s := range tree {
		if !s.isGo() || s.isGenerated() || s.dir() == "internal/lint" {
			continue
		}
		for _, group := range s.file.Comments {
			for _, rule := range citedIn(strings.Join(strings.Fields(group.Text()), " ")) {
				if cited[rule] == "" {
					cited[rule] = fmt.Sprintf("%s:%d", s.path, s.line(group))
				}
			}
		}
	}
	return cited
}

// testsOf returns the names of the test functions by directory.
func testsOf(tree []*source) map[string]map[string]bool {
	tests := map[string]map[string]bool{}
	for _, s := range tree {
		if !s.isGo() || !s.isTest() {
			continue
		}
		if tests[s.dir()] == nil {
			tests[s.dir()] = map[string]bool{}
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[s.dir()][f.Name.Name] = true
			}
		}
	}
	return tests
}

// judgeRules compares the rows of the page with the pages that state the rules, with the code, with the
// tests and with the mutants, by the rule that each breaks.
func judgeRules(tree []*source, all []mutants.Mutant) (wrong []string) {
	var page string
	stated := map[string]bool{}
	for _, s := range tree {
		switch {
		case s.path == rulesPage:
			page = string(s.text)
		case slices.Contains(statedOn, s.path):
			for _, m := range rowOfRule.FindAllStringSubmatch(string(s.text), -1) {
				stated[m[1]] = true
			}
		}
	}
	rows, wrong := rowsOf(page)
	breaking := map[string][]string{}
	for _, m := range all {
		if rule, ok := strings.CutPrefix(m.Breaks, "rule "); ok {
			breaking[rule] = append(breaking[rule], m.Name)
		}
	}
	cited, tests, known := citations(tree), testsOf(tree), map[string]bool{}
	for _, row := range rows {
		if known[row.rule] {
			wrong = append(wrong, row.rule+" has two rows")
		}
		known[row.rule] = true
		if !stated[row.rule] {
			wrong = append(wrong, row.rule+" is not stated on "+strings.Join(statedOn, " or "))
		}
		if cited[row.rule] == "" {
			wrong = append(wrong, "no comment cites "+row.rule)
		}
		for dir, names := range row.tests {
			for _, name := range names {
				if !tests[dir][name] {
					wrong = append(wrong, fmt.Sprintf("%s has no test %s, which is to hold %s", dir, name, row.rule))
				}
			}
		}
		if names := breaking[row.rule]; !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(row.mutants))) {
			wrong = append(wrong, fmt.Sprintf("the mutants of %s are %q, not %q", row.rule, names, row.mutants))
		}
	}
	for _, rules := range []map[string]bool{stated, toSet(cited), toSet(breaking)} {
		for rule := range rules {
			if !known[rule] {
				wrong = append(wrong, fmt.Sprintf("%s is missing; it is cited in %q", rule, cited[rule]))
			}
		}
	}
	return wrong
}

func toSet[V any](m map[string]V) map[string]bool {
	set := map[string]bool{}
	for key := range maps.Keys(m) {
		set[key] = true
	}
	return set
}

// Each rule that is cited or stated has a row, and each row has what the code has.
func TestRulesPage(t *testing.T) {
	tree := load(t)
	for _, text := range judgeRules(tree, mutants.All()) {
		t.Errorf("%s: %s", rulesPage, text)
	}
	none := 0
	for _, s := range tree {
		if s.path == rulesPage {
			rows, _ := rowsOf(string(s.text))
			if len(rows) < 50 {
				t.Errorf("%d rows", len(rows))
			}
			for _, row := range rows {
				if len(row.tests) == 0 {
					none++
				}
			}
		}
	}
	if none != withoutTest {
		t.Errorf("%d rules have no test, not %d: write a test, or lower withoutTest", none, withoutTest)
	}
}

// A page that is right, and what is wrong with others.
func TestRulesPageIsJudged(t *testing.T) {
	const row = "| K1 | One write. | `TestK1`, `TestWrite` in `recipes/nodes`; `TestX` in `framework` | in two writes |\n"
	right := files{
		rulesPage:                 "| rule | | test | mutants |\n" + row + "| 3 | A grant. | none |  |\n",
		"docs/lock-model.md":      "| K1 | text | `place` |\n",
		"docs/session.md":         "| 3 | text |\n",
		"recipes/nodes/a.go":      "package nodes\n\n// It is one write (K1), and a grant by rules\n// 3 to 3.\nvar a int",
		"recipes/nodes/a_test.go": "package nodes\nfunc TestK1(t *testing.T) {}\nfunc TestWrite(t *testing.T) {}",
		"framework/x_test.go":     "package framework\nfunc TestX(t *testing.T) {}",
	}
	mutant := []mutants.Mutant{{Name: "in two writes", Breaks: "rule K1"}, {Name: "other", Breaks: "a promise"}}
	if wrong := judgeRules(inMemory(t, right), mutant); len(wrong) > 0 {
		t.Errorf("a page that is right: %q", wrong)
	}
	for name, tt := range map[string]struct{ path, old, text string }{
		"cited, and not there":   {"recipes/nodes/a.go", "(K1)", "(K1 to K2)"},
		"a number, and no row":   {"recipes/nodes/a.go", "3 to 3", "3, 4"},
		"stated, and not there":  {"docs/session.md", "| 3 |", "| S1 | text |\n| 3 |"},
		"not cited":              {"recipes/nodes/a.go", "(K1)", ""},
		"not stated":             {"docs/lock-model.md", "K1", "rule"},
		"two rows":               {rulesPage, row, row + row},
		"no such test":           {"recipes/nodes/a_test.go", "TestWrite", "testWrite"},
		"test of another folder": {rulesPage, "`recipes/nodes`", "`framework`"},
		"no folder":              {rulesPage, " in `framework`", ""},
		"no sentence":            {rulesPage, "A grant.", ""},
		"a mutant is missing":    {rulesPage, "in two writes", ""},
		"no such mutant":         {rulesPage, "in two writes", "in two writes; in three"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := maps.Clone(right)
			if !strings.Contains(changed[tt.path], tt.old) {
				t.Fatalf("%s has no %q", tt.path, tt.old)
			}
			changed[tt.path] = strings.Replace(changed[tt.path], tt.old, tt.text, 1)
			if wrong := judgeRules(inMemory(t, changed), mutant); len(wrong) == 0 {
				t.Error("is accepted")
			}
		})
	}
}
