package kazoosuite_test

import (
	"encoding/xml"
	"flag"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

var (
	python  = flag.String("python", "", "a Python that has kazoo and pytest; without it the suite does not run")
	release = flag.String("release", "3.8.0", "the release of ZooKeeper that the embedded server answers as")
	only    = flag.String("only", "", "run the tests of kazoo whose names match this expression of pytest's -k")
)

// tick is that of kazoo's own servers.
const tick = 2 * time.Second

// TestMain leaves out kazoo's tests if there is no Python for them.
func TestMain(m *testing.M) {
	flag.Parse()
	if *python == "" {
		suite.LeaveOut("^TestSuite$")
	}
	suite.Main(m)
}

// TestSuite runs kazoo's tests.
func TestSuite(t *testing.T) {
	server := curatortest.Start(t, curatortest.WithTickTime(tick), curatortest.WithRelease(*release))
	version := strings.TrimSpace(run(t, exec.Command(*python, "-c", "import kazoo.version; print(kazoo.version.__version__)")))
	results := runSuite(t, server)
	met := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		want, by := expectationOf(name)
		met[by] = true
		if got := results[name]; got.outcome != want.outcome {
			t.Errorf("%s: %s, and should %s %s: %s", name, got.outcome, want.outcome, want.why, got.text)
		}
	}
	for name := range expected {
		if !met[name] && *only == "" {
			t.Errorf("there is no test %s", name)
		}
	}
	t.Logf("kazoo %s on the embedded server as %s: %d tests, %d pass, %d fail, %d are skipped", version, *release,
		len(results), count(results, pass), count(results, fail), count(results, skip))
}

// The outcomes of tests.
const (
	pass = "pass"
	fail = "fail"
	skip = "skip"
)

// result is how a test ended, and what it said.
type result struct{ outcome, text string }

func count(results map[string]result, outcome string) int {
	n := 0
	for _, r := range results {
		if r.outcome == outcome {
			n++
		}
	}
	return n
}

// runSuite returns the results by the names of the tests.
func runSuite(t *testing.T, server *curatortest.Server) map[string]result {
	control := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stop":
			server.Stop()
		case "/start":
			server.Start()
		default:
			t.Errorf("a server is asked to %s", r.URL.Path)
		}
	}))
	defer control.Close()
	plugin, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.xml")
	args := []string{"-m", "pytest", "--pyargs", "kazoo.tests", "-p", "embedded_cluster", "-p", "no:cacheprovider",
		"--timeout=120", "--junit-xml=" + report, "-q"}
	if *only != "" {
		args = append(args, "-k", *only)
	}
	cmd := exec.Command(*python, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PYTHONPATH="+plugin, "PYTHONDONTWRITEBYTECODE=1",
		"CURATOR_SERVER="+server.ConnectString(), "CURATOR_CONTROL="+strings.TrimPrefix(control.URL, "http://"),
		"CI=", "ZOOKEEPER_VERSION="+*release)
	out, err := cmd.CombinedOutput() // it fails if one of the tests does
	text, readErr := os.ReadFile(report)
	if readErr != nil {
		t.Fatalf("%v, %v:\n%s", err, readErr, out)
	}
	results, err := parseReport(text)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// parseReport reads a report of pytest in JUnit's form.
func parseReport(text []byte) (map[string]result, error) {
	type message struct {
		Message string `xml:"message,attr"`
	}
	var report struct {
		Cases []struct {
			Class   string   `xml:"classname,attr"`
			Name    string   `xml:"name,attr"`
			Failure *message `xml:"failure"`
			Error   *message `xml:"error"`
			Skipped *message `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		return nil, err
	}
	results := map[string]result{}
	for _, c := range report.Cases {
		name := strings.TrimPrefix(c.Class, "kazoo.tests.") + "." + c.Name
		switch {
		case c.Error != nil: // before or after the test itself
			results[name] = result{fail, c.Error.Message}
		case c.Failure != nil:
			results[name] = result{fail, c.Failure.Message}
		case c.Skipped != nil:
			results[name] = result{skip, c.Skipped.Message}
		case results[name].outcome == "":
			results[name] = result{outcome: pass}
		}
	}
	return results, nil
}

func TestParseReport(t *testing.T) {
	const report = `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite>
		<testcase classname="kazoo.tests.test_a.TestA" name="test_1" time="0.1" />
		<testcase classname="kazoo.tests.test_a.TestA" name="test_2"><failure message="no">text</failure></testcase>
		<testcase classname="kazoo.tests.test_a.TestA" name="test_3"><skipped message="why">text</skipped></testcase>
		<testcase classname="kazoo.tests.test_a.TestA" name="test_4"><error message="bad">text</error></testcase>
		<testcase classname="kazoo.tests.test_a.TestA" name="test_4" />
	</testsuite></testsuites>`
	got, err := parseReport([]byte(report))
	want := map[string]result{
		"test_a.TestA.test_1": {outcome: pass}, "test_a.TestA.test_2": {fail, "no"},
		"test_a.TestA.test_3": {skip, "why"}, "test_a.TestA.test_4": {fail, "bad"},
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// run returns the output of a program.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}
