package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// TestForeign runs workloads on a peer in another process, directly and through a relay.
func TestForeign(t *testing.T) {
	for name, relayed := range map[string]bool{"direct": false, "relayed": true} {
		t.Run(name, func(t *testing.T) {
			s := &services{servers: []string{"127.0.0.1:0"}, relayed: relayed, warmUp: time.Millisecond, dir: t.TempDir()}
			p, err := OnZooKeeper("scripted", false, thisProgram).start(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.close(); err != nil {
					t.Error(err)
				}
			}()
			testForeign(t, p, relayed)
		})
	}
}

func testForeign(t *testing.T, p peer, relayed bool) {
	times := timing{7 * time.Millisecond, 9 * time.Millisecond}
	run, err := p.run(t.Context(), workload{kind: protocol.Solo, clients: 3, waiters: 4}, "/a", times)
	if err != nil {
		t.Fatal(err)
	}
	warmUp := 7 * time.Microsecond
	if relayed {
		warmUp = 0 // it was a separate request
	}
	if run.Operations != 9 || run.Elapsed != warmUp || run.Latency != (measure.Latency{P50: 3, P99: 4, P999: 4}) {
		t.Errorf("the answer to what was asked: %+v", run)
	}
	if (run.Wire != nil) != relayed {
		t.Errorf("wire %+v", run.Wire)
	}
	if run, err := p.run(t.Context(), workload{kind: protocol.Drain}, "/a", times); err != nil || run.Wire != nil {
		t.Errorf("drain: %+v, %v", run, err)
	}
	for _, kind := range []string{"", protocol.Readers} {
		if _, err := p.run(t.Context(), workload{kind: kind}, "/a", times); !errors.Is(err, errUnsupported) {
			t.Errorf("workload %q: %v", kind, err)
		}
	}
	if _, err := p.run(t.Context(), workload{kind: protocol.Semaphore}, "/a", times); err == nil || !strings.Contains(err.Error(), "no leases") {
		t.Errorf("a workload that fails: %v", err)
	}
}

// TestForeignCrash kills processes of a peer that hold a lock, while another process waits.
func TestForeignCrash(t *testing.T) {
	s := &services{servers: []string{"127.0.0.1:0"}, dir: t.TempDir()}
	p, err := OnZooKeeper("scripted", false, thisProgram).start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	crash := workload{kind: protocol.Hold, waiters: 2}
	run, err := p.run(t.Context(), crash, t.TempDir(), timing{})
	if err != nil || run.Operations != 2 || run.Latency.P50 <= 0 || run.Elapsed < run.Latency.P99 {
		t.Errorf("%+v, %v", run, err)
	}
	if _, err := p.run(t.Context(), crash, "/no/such/lock", timing{}); !strings.Contains(fmt.Sprint(err), "/no/such/lock/0") {
		t.Errorf("nobody holds it: %v", err)
	}
	for _, name := range []string{"unlocked", "long-ago"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := p.run(t.Context(), crash, path, timing{}); err == nil || err.Error() != "the lock was granted while it was held" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.close(); err != nil { // the process of p was not killed
		t.Error(err)
	}
}

// TestForeignAbsent starts a peer whose service is not installed.
func TestForeignAbsent(t *testing.T) {
	missing := errors.New("not installed")
	kind := OnService("scripted", func(context.Context) (Service, error) { return nil, missing }, thisProgram)
	b := newBench(2)
	b.services.dir = t.TempDir()
	if err := b.run(t.Context(), []workload{{name: "one"}, {name: "two"}}, []PeerKind{kind}); err != nil {
		t.Error(err)
	}
	if len(b.file.Absent) != 1 || b.file.Absent[0] != (results.Absent{Peer: "scripted", Reason: missing.Error()}) {
		t.Errorf("absent: %+v", b.file.Absent)
	}
	if entries, err := os.ReadDir(b.services.dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestRelays sends two frames to a server and back, and closes the relay under the connection.
func TestRelays(t *testing.T) {
	const delay = 30 * time.Millisecond
	address := suite.Echo(t)
	frames := []byte("\x00\x00\x00\x03abc\x00\x00\x00\x01d")
	for name, test := range map[string]struct{ delay, atLeast time.Duration }{
		"near": {0, 0},
		"far":  {delay, 2 * delay},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := newRelays([]string{address}, test.delay)
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			conn, err := net.Dial("tcp", r.address())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begin := time.Now()
			if _, err := conn.Write(frames); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(conn, make([]byte, len(frames))); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took < test.atLeast {
				t.Errorf("there and back in %v", took)
			}
			want := measure.Wire{Requests: 2, Sent: int64(len(frames)), Received: int64(len(frames))}
			if got := r.counter.Total(); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			r.close()
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("the connection goes on")
			}
		})
	}
}

// TestLonelyRelay connects to a relay whose server does not listen.
func TestLonelyRelay(t *testing.T) {
	lonely, err := newRelays([]string{"127.0.0.1:0"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lonely.close()
	conn, err := net.Dial("tcp", lonely.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("an answer without a server")
	}
}
