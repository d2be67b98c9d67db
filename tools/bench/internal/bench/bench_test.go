package bench

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
	"github.com/go-curator/curator/tools/curatortest"
)

// short returns the workloads with small numbers, so that a test can run them.
func short() []workload {
	var all []workload
	for _, w := range workloads() {
		if w.name == "crash" {
			continue
		}
		w.clients, w.waiters = min(w.clients, 8), min(w.waiters, 2*waitersEach)
		all = append(all, w)
	}
	return all
}

// TestWorkloads runs all workloads with the peers of this process on embedded servers, and checks
// the results that do not depend on the machine. Many of the workloads wait most of the time.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	const parts = 4
	kinds, err := choosePeers(nil, "floor,floor-list,floor-pair,floor-watch,raw,curator,curator-v2,zk.Lock", false)
	if err != nil {
		t.Fatal(err)
	}
	var part [parts][]workload
	for i, w := range short() {
		part[i%parts] = append(part[i%parts], w)
	}
	for i, some := range part {
		t.Run(fmt.Sprintf("part %d", i), func(t *testing.T) {
			t.Parallel()
			testWorkloads(t, some, kinds)
		})
	}
}

func testWorkloads(t *testing.T, left []workload, kinds []PeerKind) {
	t.Helper()
	b := newBench(1)
	b.services.zooKeeper = curatortest.Start(t).ConnectString()
	b.timing = timing{10 * time.Millisecond, 50 * time.Millisecond}
	// On a busy machine a workload may not have its turn in such a short time. It has longer then.
	for ; len(left) > 0; b.timing.duration *= 4 {
		if err := b.run(t.Context(), left, kinds); err != nil {
			t.Error(err, b.file.Absent)
			break
		}
		left = slices.DeleteFunc(left, func(w workload) bool { return !b.idle(w.name) })
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	for _, w := range b.file.Workloads {
		peers := b.file.Peers(w.Name)
		if got := strings.Join(peers, " "); got != wantPeers(w.Name) {
			t.Errorf("%s was done by %q", w.Name, got)
		}
		for _, peer := range peers {
			checkRun(t, w, peer, b.file.Runs(w.Name, peer)[0])
		}
	}
}

// idle reports whether a peer has done no operation of a workload in its last turn, or so few that the requests of
// those that were under way at the beginning and the end count among those of each.
func (b *bench) idle(workload string) bool {
	least := 1
	if _, counted := requests[workload]; counted {
		least = 20
	}
	return slices.ContainsFunc(b.file.Peers(workload), func(peer string) bool { return b.file.Runs(workload, peer)[0].Operations < least })
}

// wantPeers returns the peers that have a workload.
func wantPeers(workload string) string {
	switch kind, _, _ := strings.Cut(workload, "-"); kind {
	case "floor":
		return "floor floor-list floor-pair"
	case "solo", "spread":
		return "floor floor-list floor-pair curator zk.Lock"
	case "contend", "drain", "hold", "wait", "goroutines":
		return "floor-watch curator zk.Lock"
	case "throughput":
		return "floor raw curator"
	case "readers":
		return "floor-list floor-pair curator"
	case "semaphore":
		return "curator curator-v2"
	default:
		return "curator"
	}
}

// requests are the numbers of requests of an operation, for workloads in which they do not depend on
// the order of events. Pings add a few.
var requests = map[string]map[string]float64{
	"floor":    {"floor": 2, "floor-list": 3, "floor-pair": 3},
	"drain-10": {"floor-watch": 1, "zk.Lock": 2}, // the requests after the release of the gate
	"solo":     {"floor": 2, "floor-list": 3, "floor-pair": 3, "zk.Lock": 3, results.Ours: 3},
}

func checkRun(t *testing.T, w results.Workload, peer string, run measure.Run) {
	t.Helper()
	if run.Operations == 0 || run.Elapsed <= 0 || run.Cost == nil || run.Wire == nil {
		t.Errorf("%s, %s: %+v", w.Name, peer, run)
		return
	}
	if slices.Contains([]string{"reentry", "cache-get-10k", "discovery-choose"}, w.Name) { // they send no requests
		if run.Each(float64(run.Wire.Requests)) > 0.5 {
			t.Errorf("%s: %d requests for %d operations", w.Name, run.Wire.Requests, run.Operations)
		}
		return
	}
	if want, ok := requests[w.Name][peer]; ok {
		if got := run.Each(float64(run.Wire.Requests)); got < want*0.99 || got > want*1.2 {
			t.Errorf("%s, %s: %.2f requests, want %v", w.Name, peer, got, want)
		}
	}
	if run.Wire.Sent == 0 || run.Wire.Received == 0 || run.Cost.Allocations == 0 {
		t.Errorf("%s, %s: wire %+v, cost %+v", w.Name, peer, run.Wire, run.Cost)
	}
	if measured := slices.Contains([]string{"hold-10k", "wait-10k", "leader-1000"}, w.Name); measured != (run.Memory != nil) {
		t.Errorf("%s, %s: memory of each %v", w.Name, peer, run.Memory)
	}
	if w.Name != "wait-10k" && (run.Latency.P50 <= 0 || run.Latency.P999 < run.Latency.P50) {
		t.Errorf("%s, %s: latencies %+v", w.Name, peer, run.Latency)
	}
	if strings.HasPrefix(w.Name, "drain-") && run.Operations%w.Waiters != 0 {
		t.Errorf("%s, %s: %d hand-overs", w.Name, peer, run.Operations)
	}
}

// TestCrash kills holders. The next contender must not get the lock before the session expires.
func TestCrash(t *testing.T) {
	// All get the session timeouts that they ask for, so that a busy machine does not end a session of those who wait.
	address := curatortest.Start(t, curatortest.WithTickTime(100*time.Millisecond),
		curatortest.WithSessionTimeouts(time.Second, sessionTimeout)).ConnectString()
	for _, name := range []string{results.Ours, "zk.Lock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds, err := choosePeers(nil, name, false)
			if err != nil {
				t.Fatal(err)
			}
			p, err := kinds[0].start(t.Context(), &services{zooKeeper: address})
			if err != nil {
				t.Fatal(err)
			}
			run, err := p.run(t.Context(), workload{local: crash, waiters: 1}, "/bench/"+name, timing{})
			if err != nil {
				t.Fatal(err)
			}
			// The last request of the session may be a third of the timeout ago.
			if run.Operations != 1 || run.Elapsed < time.Second || run.Latency.P50 != run.Elapsed {
				t.Errorf("%+v", run)
			}
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnknownHolder starts a holder for a peer that does not run in this process.
func TestUnknownHolder(t *testing.T) {
	if err := hold(t.Context(), "java", "127.0.0.1:0", "/a"); err == nil {
		t.Error("a holder that is none")
	}
	_, err := startHolder("java", "127.0.0.1:0", "/a")
	if err == nil || !strings.Contains(err.Error(), "java") {
		t.Errorf("start: %v", err)
	}
}

// TestReal runs the whole command on a real server, from the flags to the report.
func TestReal(t *testing.T) {
	server, err := ownAddress(curatortest.Real(t).ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	json := t.TempDir() + "/results.json"
	o := options{
		match: "^solo$", peers: "floor,curator", rounds: 2, servers: 1, outputs: outputs{json: json},
		warmUp: 10 * time.Millisecond, duration: 50 * time.Millisecond, distance: time.Millisecond,
	}
	if err := o.run(t.Context(), func(int) ([]string, func() error, error) {
		return []string{server}, func() error { return nil }, nil
	}); err != nil {
		t.Fatal(err)
	}
	f, err := results.Read(json)
	if err != nil {
		t.Fatal(err)
	}
	runs := f.Runs("solo", results.Ours)
	if len(runs) != 2 || runs[0].Latency.P50 < 4*time.Millisecond {
		t.Errorf("two round trips of 2 ms and more: %+v", runs)
	}
	if len(f.Absent) > 0 || f.Setting.Server == "" || (f.Setting.Others == nil) != (runtime.GOOS != "linux") {
		t.Errorf("%+v, absent %v", f.Setting, f.Absent)
	}
	text, err := os.ReadFile(json)
	if err != nil || !strings.Contains(string(text), `"distance_ns": 1000000`) {
		t.Errorf("%s, %v", text, err)
	}
}
