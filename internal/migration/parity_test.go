package migration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/buildergen/spec"
)

// counterpart is a row of docs/parity.md.
type counterpart struct {
	section string
	java    []javaMethod
	here    []string // with their packages
	absent  string   // the reason for which there is no counterpart; "" if there is one
	remark  string
}

func (c counterpart) String() string { return fmt.Sprintf("%s, %v", c.section, c.java) }

// javaMethod is a method of Java, with its parameters if methods of the same name differ. "*" as the owner
// stands for every builder, and as the name for all methods of the type that no other row names.
type javaMethod struct{ owner, name, params string }

func (m javaMethod) String() string { return m.owner + "." + m.name + m.params }

// is tells whether m stands for a name in the lists of Java's names.
func (m javaMethod) is(name string) bool {
	owner, member, _ := strings.Cut(name, ".")
	every := m.owner == "*" && (strings.HasSuffix(owner, "Builder") || owner == "CuratorMultiTransaction")
	return (m.owner == owner || every) && (m.name == member || m.name == "*")
}

const (
	parityPage = "../../docs/parity.md"
	newer      = "newer than 5.4" // begins the remark of a row with a name that Java's lists do not have
)

// hereCell matches the cell of the names here, or of the reason for which there are none.
var hereCell = regexp.MustCompile("^ (`[^`]+`(, `[^`]+`)*|\\*\\w+\\*) $")

// counterparts returns the rows of docs/parity.md, and the part of the page before its first section.
func counterparts(t *testing.T) (all []counterpart, head string) {
	t.Helper()
	sections := strings.Split(contents(t, parityPage), "\n## ")
	for _, section := range sections[1:] {
		title, body, _ := strings.Cut(section, "\n")
		_, table, ok := strings.Cut(body, "| Java | here | remark |\n| --- | --- | --- |\n")
		if !ok {
			t.Errorf("%s: no table", title)
		}
		for line := range strings.Lines(table) {
			if cells := strings.Split(strings.TrimSuffix(line, "\n"), "|"); len(cells) == 5 && hereCell.MatchString(cells[2]) {
				all = append(all, newCounterpart(title, strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])))
			} else if strings.TrimSpace(line) != "" {
				t.Errorf("%s: %q is not a row: it has three cells, and in the second our names or a reason", title, line)
			}
		}
	}
	return all, sections[0]
}

func newCounterpart(section, java, here, remark string) counterpart {
	c := counterpart{section: section, remark: remark}
	for _, m := range quoted.FindAllStringSubmatch(java, -1) {
		name, params, hasParams := strings.Cut(m[1], "(")
		if hasParams {
			params = "(" + params
		}
		dot := max(strings.LastIndex(name, "."), 0)
		c.java = append(c.java, javaMethod{name[:dot], strings.TrimPrefix(name[dot:], "."), params})
	}
	for _, m := range quoted.FindAllStringSubmatch(here, -1) {
		c.here = append(c.here, withPackage(m[1]))
	}
	if len(c.here) == 0 {
		c.absent = strings.Trim(here, "*")
	}
	return c
}

// withPackage returns a name of the page with its package: names without one are those of framework.
func withPackage(name string) string {
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		return "framework." + name
	}
	return name
}

// javaNames returns the names that Java has: internal/interop writes the lists from the installed Curator.
func javaNames(t *testing.T) []string {
	t.Helper()
	lists, err := filepath.Glob("testdata/java*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.Fields(string(text))...)
	}
	if len(lists) != 4 || len(names) < 300 {
		t.Errorf("Java has only %d names in %d lists", len(names), len(lists))
	}
	return names
}

