package interop_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// findZkCli returns ZooKeeper's command line client: that of the release in ZOOKEEPER_HOME, if it is there, or
// else Debian's.
func findZkCli() (path string, err error) {
	for _, home := range []string{os.Getenv("ZOOKEEPER_HOME"), "/usr/share/zookeeper"} {
		path = filepath.Join(home, "bin", "zkCli.sh")
		if _, err = os.Stat(path); err == nil && home != "" {
			return path, nil
		}
	}
	return "", fmt.Errorf("zkCli.sh is %w (Debian, Ubuntu: apt-get install zookeeper): %w", errNotInstalled, err)
}

// changing is what is another on each server and in each run.
var changing = regexp.MustCompile(`0x[0-9a-f]+|time = .*`)

// logged is what a release's loggers write, and the complaint of Debian's that it has none.
var logged = regexp.MustCompile(`^(\d{4}-\d\d-\d\d |SLF4J: )`)

// zkCliTranscript is what zkCli.sh says. Each part has its own order, as the client has
// threads.
type zkCliTranscript struct {
	Output, Errors, Events []string
	Identities             []string // sorted, as lists are: ZooKeeper's order is by chance
}

// zkCli has zkCli.sh do the commands of testdata/zkcli.txt.
func (s *server) zkCli(path string) (said zkCliTranscript) {
	s.t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "zkcli.txt"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(path, "-server", s.relay.Address())
	cmd.Env = append(os.Environ(), "JVMFLAGS="+strings.Join(jvmFlags, " "))
	const last = "WatchedEvent state:SyncConnected type:NodeCreated path:ROOT"
	lines, log := s.run(cmd, strings.ReplaceAll(string(script), "ROOT", s.root), func(line string, in io.Writer) {
		if s.mask(line) == last {
			io.WriteString(in, "quit\n") // if it has ended, that is seen in the transcript
		}
	})
	for _, line := range lines {
		line = s.mask(line)
		event, isEvent := strings.CutPrefix(line, "WatchedEvent ")
		switch {
		case isEvent && strings.Contains(event, "path:ROOT"):
			said.Events = append(said.Events, event)
		case isEvent, line == "", line == "WATCHER::", logged.MatchString(line):
		case strings.HasPrefix(line, "digest: "), strings.HasPrefix(line, "ip: "):
			said.Identities = append(said.Identities, line)
		default:
			said.Output = append(said.Output, line)
		}
	}
	slices.Sort(said.Identities)
	for line := range strings.Lines(log) {
		if !logged.MatchString(line) {
			said.Errors = append(said.Errors, s.mask(line))
		}
	}
	return said
}

// mask takes out what is another on each server, and the order of a list.
func (s *server) mask(line string) string {
	line = strings.ReplaceAll(line, s.root, "ROOT")
	line = strings.ReplaceAll(line, s.relay.Address(), "SERVER")
	line = changing.ReplaceAllString(line, "...")
	if list, ok := strings.CutPrefix(line, "["); ok {
		names := strings.Split(strings.TrimSuffix(list, "]"), ", ")
		slices.Sort(names)
		line = fmt.Sprint(names)
	}
	return line
}

// ZooKeeper's command line client says the same on each server.
func TestZkCli(t *testing.T) {
	t.Parallel()
	path, err := findZkCli()
	installed(t, err)
	var mu sync.Mutex
	said := map[string]zkCliTranscript{}
	play := func(s *server) {
		transcript := s.zkCli(path)
		mu.Lock()
		defer mu.Unlock()
		said[s.t.Name()] = transcript
	}
	t.Cleanup(func() { // when all have run
		want, ok := said[t.Name()+"/real"]
		for name, got := range said {
			if diff := cmp.Diff(want, got); ok && diff != "" {
				t.Errorf("%s: what the real server says is -, what this one says is +:\n%s", name, diff)
			}
		}
	})
	onServers(t, play)
	onTool(t, play)
}
