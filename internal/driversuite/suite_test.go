package driversuite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	// What the suite is compiled with: a change of it makes the results of go test that are kept invalid.
	_ "github.com/go-curator/curator/framework/zk"
	_ "github.com/go-curator/curator/tools/curatortest"
)

var (
	onReal   = flag.Bool("real", false, "run the driver's tests on real servers, too")
	onDriver = flag.Bool("driver", false, "run the driver's tests on the driver itself")
)

const (
	driverModule = "github.com/go-zookeeper/zk"
	ourPackage   = "github.com/go-curator/curator/framework/zk"
)

// testTime bounds the time of one of the driver's tests.
const testTime = 2 * time.Minute

// TestSuite runs the driver's tests.
func TestSuite(t *testing.T) {
	if testing.Short() { // as suite.Each: real time
		return
	}
	s := build(t)
	servers := []string{"embedded"}
	if *onReal {
		servers = append(servers, "real")
	}
	for _, server := range servers {
		t.Run(server, func(t *testing.T) {
			for _, name := range s.tests {
				if server == "embedded" && s.servers[name] > 1 {
					continue
				}
				t.Run(name, func(t *testing.T) {
					if server == "embedded" {
						t.Parallel() // most of the time they wait; real servers would slow each other down
					}
					s.run(t, name, server)
				})
			}
		})
	}
}

// driverSuite is the compiled suite.
type driverSuite struct {
	binary  string
	tests   []string
	servers map[string]int // how many servers a test starts
}

// run runs one test of the suite.
func (s *driverSuite) run(t *testing.T, name, server string) {
	ctx, cancel := context.WithTimeout(t.Context(), testTime+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, "-test.v", "-test.count=1", "-test.run=^"+name+"$", "-test.timeout="+testTime.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "DRIVERSUITE_SERVER="+server, "ZK_VERSION=3.5") // the least that a test asks for
	out, err := cmd.CombinedOutput()
	if wrong := judge(name, string(out), err); wrong != "" {
		t.Errorf("%s:\n%s", wrong, out)
	}
}

// judge returns what is wrong with the run of a test.
func judge(name, out string, err error) string {
	skipped, passed := false, false
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		skipped = skipped || strings.HasPrefix(line, "--- SKIP: ")
		passed = passed || strings.HasPrefix(line, "--- PASS: "+name+" (")
	}
	switch {
	case err != nil:
		return err.Error()
	case skipped:
		return "skipped"
	case !passed:
		return "did not run"
	}
	return ""
}

// build compiles the suite.
func build(t *testing.T) *driverSuite {
	t.Helper()
	dir := t.TempDir()
	module := strings.TrimSpace(string(output(t, exec.Command("go", "list", "-m", "-f", "{{.Dir}}", driverModule))))
	files, err := filepath.Glob(filepath.Join(module, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	s := &driverSuite{binary: filepath.Join(dir, "driver.test.exe"), servers: map[string]int{}} // Windows wants this ending
	o := newOverlay(t, dir)
	a := adapter{made: map[string]bool{}, changes: changes{
		without:     slices.Concat(slices.Collect(maps.Keys(leftOut)), replaced),
		inspections: inspections,
		texts:       texts,
	}}
	if *onDriver {
		a.texts = maps.Clone(texts)
		delete(a.texts, "zk.conn.Close()") // its Conn has no hooks
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch name := filepath.Base(file); {
		case strings.HasSuffix(name, "_test.go"):
			if text, err = a.adapt(name, text); err != nil {
				t.Fatal(err)
			}
			if err := countServers(name, text, s.servers); err != nil {
				t.Fatal(err)
			}
			o.add("driver_"+name, text)
		case *onDriver:
			o.add("driver_"+name, text)
		}
	}
	if unmade := a.unmade(); len(unmade) > 0 {
		t.Fatalf("%s has nothing for these changes: %q", module, unmade)
	}
	o.build(s.binary)
	s.tests = strings.Fields(string(output(t, exec.Command(s.binary, "-test.list=^Test"))))
	if want := slices.Sorted(maps.Keys(s.servers)); !slices.Equal(slices.Sorted(slices.Values(s.tests)), want) {
		t.Fatalf("the tests are\n%q, and should be\n%q", s.tests, want)
	}
	return s
}

// overlay has the files of framework/zk and what they are replaced by.
type overlay struct {
	t         *testing.T
	dir       string // for what replaces files
	ours      string // the directory of framework/zk
	replacing map[string]string
}

// newOverlay returns an overlay without our own tests, and with the files of testdata.
func newOverlay(t *testing.T, dir string) *overlay {
	t.Helper()
	ours, err := filepath.Abs(filepath.Join("..", "..", "framework", "zk"))
	if err != nil {
		t.Fatal(err)
	}
	o := &overlay{t, dir, ours, map[string]string{}}
	files, err := filepath.Glob(filepath.Join(ours, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if *onDriver || strings.HasSuffix(file, "_test.go") {
			o.replacing[file] = ""
		}
	}
	o.addTestdata("cluster.go", "driver_curatortest_test.go")
	if !*onDriver {
		o.addTestdata("hooks.go", "hooks.go")
	}
	return o
}

// addTestdata adds a file of testdata.
func (o *overlay) addTestdata(from, name string) {
	o.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", from))
	if err != nil {
		o.t.Fatal(err)
	}
	o.add(name, text)
}

// add adds a file to framework/zk, or replaces it.
func (o *overlay) add(name string, text []byte) {
	o.t.Helper()
	file := filepath.Join(o.dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		o.t.Fatal(err)
	}
	o.replacing[filepath.Join(o.ours, name)] = file
}

// build compiles the tests of framework/zk with the overlay. Without the race detector: the driver's tests set
// fields of a Conn that is in use.
func (o *overlay) build(binary string) {
	o.t.Helper()
	text, err := json.Marshal(map[string]any{"Replace": o.replacing})
	if err != nil {
		o.t.Fatal(err)
	}
	file := filepath.Join(o.dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		o.t.Fatal(err)
	}
	output(o.t, exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", binary, ourPackage))
}

func output(t *testing.T, command *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, stderr.Bytes())
	}
	return out
}

func TestJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		out  string
		err  error
		want string
	}{
		"passed":          {"=== RUN   TestA\n--- PASS: TestA (0.01s)\n    --- PASS: TestA/b (0.00s)\nPASS\n", nil, ""},
		"failed":          {"--- FAIL: TestA (0.01s)\n", fmt.Errorf("exit status 1"), "exit status 1"},
		"skipped":         {"--- SKIP: TestA (0.01s)\nPASS\n", nil, "skipped"},
		"skipped in part": {"--- PASS: TestA (0.01s)\n    --- SKIP: TestA/b (0.00s)\nPASS\n", nil, "skipped"},
		"another test":    {"--- PASS: TestAB (0.01s)\nPASS\n", nil, "did not run"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge("TestA", tt.out, tt.err); got != tt.want {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
}
