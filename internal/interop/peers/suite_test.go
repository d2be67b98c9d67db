package peers_test

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// classLimit is how long a class of Curator's tests may take; the longest takes some minutes.
const classLimit = 20 * time.Minute

// attempts is how often a test of Curator may run until it passes, as in Curator's own build.
const attempts = 3

// junitFlags let the tests use what a JVM hides, as Curator's own build does.
var junitFlags = []string{"-Xmx512m", "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED",
	"--add-opens=java.base/java.util.concurrent=ALL-UNNAMED", "--add-opens=java.base/java.net=ALL-UNNAMED"}

// Curator's own tests, of its client, its framework and its recipes, on embedded servers: its test server is
// testdata/suite/TestingServer.java. Those that unsupported names fail, those that chancy names may, and all other
// ones pass.
func TestPeerCuratorSuite(t *testing.T) {
	t.Parallel()
	s := newJUnit(t)
	classes, absent := choose(s.classes(t))
	if len(absent) > 0 {
		t.Errorf("Curator has no classes %q: they should not be listed", absent)
	}
	t.Run("classes", func(t *testing.T) {
		for _, class := range classes {
			t.Run(path.Ext(class)[1:], func(t *testing.T) {
				t.Parallel()
				s.runClass(t, class)
			})
		}
	})
	if absent := s.unjudged(); s.ended == len(classes) && len(absent) > 0 { // not if -run leaves classes out
		t.Errorf("Curator has no tests %q: they should not be listed", absent)
	}
	t.Logf("Curator's tests on the embedded server: %s", s.counts())
}

// junit runs classes of tests.
type junit struct {
	classPath string
	folder    string
	servers   *javaServers

	mu      sync.Mutex
	results map[outcome]int
	judged  map[string]bool // the names of tests
	ended   int             // classes whose tests were all judged
	runs    int
}

// outcome is how a test of Curator ended.
type outcome string

const (
	passed   outcome = "passed"
	late     outcome = "passed at another attempt"
	failed   outcome = "failed"
	expected outcome = "failed as listed"
	unlisted outcome = "passed although it is listed"
	disabled outcome = "disabled by Curator"
)

func newJUnit(t *testing.T) *junit {
	t.Helper()
	jars := filepath.Join(fetched(t, "suite"), "*")
	s := &junit{folder: t.TempDir(), servers: startJavaServers(t), results: map[outcome]int{}, judged: map[string]bool{}}
	s.classPath = filepath.Join(s.folder, "classes") + string(os.PathListSeparator) + jars
	compile(t, jars, filepath.Join(s.folder, "classes"), filepath.Join("testdata", "suite", "TestingServer.java"))
	return s
}

// classes returns the names of the classes with tests.
func (s *junit) classes(t *testing.T) (classes []string) {
	t.Helper()
	jars, err := filepath.Glob(filepath.Join(fetched(t, "suite"), "curator-*-tests.jar"))
	if err != nil || len(jars) != 3 {
		t.Fatalf("jars with tests: %q, %v", jars, err)
	}
	for _, name := range jars {
		jar, err := zip.OpenReader(name)
		if err != nil {
			t.Fatal(err)
		}
		defer jar.Close()
		for _, f := range jar.File {
			class, ok := strings.CutSuffix(f.Name, ".class")
			if base := path.Base(class); ok && !strings.Contains(base, "$") && (strings.HasPrefix(base, "Test") || base == "BasicTests") {
				classes = append(classes, strings.ReplaceAll(class, "/", "."))
			}
		}
	}
	slices.Sort(classes)
	return classes
}

// choose returns the classes that are run, and the listed names that no class has.
func choose(all []string) (classes, absent []string) {
	absent = slices.Concat(ensembles, noTests)
	for _, class := range all {
		i := slices.Index(absent, path.Ext(class)[1:])
		if i < 0 {
			classes = append(classes, class)
			continue
		}
		absent = slices.Delete(absent, i, i+1)
	}
	return classes, absent
}

// runClass runs a class of tests, and again those that failed and are not listed.
func (s *junit) runClass(t *testing.T, class string) {
	t.Helper()
	selection := []string{"--select-class", class}
	var repeated []string
	for attempt := 1; len(selection) > 0; attempt++ {
		cases := s.run(t, selection...)
		if absent := vanished(repeated, cases); len(cases) == 0 || len(absent) > 0 {
			t.Fatalf("attempt %d has run %d tests, and not %q", attempt, len(cases), absent)
		}
		selection, repeated = nil, nil
		for _, c := range cases {
			name := path.Ext(class)[1:] + "." + c.name()
			how, again := judge(name, c.outcome(), attempt)
			switch {
			case again:
				selection = append(selection, "--select-method", class+"#"+c.name())
				repeated = append(repeated, c.name())
				continue
			case how == failed:
				t.Errorf("%s: %s", c.Name, c.Failure.Text)
			case how == unlisted:
				t.Errorf("%s passes: it should not be listed", c.Name)
			}
			s.mu.Lock()
			s.results[how]++
			s.judged[name] = true
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
}

// vanished returns the names that none of the tests has.
func vanished(names []string, cases []testcase) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(cases, func(c testcase) bool { return c.name() == name })
	})
}

