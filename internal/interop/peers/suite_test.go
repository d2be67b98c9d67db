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
	t.Run("classes", func(t *testing.T) {
		for _, class := range s.classes(t) {
			if slices.Contains(ensembles, path.Ext(class)[1:]) {
				continue
			}
			t.Run(path.Ext(class)[1:], func(t *testing.T) {
				t.Parallel()
				s.runClass(t, class)
			})
		}
	})
	t.Logf("Curator's tests on the embedded server: %s", s.counts())
}

// junit runs classes of tests.
type junit struct {
	classPath string
	folder    string
	servers   *javaServers

	mu      sync.Mutex
	results map[outcome]int
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
	s := &junit{folder: t.TempDir(), servers: startJavaServers(t), results: map[outcome]int{}}
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

// runClass runs a class of tests, and again those that failed and are not listed.
func (s *junit) runClass(t *testing.T, class string) {
	t.Helper()
	selection := []string{"--select-class", class}
	for attempt := 1; len(selection) > 0; attempt++ {
		cases := s.run(t, selection...)
		selection = nil
		for _, c := range cases {
			how, again := judge(path.Ext(class)[1:]+"."+c.name(), c.outcome(), attempt)
			switch {
			case again:
				selection = append(selection, "--select-method", class+"#"+c.name())
				continue
			case how == failed:
				t.Errorf("%s: %s", c.Name, c.Failure.Text)
			case how == unlisted:
				t.Errorf("%s passes: it should not be listed", c.Name)
			}
			s.mu.Lock()
			s.results[how]++
			s.mu.Unlock()
		}
	}
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
