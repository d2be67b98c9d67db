package migration_test

import (
	"cmp"
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

const (
	parityPage  = "../../docs/parity.md"
	parityTable = "\n| Java | here | remark |\n| --- | --- | --- |\n"
	newerThan   = "newer than 5.4" // begins the remark of a row with names that Curator 5.4 does not have
	javaHasNone = "Java has none"  // begins the remark of a row without a name of Java
)

// uninstalled has the types of curator-x-async and curator-test. No package that the tests install has these
// modules, so no list has the types' methods: each type must have a row, but the methods in the rows are not
// compared with anything.
var uninstalled = javaMethods(`
	ZPath.* NodeName.* ModelSpec.* ModelSpecBuilder.* ModelSerializer.* JacksonModelSerializer.* ModeledFramework.*
	ModeledFrameworkBuilder.* ModeledOptions.* VersionedModeledFramework.* Versioned.* CachedModeledFramework.*
	ModeledCacheListener.* ZNode.* TypedZPath.* TypedModelSpec.* TypedModeledFramework.*
	Migration.* MigrationSet.* MigrationManager.* MigrationException.*
	AsyncCuratorFramework.* AsyncStage.* AsyncResult.* AsyncEventException.* AsyncWrappers.* WatchMode.*
	CreateOption.* DeleteOption.* ExistsOption.*
	TestingServer.* TestingCluster.* InstanceSpec.* QuorumConfigBuilder.* TestingZooKeeperServer.* KillSession.* Timing.*
	BaseClassForTests.* CuratorTestBase.* WatchersDebug.* DelegatingExecutorService.*
	ExecuteCalledWatchingExecutorService.* DirectoryUtils.* FailedServerStartException.* TestingZooKeeperMain.*
	TestingQuorumPeerMain.* ZooKeeperMainFace.* ZooKeeperServerEmbeddedAdapter.*`)

var (
	javaName   = "(?:[A-Z]\\w*\\.(?:\\w+|\\*)|\\*\\.\\w+)(?:\\([^()`|]*\\))?"
	parityRow  = regexp.MustCompile("^\\| ((?:`" + javaName + "`(?:, `" + javaName + "`)*)?) \\| (`[^`|]+`(?:, `[^`|]+`)*|\\*\\w+\\*) \\| ([^|]*) \\|\n$")
	remarkName = regexp.MustCompile("`([\\w.]+)[^`]*`")
	absentRow  = regexp.MustCompile(`(?m)^\| (\w+) \| (\d+) \|`)
	stepName   = regexp.MustCompile(`\w+(?:\([^)]*\))?`)
)

// javaMethod is a method of Java, with its parameters if methods of the same name differ. "*" as the owner
// stands for every builder, and as the name for all methods of the type that no other row names.
type javaMethod struct{ owner, name, params string }

func (m javaMethod) String() string { return m.owner + "." + m.name + m.params }

// is tells whether m, of a row, stands for a method in a list of Java's. Parameters are not compared: the lists,
// uninstalled among them, have none.
func (m javaMethod) is(listed javaMethod) bool {
	if m.owner == "*" {
		return m.name == listed.name && (strings.HasSuffix(listed.owner, "Builder") || listed.owner == "CuratorMultiTransaction")
	}
	return m.owner == listed.owner && (m.name == listed.name || m.name == "*" || listed.name == "*")
}

func newJavaMethod(name string) javaMethod {
	name, params, hasParams := strings.Cut(name, "(")
	if hasParams {
		params = "(" + params
	}
	owner, name, _ := strings.Cut(name, ".")
	return javaMethod{owner, name, params}
}

func javaMethods(list string) (all []javaMethod) {
	for name := range strings.FieldsSeq(list) {
		all = append(all, newJavaMethod(name))
	}
	return all
}

// javaLists returns the methods that Java has: internal/interop writes the lists from the installed Curator.
func javaLists(t *testing.T) (all []javaMethod) {
	t.Helper()
	lists, err := filepath.Glob("testdata/java*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, javaMethods(string(text))...)
	}
	if len(lists) != 4 || len(all) < 300 {
		t.Errorf("Java has only %d methods in %d lists", len(all), len(lists))
	}
	return all
}

// newerMethods returns the methods that Curator 5.9 has in addition to those of 5.4: internal/interop writes the list,
// by its flag -newer.
func newerMethods(t *testing.T) []javaMethod {
	t.Helper()
	all := javaMethods(contents(t, "testdata/newer-than-5.4.txt"))
	if len(all) < 50 {
		t.Errorf("Curator 5.9 has only %d methods more", len(all))
	}
	return all
}

// counterpart is a row of docs/parity.md.
type counterpart struct {
	section string
	java    []javaMethod
	here    []string // with their packages
	absent  string   // the reason for which there is no counterpart; "" if there is one
	remark  string
}

func (c counterpart) String() string { return fmt.Sprintf("%s, %v %v", c.section, c.java, c.here) }

// withPackage returns a name of the page with its package: names without one are those of framework.
func withPackage(name string) string {
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		return "framework." + name
	}
	return name
}

