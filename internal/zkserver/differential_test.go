package zkserver_test

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

var record = flag.Bool("record", false, "have the real server write "+transcript)

// transcript is what ZooKeeper 3.8.0 did when it was last asked with -record.
const transcript = "testdata/zookeeper-3.8.0.txt"

const tick = 500 * time.Millisecond

// TestDifferential plays the same scripts on the embedded server, without sockets and with
// them, on its state alone, and on a real one, and wants each of them to do what the real one
// once did.
func TestDifferential(t *testing.T) {
	recorded, err := os.ReadFile(transcript)
	if err != nil && !*record {
		t.Fatal(err)
	}
	t.Run("Real", func(t *testing.T) {
		got := play(t, dialReal(t), allScripts())
		if *record {
			recorded = []byte(got)
			if err := os.WriteFile(transcript, recorded, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, string(recorded), got)
	})
	t.Run("TCP", func(t *testing.T) {
		compare(t, string(recorded), play(t, dialServer(t, curatortest.Start(t, curatortest.WithTickTime(tick))), allScripts()))
	})
	t.Run("Virtual", func(t *testing.T) {
		compare(t, string(recorded), playVirtual(t, allScripts()))
	})
	t.Run("Tree", func(t *testing.T) {
		compare(t, string(recorded), play(t, newTreeAlone(tick).dial, allScripts()))
	})
}

// dialServer returns how to connect to an embedded server.
func dialServer(t *testing.T, s *curatortest.Server) func() (net.Conn, error) {
	return func() (net.Conn, error) { return s.DialContext(t.Context(), "tcp", s.ConnectString()) }
}

// dialReal starts a real server, and returns how to connect to it.
func dialReal(t *testing.T) func() (net.Conn, error) {
	server := curatortest.Real(t, curatortest.WithTickTime(tick), curatortest.WithContainerCheckInterval(time.Hour))
	return func() (net.Conn, error) { return net.Dial("tcp", server.ConnectString()) }
}

// playVirtual plays scripts on an embedded server in a bubble.
func playVirtual(t *testing.T, scripts []script) string {
	var got string
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(tick))
		got = play(t, dialServer(t, server), scripts)
	})
	return got
}

// compare fails with the first lines that differ, and those before them.
func compare(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(wants), len(gots)) && wants[i] == gots[i] {
		i++
	}
	context := strings.Join(wants[max(0, i-8):i], "\n")
	t.Errorf("line %d differs:\n%s\nwant\n%s\ngot\n%s", i+1, context, excerpt(wants, i), excerpt(gots, i))
}

func excerpt(lines []string, from int) string {
	if from >= len(lines) {
		return fmt.Sprintf("nothing after %d lines", len(lines))
	}
	return strings.Join(lines[from:min(len(lines), from+6)], "\n")
}