// unjudged returns the listed tests that were not judged, in order.
func (s *junit) unjudged() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range []map[string]string{unsupported, chancy} {
		for name := range list {
			if !s.judged[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// judge says how a test ended, or that it has to run again.
func judge(name string, how outcome, attempt int) (judged outcome, again bool) {
	switch _, listed := unsupported[name]; {
	case how == failed && (listed || chancy[name] != ""):
		return expected, false
	case how == failed:
		return failed, attempt < attempts
	case how == passed && listed:
		return unlisted, false
	case how == passed && attempt > 1:
		return late, false
	}
	return how, false
}

// testcase is one test in JUnit's report.
type testcase struct {
	Name    string   `xml:"name,attr"`
	Failure *failure `xml:"failure"`
	Error   *failure `xml:"error"`
	Skipped *failure `xml:"skipped"`
}

type failure struct {
	Text string `xml:",chardata"`
}

// name is the test's method.
func (c testcase) name() string { return strings.SplitN(c.Name, "(", 2)[0] }

func (c *testcase) outcome() outcome {
	c.Failure = cmp.Or(c.Failure, c.Error)
	switch {
	case c.Failure != nil:
		return failed
	case c.Skipped != nil:
		return disabled
	}
	return passed
}

// run runs some tests in a JVM of their own, and returns how they ended.
func (s *junit) run(t *testing.T, selection ...string) []testcase {
	t.Helper()
	s.mu.Lock()
	s.runs++
	reports := filepath.Join(s.folder, fmt.Sprint("reports-", s.runs))
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), classLimit)
	defer cancel()
	args := slices.Concat(junitFlags, []string{fmt.Sprint("-Dcurator.servers=", s.servers.port()), "-Djava.io.tmpdir=" + s.folder,
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", s.classPath, "org.junit.platform.console.ConsoleLauncher"},
		selection, []string{"--reports-dir", reports, "--details", "none", "--disable-banner"})
	out, runErr := exec.CommandContext(ctx, javaTool("java"), args...).CombinedOutput()
	text, err := os.ReadFile(filepath.Join(reports, "TEST-junit-jupiter.xml"))
	if err != nil {
		t.Fatalf("%q: %v, %v\n%s", selection, runErr, err, out)
	}
	var report struct {
		Tests []testcase `xml:"testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	return report.Tests
}

// counts says how many tests ended how.
func (s *junit) counts() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, how := range slices.Sorted(maps.Keys(s.results)) {
		texts = append(texts, fmt.Sprintf("%d %s", s.results[how], how))
	}
	return strings.Join(texts, ", ")
}

// A test that is not listed runs up to three times; one that is listed fails.
func TestJudge(t *testing.T) {
	const listed, fast, other = "TestLeaderSelectorEdges.flappingTest", "TestBoundedDistributedQueue.testMulti", "TestX.testY"
	for _, c := range []struct {
		name    string
		how     outcome
		attempt int
		want    outcome
		again   bool
	}{
		{other, passed, 1, passed, false},
		{other, failed, 1, failed, true},
		{other, failed, 2, failed, true},
		{other, failed, 3, failed, false},
		{other, passed, 2, late, false},
		{other, disabled, 1, disabled, false},
		{listed, failed, 1, expected, false},
		{listed, passed, 1, unlisted, false},
		{fast, failed, 1, expected, false},
		{fast, passed, 1, passed, false},
	} {
		if got, again := judge(c.name, c.how, c.attempt); got != c.want || again != c.again {
			t.Errorf("%s, %s at attempt %d: %s, again %t", c.name, c.how, c.attempt, got, again)
		}
	}
}

// A name that no class or test of Curator has any more is noticed.
func TestVanished(t *testing.T) {
	all := []string{"org.apache.curator.TestX", "org.apache.curator.TestReadOnly", "org.apache.curator.TestQueueItem"}
	classes, absent := choose(all)
	if !slices.Equal(classes, all[:1]) || len(absent) != len(ensembles)+len(noTests)-2 || slices.Contains(absent, "TestReadOnly") || slices.Contains(absent, "TestQueueItem") {
		t.Errorf("classes %q, absent %q", classes, absent)
	}
	for _, tt := range []struct{ names, ran, want []string }{
		{nil, []string{"testA()"}, nil},
		{[]string{"testA", "testB"}, []string{"testB()", "testA(boolean)[1]", "testA(boolean)[2]"}, nil},
		{[]string{"testA", "testB"}, []string{"testB()"}, []string{"testA"}},
		{[]string{"testA"}, nil, []string{"testA"}},
	} {
		var cases []testcase
		for _, name := range tt.ran {
			cases = append(cases, testcase{Name: name})
		}
		if got := vanished(tt.names, cases); !slices.Equal(got, tt.want) {
			t.Errorf("%q of %q: %q, want %q", tt.names, tt.ran, got, tt.want)
		}
	}
	s := &junit{judged: map[string]bool{"TestX.testY": true}}
	for _, list := range []map[string]string{unsupported, chancy} {
		for name := range list {
			s.judged[name] = true
		}
	}
	if names := s.unjudged(); len(names) > 0 {
		t.Errorf("not judged: %q", names)
	}
	const listed = "TestLeaderSelectorEdges.flappingTest"
	delete(s.judged, listed)
	if names := s.unjudged(); !slices.Equal(names, []string{listed}) {
		t.Errorf("not judged: %q, want %s", names, listed)
	}
}