// parity is docs/parity.md, with what it is compared with and what is wrong with it.
type parity struct {
	head  string // the page before its first section
	rows  []counterpart
	java  []javaMethod // of 5.4
	newer []javaMethod
	ours  map[string]bool
	wrong []string
}

// checkParity returns what is wrong with the text of docs/parity.md.
func checkParity(text string, java, newer []javaMethod, ours map[string]bool) []string {
	p := &parity{java: java, newer: newer, ours: ours}
	p.parse(text)
	p.checkJava()
	p.checkNames()
	p.checkReasons()
	p.checkSteps()
	return p.wrong
}

func (p *parity) errorf(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

func (p *parity) parse(text string) {
	sections := strings.Split(text, "\n## ")
	p.head = sections[0]
	for _, section := range sections[1:] {
		title, body, _ := strings.Cut(section, "\n")
		if title == reportsTitle {
			p.checkReports(body)
			continue
		}
		table, ok := strings.CutPrefix(body, parityTable)
		if !ok {
			p.errorf("%s does not begin with a table", title)
		}
		for line := range strings.Lines(table) {
			cells := parityRow.FindStringSubmatch(line)
			if cells == nil {
				p.errorf("%s: %q is not a row: methods of Java or nothing, our names or a reason, and a remark", title, line)
				continue
			}
			c := counterpart{section: title, remark: cells[3]}
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				c.java = append(c.java, newJavaMethod(m[1]))
			}
			for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
				c.here = append(c.here, withPackage(m[1]))
			}
			if len(c.here) == 0 {
				c.absent = strings.Trim(cells[2], "*")
			}
			if (len(c.java) == 0) != strings.HasPrefix(c.remark, javaHasNone) {
				p.errorf("%s: the remark of a row without a method of Java, and of no other, begins with %q", c, javaHasNone)
			}
			p.rows = append(p.rows, c)
		}
	}
}

// checkJava finds methods of Java that no row has, and those in rows that Java does not have or that an
// earlier row has. Overloads differ in their parameters.
func (p *parity) checkJava() {
	seen, told := map[string]bool{}, map[javaMethod]bool{}
	in := func(m javaMethod, list []javaMethod) (found bool) {
		for _, listed := range list {
			if m.is(listed) {
				told[listed], found = true, true
			}
		}
		return found
	}
	for _, c := range p.rows {
		recent := 0
		for _, m := range c.java {
			if seen[m.String()] {
				p.errorf("%s: %s has two rows", c, m)
			}
			seen[m.String()] = true
			old, other := in(m, p.java), in(m, uninstalled)
			switch {
			case (old || other) && m.name == "*": // what a type has got later has rows of its own
			case in(m, p.newer):
				recent++
			case !old && !other:
				p.errorf("%s: Java has no %s", c, m)
			}
		}
		if marked := strings.HasPrefix(c.remark, newerThan); recent > 0 && !marked || recent < len(c.java) && marked {
			p.errorf("%s: %d methods are newer; the remark of a row with newer ones only begins with %q", c, recent, newerThan)
		}
	}
	for _, m := range slices.Concat(p.java, p.newer, uninstalled) {
		if !told[m] {
			p.errorf("no row has %s", m)
		}
	}
}

// checkNames finds names in the column of counterparts that are not exported, and those in remarks that are
// neither exported, perhaps as a method of some type, nor Java's.
func (p *parity) checkNames() {
	known := map[string]bool{}
	for name := range p.ours {
		if rest, ok := strings.CutPrefix(name, "framework."); ok {
			known[rest[strings.LastIndexByte(rest, '.')+1:]] = true
		}
	}
	for _, m := range slices.Concat(p.java, p.newer) {
		known[m.String()] = true
	}
	for _, c := range p.rows {
		for _, name := range c.here {
			if !p.ours[name] {
				p.errorf("%s: there is no %s", c, name)
			}
		}
		for _, m := range remarkName.FindAllStringSubmatch(c.remark, -1) {
			if !p.ours[withPackage(m[1])] && !known[m[1]] {
				p.errorf("%s: the remark names %s, which does not exist", c, m[1])
			}
		}
	}
}

