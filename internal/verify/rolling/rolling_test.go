package rolling

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/check"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/matrix"
	"github.com/go-curator/curator/tools/curatortest"
)

// newRelease returns a folder with a release that consists of the manifest of a jar.
func newRelease(t *testing.T, manifest string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := writeJar(filepath.Join(home, "zookeeper.jar"), "Manifest-Version: 1.0\r\n"+manifest+"\r\n", nil); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestRunRefused runs everything on real servers, with a release that does not start: the row has its words,
// the servers go on with the release of before, and the run fails for no other reason.
func TestRunRefused(t *testing.T) {
	home := os.Getenv("ZOOKEEPER_HOME")
	if home == "" {
		home = newRelease(t, "Class-Path: file:/usr/share/java/zookeeper.jar\r\n  file:/usr/share/java/slf4j-simple.jar\r\n  file:/usr/share/java/servlet-api.jar\r\n")
	}
	server := curatortest.Real(t) // fails or skips the test
	version := server.Member(0).Version()
	server.Stop()
	var out, progress strings.Builder
	err := Run(t.Context(), Config{
		Releases: []matrix.Release{{Version: version, Home: home}, {Version: "9.9.9", Home: newRelease(t, "")}}, Session: 30 * time.Second, Pause: 500 * time.Millisecond,
		Clients: 2, Workloads: []string{"mutex"}, Seed: 1,
	}, &out, &progress)
	const words = "refused: java.lang.ClassNotFoundException: org.apache.zookeeper.server.quorum.QuorumPeerMain"
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err == nil || strings.Contains(err.Error(), "\n") && !strings.HasSuffix(err.Error(), "no connection has ended in a restart, so nothing is shown") || !strings.Contains(err.Error(), words) {
		t.Errorf("%v\n%s", err, &progress)
	}
	if len(lines) != 5 || !strings.HasPrefix(lines[2], "| "+version+" to 9.9.9 | ") || !strings.Contains(lines[2], " | 12 | 0 | ") ||
		!strings.Contains(lines[2], words) || !strings.Contains(lines[4], "0 were lost") {
		t.Errorf("printed\n%s", &out)
	}
}

// The load fails with a violation, a lost lease of ours, and without any hold.
func TestJudgeLoad(t *testing.T) {
	held := map[string]int{"mutex": 3}
	lost := history.Event{Kind: history.Lost, Process: "go-1.1", Op: 3, Workload: "mutex", Text: "lock lost: session expired"}
	for name, tt := range map[string]struct {
		result check.Result
		events []history.Event
		want   []string
	}{
		"good":    {check.Result{Holds: held}, []history.Event{{Kind: history.Released, Process: "go-1.1", Op: 3}}, nil},
		"a loss":  {check.Result{Holds: held}, []history.Event{lost}, []string{"go-1.1 has lost its lease of mutex: lock lost: session expired"}},
		"foreign": {check.Result{Holds: held}, []history.Event{{Kind: history.Lost, Process: "java-0.1", Op: 3}}, nil},
		"a release": {
			check.Result{Holds: held}, []history.Event{{Kind: history.Released, Process: "go-2.1", Op: 4, Workload: "latch", Text: history.ReleaseLost}},
			[]string{"go-2.1 has lost its lease of latch"},
		},
		"a violation": {check.Result{Holds: held, Violations: make([]check.Violation, 2)}, nil, []string{"2 violations"}},
		"nothing":     {check.Result{}, nil, []string{"nothing was held"}},
	} {
		t.Run(name, func(t *testing.T) { wantsError(t, judgeLoad(tt.result, lostLeases(tt.events)), tt.want) })
	}
	twice := []history.Event{lost, {Kind: history.Released, Process: "go-1.1", Op: 3, Text: history.ReleaseLost}, {Kind: history.Lost, Process: "go-1.2", Op: 3}}
	if n := len(lostLeases(twice)); n != 2 {
		t.Errorf("%d leases were lost, want 2", n)
	}
}

// The load is judged also under the standard policy, under which steps must cost leases.
func TestJudgeBoth(t *testing.T) {
	steps := []Row{{Kind: Upgrade, Ended: 1, Kept: 1, Counted: 1}}
	costly := []Row{{Kind: Upgrade, Ended: 1, Kept: 1, Counted: 1, Lost: []string{"the mutex"}}}
	good := check.Result{Holds: map[string]int{"mutex": 3}}
	bad := check.Result{Holds: good.Holds, Violations: make([]check.Violation, 2)}
	for name, tt := range map[string]struct {
		standard bool
		rows     []Row
		result   check.Result
		want     []string
	}{
		"good":                 {false, steps, good, nil},
		"a loss":               {false, costly, good, []string{"lost: the mutex"}},
		"a violation":          {false, steps, bad, []string{"2 violations"}},
		"standard":             {true, costly, good, nil},
		"standard, no loss":    {true, steps, good, []string{"does not notice losses"}},
		"standard, violations": {true, costly, bad, []string{"2 violations"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantsError(t, Config{Standard: tt.standard}.judge(tt.rows, tt.result, nil), tt.want)
		})
	}
}

// What runs nothing is refused.
func TestMisuse(t *testing.T) {
	good := Config{Releases: make([]matrix.Release, 2), Session: 30 * time.Second, Clients: 1}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *Config){
		"-homes":   func(c *Config) { c.Releases = c.Releases[:1] },
		"-clients": func(c *Config) { c.Clients = 0 },
		"-pause":   func(c *Config) { c.Pause = -1 },
		"-session": func(c *Config) { c.Session = time.Second },
	} {
		c := good
		change(&c)
		if err := Run(t.Context(), c, io.Discard, io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
