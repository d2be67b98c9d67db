package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/tools/curatortest"
)

// foreignTimeout is how long a program that is not ours may run.
const foreignTimeout = time.Minute

// server is what clients that are not ours use.
type server struct {
	t        *testing.T
	relay    *relay              // before the server
	root     string              // a path of this test alone, that is not there yet
	observer *framework.Client   // past the relay
	embedded *curatortest.Server // nil if the server is another one
}

var roots atomic.Int64

// onServers runs a test on the embedded server, and on a real one, which tells whether the
// test asks for the right things. Both run at the same time, and after onServers has returned.
func onServers(t *testing.T, test func(s *server)) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		embedded := curatortest.Start(t, curatortest.WithTickTime(suite.Tick))
		s := newServer(t, embedded.ConnectString())
		s.embedded = embedded
		test(s)
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(newServer(t, suite.Real(t).ConnectString()))
	})
}

func newServer(t *testing.T, connectString string) *server {
	t.Helper()
	return &server{
		t:     t,
		relay: newRelay(t, connectString),
		root:  fmt.Sprintf("/foreign-%d-%04d", os.Getpid(), roots.Add(1)),
		observer: curatortest.NewClient(t, connectString, framework.WithSessionTimeout(suite.LongSession),
			framework.WithDefaultData([]byte{}), framework.WithLogger(slog.New(slog.DiscardHandler))),
	}
}

// check runs a program that checks the server. Its last line is "done". Before, a line may
// ask for an outage, during which something changes: "outage", followed by "create",
// "delete" or "set", each with a path. An empty line on its input tells it that it is over.
func (s *server) check(cmd *exec.Cmd) {
	s.t.Helper()
	lines, log := s.run(cmd, "", func(line string, in io.Writer) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "outage" {
			return
		}
		s.relay.outage(func() {
			for change := range slices.Chunk(words[1:], 2) {
				s.change(change[0], change[1])
			}
		})
		io.WriteString(in, "\n") // if it has ended, that is seen below
	})
	if len(lines) == 0 || lines[len(lines)-1] != "done" {
		s.t.Errorf("it has not got to its end:\n%s\n%s", strings.Join(lines, "\n"), log)
	}
}

// change does what a program cannot do while it is cut off.
func (s *server) change(what, path string) {
	s.t.Helper()
	var err error
	switch what {
	case "create":
		_, err = s.observer.Create().ForPath(s.t.Context(), path)
	case "delete":
		err = s.observer.Delete().ForPath(s.t.Context(), path)
	case "set":
		_, err = s.observer.SetData().ForPath(s.t.Context(), path, []byte("changed"))
	default:
		s.t.Fatalf("no such change: %q", what)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// run runs a program to its end, and returns the lines of its output and what it has said
// on its standard error. heard is called with each line as it comes, and with the input,
// which has been given the first lines. A program that fails, fails the test.
func (s *server) run(cmd *exec.Cmd, input string, heard func(line string, in io.Writer)) (lines []string, log string) {
	s.t.Helper()
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(s.t.Context(), foreignTimeout)
	process := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	process.Env = cmd.Env
	endWithParent(process)
	process.Cancel = func() error { return killGroup(process) }
	var stderr bytes.Buffer
	process.Stderr = &stderr
	in, err := process.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer func() { // when heard ends the test
		cancel()
		process.Wait()
	}()
	io.WriteString(in, input) // if it has ended, that is seen below
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		heard(scanner.Text(), in)
	}
	if err := process.Wait(); err != nil {
		s.t.Fatalf("%v: %v, %v\n%s\n%s", cmd, err, ctx.Err(), strings.Join(lines, "\n"), &stderr)
	}
	return lines, stderr.String()
}

// relay stands between clients that are not ours and a server, to cut their connections.
type relay struct{ *netfault.Proxy }

// newRelay starts a relay that ends with the test.
func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	p, err := netfault.NewProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	p.Start()
	t.Cleanup(p.Close)
	return &relay{p}
}

// outage cuts every connection, and connects nobody until during has returned.
func (r *relay) outage(during func()) {
	defer r.Hold(netfault.Both)()
	r.Disconnect()
	during()
}
