package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecture = "docs/architecture.md"

// planned has packages that the table of direct imports names before they are there.
var planned []string

// importExceptions has, for each package, what it imports although the table of
// docs/architecture.md does not allow it. The lists may only get shorter.
var importExceptions = map[string][]string{
	"internal/telemetry":              {"internal/jute"},
	"recipes/discovery/discoverygrpc": {"internal/wait"},
}

var (
	importTable = regexp.MustCompile(`(?m)^\| package \| may import \|\n\| --- \| --- \|\n((?:\|.*\n)+)`)
	importRow   = regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`)
	quoted      = regexp.MustCompile("`([^`]+)`")
)

// matches tells whether pkg is the package that a pattern names, or, with "/..." at its end, one below it.
func matches(pattern, pkg string) bool {
	dir, below := strings.CutSuffix(pattern, "/...")
	return pkg == dir || below && within(pkg, dir)
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

// allowance is one row of the table: patterns of packages, and of what these may import.
type allowance struct{ packages, imports []string }

// readAllowances returns the rows of the table of direct imports.
func readAllowances(page string) (rows []allowance) {
	table := importTable.FindStringSubmatch(page)
	if table == nil {
		return nil
	}
	patterns := func(cell string) (list []string) {
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			list = append(list, m[1])
		}
		return list
	}
	for _, m := range importRow.FindAllStringSubmatch(table[1], -1) {
		rows = append(rows, allowance{patterns(m[1]), patterns(m[2])})
	}
	return rows
}

// directImports returns the packages of this module, those of the nested modules among them, and what of
// this module each imports, on every platform, without its tests.
func directImports(tree []*source) map[string]map[string]bool {
	direct := map[string]map[string]bool{}
	for _, s := range tree {
		if !s.isGo() || s.isTest() {
			continue
		}
		if direct[s.dir()] == nil {
			direct[s.dir()] = map[string]bool{}
		}
		for _, spec := range s.file.Imports {
			if ours, isOurs := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); isOurs {
				direct[s.dir()][ours] = true
			}
		}
	}
	return direct
}

// judgeImports compares the table with the imports, and returns what is wrong.
func judgeImports(rows []allowance, direct map[string]map[string]bool, exceptions map[string][]string, planned []string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, pkg := range slices.Sorted(maps.Keys(direct)) {
		var allowed []string
		named := false
		for _, row := range rows {
			if matchesAny(row.packages, pkg) {
				named = true
				allowed = append(allowed, row.imports...)
			}
		}
		if !named {
			say("%s is in no row of the table of direct imports in %s", pkg, architecture)
		}
		for _, imported := range slices.Sorted(maps.Keys(direct[pkg])) {
			isAllowed, isException := matchesAny(allowed, imported), slices.Contains(exceptions[pkg], imported)
			switch {
			case named && !isAllowed && !isException:
				say("%s imports %s, which the table in %s does not allow", pkg, imported, architecture)
			case isAllowed && isException:
				say("take the exception of %s for %s out: the table allows it", pkg, imported)
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(exceptions)) {
		for _, imported := range exceptions[pkg] {
			if !direct[pkg][imported] {
				say("take the exception of %s for %s out: there is no such import", pkg, imported)
			}
		}
	}
	packages := slices.Collect(maps.Keys(direct))
	for _, row := range rows {
		for _, pattern := range slices.Concat(row.packages, row.imports) {
			exists := slices.ContainsFunc(packages, func(pkg string) bool { return matches(pattern, pkg) })
			if !exists && !slices.Contains(planned, pattern) {
				say("the table in %s names %s, which is not there", architecture, pattern)
			}
		}
	}
	for _, pkg := range planned {
		if direct[pkg] != nil {
			say("take %s out of the planned packages in internal/lint: it is there", pkg)
		}
	}
	return wrong
}

// page returns the text of a file of the repository.
func page(t *testing.T, tree []*source, path string) string {
	t.Helper()
	i := slices.IndexFunc(tree, func(s *source) bool { return s.path == path })
	if i < 0 {
		t.Fatalf("%s is not there", path)
	}
	return string(tree[i].text)
}

// TestDirectImports compares the imports of every package with the table of docs/architecture.md.
func TestDirectImports(t *testing.T) {
	tree := load(t)
	rows, direct := readAllowances(page(t, tree, architecture)), directImports(tree)
	if len(rows) < 10 || len(direct) < 50 {
		t.Fatalf("%d rows in %s, %d packages", len(rows), architecture, len(direct))
	}
	for _, wrong := range judgeImports(rows, direct, importExceptions, planned) {
		t.Error(wrong)
	}
}

func TestDirectImportsJudged(t *testing.T) {
	rows := readAllowances("# Page\n\n| package | may import |\n| --- | --- |\n" +
		"| `state`, `wait` | nothing |\n| `recipes/...`, `tools` | `state`, `recipes/internal/...` |\n| `recipes/queue` | `wait` |\n\nText.\n")
	for name, tt := range map[string]struct {
		sources    files
		exceptions map[string][]string
		planned    []string
		want       string // the only problem; empty if there is none
	}{
		"allowed":              {sources: files{"tools/a.go": `import "state"`}},
		"below a pattern":      {sources: files{"recipes/locks/a.go": `import "recipes/internal/x"`}},
		"allowed by two rows":  {sources: files{"recipes/queue/a.go": `import "state"; import "wait"`}},
		"of tests":             {sources: files{"recipes/locks/a_test.go": `import "wait"`}},
		"in no row":            {sources: files{"framework/a.go": ""}, want: "framework is in no row"},
		"not allowed":          {sources: files{"recipes/locks/a.go": `import "wait"`}, want: "recipes/locks imports wait, which"},
		"allowed below only":   {sources: files{"tools/x/a.go": ""}, want: "tools/x is in no row"},
		"on another platform":  {sources: files{"recipes/locks/a_windows.go": `import "wait"`}, want: "recipes/locks imports wait, which"},
		"excepted":             {sources: files{"recipes/locks/a.go": `import "wait"`}, exceptions: map[string][]string{"recipes/locks": {"wait"}}},
		"excepted and allowed": {sources: files{"tools/a.go": `import "state"`}, exceptions: map[string][]string{"tools": {"state"}}, want: "tools for state out: the table allows it"},
		"no longer imported":   {exceptions: map[string][]string{"recipes/locks": {"wait"}}, want: "recipes/locks for wait out: there is no such import"},
		"planned, and there":   {planned: []string{"wait"}, want: "take wait out of the planned packages"},
		"planned, not there":   {sources: files{"wait/a.go": "delete"}, planned: []string{"wait"}},
		"not there":            {sources: files{"wait/a.go": "delete"}, want: "names wait, which is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			all := files{"state/a.go": "", "wait/a.go": "", "tools/a.go": "", "recipes/queue/a.go": "", "recipes/internal/x/a.go": ""}
			maps.Copy(all, tt.sources)
			for file, text := range all {
				all[file] = "package p; " + strings.ReplaceAll(text, `import "`, `import "`+module+"/")
				if text == "delete" {
					delete(all, file)
				}
			}
			got := judgeImports(rows, directImports(inMemory(t, all)), tt.exceptions, tt.planned)
			ok := len(got) == 0
			if tt.want != "" {
				ok = slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tt.want) })
				ok = ok && len(slices.Compact(got)) == 1
			}
			if !ok {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
}

var box = regexp.MustCompile(`\w\["([^"]+)"\]`)

// The boxes of the picture of the packages are packages.
func TestPicture(t *testing.T) {
	tree := load(t)
	direct := directImports(tree)
	_, picture, _ := strings.Cut(page(t, tree, architecture), "```mermaid\nflowchart")
	picture, _, _ = strings.Cut(picture, "```")
	boxes := box.FindAllStringSubmatch(picture, -1)
	for _, m := range boxes {
		for pattern := range strings.SplitSeq(m[1], ", ") {
			ours := slices.ContainsFunc(slices.Collect(maps.Keys(direct)), func(pkg string) bool { return matches(pattern, pkg) })
			if !ours && pattern != "..." && pattern != driver {
				t.Errorf("%s is in the picture, and not there", pattern)
			}
		}
	}
	if len(boxes) < 10 {
		t.Errorf("%d boxes", len(boxes))
	}
}