// checkReasons compares the head of the page, which has the reasons and counts the rows, with the rows.
func (p *parity) checkReasons() {
	counts := map[string]int{}
	for _, c := range p.rows {
		counts[c.absent]++
	}
	if want := fmt.Sprintf("There are %d rows. %d of them have a counterpart here.", len(p.rows), counts[""]); !strings.Contains(p.head, want) {
		p.errorf("the head does not say: %s", want)
	}
	for _, m := range absentRow.FindAllStringSubmatch(p.head, -1) {
		if want := strconv.Itoa(counts[m[1]]); m[2] != want {
			p.errorf("the head counts %s rows that are %s; there are %s", m[2], m[1], want)
		}
		delete(counts, m[1])
	}
	delete(counts, "")
	if len(counts) > 0 {
		p.errorf("reasons that the head does not have: %v", counts)
	}
}

// checkSteps finds rows that are missing by the specification of the builders: a row for the start of each
// chain, one for each method of Java that a step stands for, and one for the last call. Rows without a name of
// Java it finds also if they are too many.
func (p *parity) checkSteps() {
	rows := map[string]bool{}
	for _, c := range p.rows {
		row := fmt.Sprintf("%v %v", c.java, c.here)
		if len(c.java) == 0 && rows[row] {
			p.errorf("there are two rows %s", row)
		}
		rows[row] = true
	}
	wanted := map[string]bool{}
	lower := func(name string) string { return strings.ToLower(name[:1]) + name[1:] }
	for _, op := range spec.Ops {
		want := func(owner, java, ours string) {
			if op.Java != "none" && java != "" {
				java = owner + "." + java
			} else {
				java = ""
			}
			row := fmt.Sprintf("[%s] [framework.%s]", java, ours)
			if wanted[row] = true; !rows[row] {
				p.errorf("there is no row %s", row)
			}
		}
		builder, terminal := builderName(op), cmp.Or(op.Terminal, "ForPath")
		if op.Entry == "" { // Java's names of the others follow no rule; p.checkJava has them
			want("CuratorFramework", lower(op.Name), "Client."+op.Name)
		}
		want(op.Java, lower(terminal), builder+"."+terminal)
		inTx := "Transaction" + op.Name + "Builder"
		if op.Tx != "" {
			want(inTx, "forPath", op.Tx+".ForPath")
		}
		for _, m := range op.Mods {
			for _, java := range stepNames(m) {
				want(op.Java, java, builder+"."+m.Name)
				if m.Tx {
					want(inTx, java, op.Tx+"."+m.Name)
				}
			}
		}
	}
	p.checkExtraSteps(wanted)
}

// checkExtraSteps finds rows of a builder that say that Java has none, although the specification wants no such row.
func (p *parity) checkExtraSteps(wanted map[string]bool) {
	ofSpec := map[string]bool{}
	for _, op := range spec.Ops {
		ofSpec["framework."+builderName(op)] = true
		ofSpec["framework."+op.Tx] = true
		ofSpec["framework.Client."+op.Name] = true
	}
	for _, c := range p.rows {
		row := fmt.Sprintf("%v %v", c.java, c.here)
		for _, name := range c.here {
			owner := name[:max(0, strings.LastIndexByte(name, '.'))]
			if len(c.java) == 0 && (ofSpec[owner] || ofSpec[name]) && !wanted[row] {
				p.errorf("there is a row %s, and no step for it", row)
			}
		}
	}
}

func builderName(op spec.Op) string { return op.Name + strings.TrimSuffix(op.Entry, "es") + "Builder" }

// stepNames returns the methods of Java that a step stands for; "" if Java has none.
func stepNames(m spec.Mod) []string {
	if m.Name == "WithData" {
		return []string{"forPath(path, data)"} // an argument in Java
	}
	java, _, _ := strings.Cut(m.Java, ", which ")
	if java == "" {
		return []string{""}
	}
	return stepName.FindAllString(java, -1)
}

// The page is right: it has each public method of Java, and names nothing that does not exist.
func TestParity(t *testing.T) {
	for _, wrong := range checkParity(contents(t, parityPage), javaLists(t), newerMethods(t), exported(t).names) {
		t.Error(wrong)
	}
}
