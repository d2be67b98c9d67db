package zkserver_test

import (
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkserver/tree"
	"github.com/go-curator/curator/tools/curatortest"
)

var record = flag.Bool("record", false, "have the real server write the transcript of its release into testdata")

const tick = 500 * time.Millisecond

// TestDifferential plays the same scripts on a real server and, for each release that it follows, on the
// embedded server, without sockets and with them, and on its state alone. It wants each of them to do what
// a real server of that release once did.
func TestDifferential(t *testing.T) {
	t.Run("Real", func(t *testing.T) {
		dial, release := dialReal(t)
		got := play(t, dial, allScripts())
		if *record {
			recordTranscript(t, release, got)
		}
		compare(t, transcript(t, release), got)
	})
	for _, release := range tree.Releases() {
		recorded := transcript(t, release)
		options := []curatortest.Option{curatortest.WithTickTime(tick), answeringAs(release)}
		t.Run(release.String()+"/TCP", func(t *testing.T) {
			compare(t, recorded, play(t, dialServer(t, curatortest.Start(t, options...)), allScripts()))
		})
		t.Run(release.String()+"/Virtual", func(t *testing.T) {
			compare(t, recorded, playVirtual(t, allScripts(), options...))
		})
		t.Run(release.String()+"/Tree", func(t *testing.T) {
			compare(t, recorded, play(t, newTreeAlone(tick, release).dial, allScripts()))
		})
	}
}

// dialServer returns how to connect to an embedded server.
func dialServer(t *testing.T, s *curatortest.Server) func() (net.Conn, error) {
	return func() (net.Conn, error) { return s.DialContext(t.Context(), "tcp", s.ConnectString()) }
}

// dialReal starts a real server, and returns how to connect to it, and its release.
func dialReal(t *testing.T) (func() (net.Conn, error), tree.Release) {
	server := curatortest.Real(t, curatortest.WithTickTime(tick), curatortest.WithContainerCheckInterval(time.Hour))
	return func() (net.Conn, error) { return net.Dial("tcp", server.ConnectString()) }, releaseOf(t, server.ConnectString())
}

// playVirtual plays scripts on an embedded server in a bubble.
func playVirtual(t *testing.T, scripts []script, options ...curatortest.Option) string {
	var got string
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, append([]curatortest.Option{curatortest.Virtual()}, options...)...)
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