// Every public method of Java has a row, and every row names methods that Java has, each once but for
// overloads. The packages that the tests install do not have curator-x-async and curator-test.
func TestParityCoversJava(t *testing.T) {
	java, rows := javaNames(t), map[string]bool{}
	told := map[string]bool{}
	page, _ := counterparts(t)
	for _, c := range page {
		unknown := 0
		for _, m := range c.java {
			if rows[m.String()] {
				t.Errorf("%s: %s has two rows", c, m)
			}
			rows[m.String()] = true
			found := false
			for _, name := range java {
				if m.is(name) {
					told[name], found = true, true
				}
			}
			if !found {
				unknown++
			}
		}
		installed := !strings.Contains(c.section, "curator-x-async") && c.section != "curator-test"
		if recent := strings.HasPrefix(c.remark, newer); installed && recent != (unknown > 0) {
			t.Errorf("%s: %d names that Java does not have; the remark of such a row, and of no other, begins with %q", c, unknown, newer)
		}
	}
	for _, name := range java {
		if !told[name] {
			t.Errorf("no row has %s", name)
		}
	}
}

// The names in the column of counterparts are exported. So are those in remarks, perhaps as a method of some
// type, or Java has them.
func TestParityNames(t *testing.T) {
	java, ours := javaNames(t), exported(t).names
	members := map[string]bool{}
	for name := range ours {
		if rest, ok := strings.CutPrefix(name, "framework."); ok {
			members[rest[strings.LastIndexByte(rest, '.')+1:]] = true
		}
	}
	page, _ := counterparts(t)
	var recent []string
	for _, c := range page {
		if strings.HasPrefix(c.remark, newer) {
			for _, m := range c.java {
				recent = append(recent, m.name)
			}
		}
	}
	for _, c := range page {
		for _, name := range c.here {
			if !ours[name] {
				t.Errorf("%s: there is no %s", c, name)
			}
		}
		for _, m := range regexp.MustCompile("`([\\w.]+)[^`]*`").FindAllStringSubmatch(c.remark, -1) {
			_, member, _ := strings.Cut(m[1], ".")
			if !ours[withPackage(m[1])] && !members[m[1]] && !slices.Contains(java, m[1]) && !slices.Contains(recent, member) {
				t.Errorf("%s: the remark names %s, which does not exist", c, m[1])
			}
		}
	}
}

// Each row has a counterpart or one of the reasons in the head of the page, which counts them.
func TestParityReasons(t *testing.T) {
	page, head := counterparts(t)
	counts := map[string]int{}
	for _, c := range page {
		counts[c.absent]++
	}
	if want := fmt.Sprintf("There are %d rows. %d of them have a counterpart here.", len(page), counts[""]); !strings.Contains(head, want) {
		t.Errorf("the head does not say: %s", want)
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (\w+) \| (\d+) \|`).FindAllStringSubmatch(head, -1) {
		if want := strconv.Itoa(counts[m[1]]); m[2] != want {
			t.Errorf("the head counts %s rows that are %s; there are %s", m[2], m[1], want)
		}
		delete(counts, m[1])
	}
	delete(counts, "")
	if len(counts) > 0 {
		t.Errorf("reasons that the head does not have: %v", counts)
	}
}

// Each step of a builder has a row, with the method that the builder's documentation says is its counterpart.
func TestParityHasSteps(t *testing.T) {
	page, _ := counterparts(t)
	for _, op := range spec.Ops {
		for _, m := range op.Mods {
			names := []string{op.Name + strings.TrimSuffix(op.Entry, "es") + "Builder." + m.Name}
			if m.Tx {
				names = append(names, op.Tx+"."+m.Name)
			}
			for _, name := range names {
				if !slices.ContainsFunc(page, func(c counterpart) bool { return c.has("framework."+name, m.Java) }) {
					t.Errorf("no row has %s with Java's %q", name, m.Java)
				}
			}
		}
	}
}

// has tells whether a row has our name with one of Java's methods; java is "" if Java has none.
func (c counterpart) has(ours, java string) bool {
	return slices.Contains(c.here, ours) &&
		(java == "" || slices.ContainsFunc(c.java, func(m javaMethod) bool { return strings.Contains(java, m.name) }))
}
