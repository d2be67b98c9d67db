//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// addresses counts the addresses that freeAddress has returned.
var addresses atomic.Int32

// freeAddress returns an address that nothing listens at. A free port of 127.0.0.1 could be taken
// a moment later, as the source port of a connection. On Linux each test process therefore uses
// loopback addresses that no other process uses.
func freeAddress(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		pid := os.Getpid()
		return fmt.Sprintf("127.%d.%d.%d:2181", pid>>8&0xff, pid&0xff, addresses.Add(1)%250+2)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// startsServer is in the message of a process that starts the embedded server.
const startsServer = "started the embedded server"

func startEmbedded(t *testing.T, address string, args ...string) *process {
	t.Helper()
	return start(t, append([]string{"lock", "--embedded", "--connect", address, "/lock"}, args...)...)
}

// newWatcher returns a client of the server at address, whose session keeps the server running. The
// server may end before the client.
func newWatcher(t *testing.T, address string) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(address, retry.NTimes(50, 100*time.Millisecond), silent)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(t.Context()) }) // fails if there is no server
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestEmbeddedAlone(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	last := int64(0)
	for range 5 { // each process starts a new server, and the tokens rise nevertheless
		p := startEmbedded(t, address, "--", "sh", "-c", "echo $CURATOR_FENCING_TOKEN; exit 3")
		p.wantExit(3, startsServer)
		token, err := strconv.ParseInt(strings.TrimSpace(p.out.String()), 10, 64)
		if err != nil || token <= last || token > 1<<53 {
			t.Fatalf("token %q after %d, %v", &p.out, last, err)
		}
		last = token
	}
}

// The locks of several processes that can all start the server exclude each other. One process runs
// the server, and keeps it running while others use it.
func TestEmbeddedExclusion(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	journal := writeFile(t, "journal", "", 0o600)
	script := `echo "in $CURATOR_FENCING_TOKEN" >>"$1"; echo "out $CURATOR_FENCING_TOKEN" >>"$1"`
	const processes, rounds = 4, 10
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			for range rounds {
				p := startEmbedded(t, address, "--", "sh", "-c", script, "sh", journal)
				if code := p.wait(); code != 0 {
					t.Errorf("exit code %d, stderr %q", code, &p.err)
				}
			}
		})
	}
	wg.Wait()
	if n := checkJournal(t, journal); n != processes*rounds {
		t.Errorf("%d rounds, want %d", n, processes*rounds)
	}
}

// The process that runs the server does not end while other sessions use the server, and says so.
func TestEmbeddedLingers(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	first := startEmbedded(t, address, "--", "sh", "-c", "echo in; cat; exit 4")
	first.untilOut("in\n")
	second := startEmbedded(t, address, "--", "sh", "-c", "echo in; cat; exit 5")
	client := newWatcher(t, address)
	suite.Eventually(t, "two contenders", func() bool {
		names, err := client.GetChildren().ForPath(t.Context(), "/lock")
		return err == nil && len(names) == 2
	})
	if err := client.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.stdin.Close()
	first.untilErr("other sessions use the embedded server")
	second.untilOut("in\n")
	second.stdin.Close()
	second.wantExit(5) // without the message that it has started a server
	first.wantExit(4, startsServer, "other sessions use the embedded server")
}

// A signal ends the wait for other sessions. The exit code is that of CMD.
func TestEmbeddedLingeringEnds(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := startEmbedded(t, address, "--", "sh", "-c", "echo in; cat; exit 4")
		p.untilOut("in\n")
		newWatcher(t, address)
		p.stdin.Close()
		p.untilErr("other sessions")
		p.signal(sig)
		p.wantExit(4, startsServer, "other sessions")
	}
}

// When the process that runs the server dies, a waiting process starts a new server.
func TestEmbeddedTakeover(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	first := startEmbedded(t, address, "--", "sh", "-c", "echo in $CURATOR_FENCING_TOKEN; cat")
	suite.Eventually(t, "the first", func() bool { return strings.HasSuffix(first.out.String(), "\n") })
	client := newWatcher(t, address)
	var waiters []*process
	for i := range 3 {
		waiters = append(waiters, startEmbedded(t, address, "--", "sh", "-c", "echo in $CURATOR_FENCING_TOKEN"))
		suite.Eventually(t, "the waiter", func() bool {
			names, err := client.GetChildren().ForPath(t.Context(), "/lock")
			return err == nil && len(names) == i+2
		})
	}
	if err := client.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.signal(syscall.SIGKILL)
	first.wait()
	tokens := map[int64]bool{}
	least := tokenOf(t, first)
	servers := 0
	for _, w := range waiters {
		if code := w.wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		token := tokenOf(t, w)
		if token <= least || tokens[token] {
			t.Errorf("token %d, the first had %d", token, least)
		}
		tokens[token] = true
		servers += strings.Count(w.err.String(), startsServer)
	}
	if servers == 0 {
		t.Error("nobody has said that it started a server")
	}
}

// When the process that runs the server dies, a held lock is lost: the new server does not have it.
func TestEmbeddedServerDies(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	server := start(t, "server", "--listen", address)
	server.untilOut(address + " embedded ZooKeeper server; " + keepsNothing + "\n")
	holder := startEmbedded(t, address, "--", "sh", "-c", "echo in; sleep 60")
	holder.untilOut("in\n")
	server.signal(syscall.SIGKILL)
	holder.wantExit(76, startsServer, "lock lost: session expired")
}

func tokenOf(t *testing.T, p *process) int64 {
	t.Helper()
	var token int64
	if _, err := fmt.Sscanf(p.out.String(), "in %d", &token); err != nil {
		t.Fatal(err)
	}
	return token
}

// A server that runs already is used, whichever process has started it.
func TestEmbeddedUsesAServer(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	start(t, "lock", "--embedded", "--connect", s.connect, s.path, "--", "true").wantExit(0)
	s.wantFree()
}

func TestServer(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := start(t, "server", "--listen", address)
		p.untilOut(address + " embedded ZooKeeper server; " + keepsNothing + "\n")
		start(t, "server", "--listen", address).wantExit(69, "cannot listen at "+address)
		start(t, "lock", "--connect", address, "/lock", "--", "true").wantExit(0)
		client := newWatcher(t, address)
		if names, err := client.GetChildren().ForPath(t.Context(), "/lock"); err != nil || len(names) > 0 {
			t.Errorf("left behind: %q, %v", names, err)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		p.signal(sig)
		p.wantExit(0)
	}
	p := start(t, "server", "--listen", "0.0.0.0:0")
	p.untilErr("can be reached from other machines")
	p.signal(syscall.SIGTERM)
	p.wantExit(0, "can be reached from other machines")
}

// curator server does not wait for its clients when it ends.
func TestServerWithClients(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	p := start(t, "server", "--listen", address)
	p.untilOut(address + " embedded ZooKeeper server; " + keepsNothing + "\n")
	newWatcher(t, address)
	begun := time.Now()
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
	if took := time.Since(begun); took > late {
		t.Errorf("it took %v", took)
	}
}
