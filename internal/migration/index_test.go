package migration_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	goName = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?((?:\[T\])?\(\))?$`)
)

// rows returns the cells of the rows of the tables in a part of a page, without the heads.
func rows(part string) (all [][]string) {
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "| ") && len(cells) > 1 && !strings.HasPrefix(line, "| ---") && strings.Contains(cells[0], "`") {
			all = append(all, cells)
		}
	}
	return all
}

// api is docs/api.txt. Its names are package.Name, and package.Type.Member for methods and fields.
type api struct {
	text  string
	names map[string]bool
}

// exported returns what docs/api.txt lists.
func exported(t *testing.T) api {
	t.Helper()
	a := api{contents(t, "../../docs/api.txt"), map[string]bool{}}
	declared := regexp.MustCompile(`(?m)^(?:\S*/)?(\w+): (?:method \(\*?(\w+)[^)]*\) (\w+)|(?:const|func|type|var) (\w+)(?:.*? (?:struct|interface), (\w+))?)`)
	for _, m := range declared.FindAllStringSubmatch(a.text, -1) {
		name := m[1] + "." + m[2] + m[4]
		a.names[name] = true
		if member := m[3] + m[5]; member != "" {
			a.names[name+"."+member] = true
		}
	}
	return a
}

// call returns how a function without arguments is called; "" for everything else.
func (a api) call(pkg, name string) string {
	found := regexp.MustCompile(`(?m)^(?:\S*/)?` + pkg + `: func ` + name + `(\[[^]]*\])?\(\)`).FindStringSubmatch(a.text)
	switch {
	case found == nil:
		return ""
	case found[1] != "":
		return "[T]()"
	}
	return "()"
}

// wantNames checks the Go names in a cell of a table.
func (a api) wantNames(t *testing.T, cell string) (n int) {
	t.Helper()
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		name := goName.FindStringSubmatch(m[1])
		if name == nil {
			t.Errorf("%s is not the name of something that is exported", m[0])
			continue
		}
		n++
		if !a.names[strings.TrimSuffix(name[1]+"."+name[2]+"."+name[3], ".")] {
			t.Errorf("%s: there is no %s", m[0], m[1])
		}
		if want := a.call(name[1], name[2]); name[3] == "" && name[4] != want {
			t.Errorf("%s: want %q behind the name, as it is called", m[0], want)
		}
	}
	return n
}

// Every Java name of the index is one of Java Curator, and every Go name is exported.
func TestIndex(t *testing.T) {
	_, part, ok := strings.Cut(contents(t, "../../docs/migration.md"), "\n## Index: ")
	if !ok {
		t.Fatal("no index")
	}
	part, _, _ = strings.Cut(part, "\n## ")
	parity, ours := contents(t, parityPage), exported(t)
	n := 0
	for _, cells := range rows(part) {
		for _, java := range quoted.FindAllStringSubmatch(cells[0], -1) {
			n++
			if !strings.Contains(parity, "`"+java[1]+"`") && !strings.Contains(parity, "`"+java[1]+".") && !strings.Contains(parity, "`"+java[1]+"(") {
				t.Errorf("docs/parity.md has no %s", java[1])
			}
		}
		ours.wantNames(t, cells[1])
	}
	if n < 100 {
		t.Errorf("%d names", n)
	}
}
