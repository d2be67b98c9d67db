package results_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// turn returns a turn with the given number of operations in a second.
func turn(workload, peer string, round, operations int) results.Turn {
	return results.Turn{Workload: workload, Peer: peer, Round: round, Run: measure.Run{
		Operations: operations, Elapsed: time.Second,
		Latency: measure.Latency{P50: time.Millisecond, P99: 20 * time.Millisecond, P999: 300 * time.Microsecond},
	}}
}

// sample returns results with two workloads and three peers.
func sample() *results.File {
	f := &results.File{
		Setting: results.Setting{
			Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Go: "go1.25", System: "linux/amd64", CPUs: 2, Others: new(0.07),
			Server: "3.8.0", Servers: 3, Distance: time.Millisecond, Rounds: 3, WarmUp: time.Second, Duration: 2 * time.Second,
		},
		Workloads: []results.Workload{
			{Name: "solo", About: "one client"},
			{Name: "never", About: "done by nobody"},
			{Name: "wait", About: "goroutines wait", Waiters: 5},
		},
		Absent: []results.Absent{
			{Peer: "etcd", Reason: "not\ninstalled | here"},
			{Peer: "java", Workload: "wait", Reason: "failed"},
		},
	}
	for round, ours := range []int{1000, 2000, 600} {
		f.Turns = append(f.Turns,
			turn("solo", results.Ours, round, ours),
			turn("solo", "java", round, 500))
	}
	f.Turns = append(f.Turns, turn("solo", "late", 2, 300))
	wait := turn("wait", results.Ours, 0, 10)
	wait.Run.Wire = &measure.Wire{Requests: 25, Sent: 1000, Received: 2000}
	wait.Run.Cost = &measure.Cost{Allocations: 1000, AllocatedBytes: 2000, CPU: time.Millisecond}
	wait.Run.Memory = &measure.Memory{Heap: 3 * 1024, Stacks: 2 * 1024}
	f.Turns = append(f.Turns, wait)
	return f
}

func TestMarkdown(t *testing.T) {
	golden := filepath.Join("testdata", "table.md")
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := sample().Markdown(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s: -want +got:\n%s", golden, diff)
	}
}

// TestBusyMachine checks that the report of a busy machine says that it is provisional.
func TestBusyMachine(t *testing.T) {
	for want, others := range map[string]*float64{
		"of which others used 45 % before the start.\nEach message is delayed by 1ms, in each direction.\n\n**Other programs used the machine: these results are provisional.**\n": new(0.45),
		"of which others used an unknown part before the start.\nEach message":                                                                                                     nil,
	} {
		f := sample()
		f.Setting.Others = others
		var got bytes.Buffer
		if err := f.Markdown(&got); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("the heading:\n%.600s", got.String())
		}
	}
}

// TestFile writes and reads a file, and reads one that is broken. The name decides whether it is compressed.
func TestFile(t *testing.T) {
	for name, begin := range map[string]string{"results.json": "{\n", "results.json.gz": "\x1f\x8b"} {
		path := filepath.Join(t.TempDir(), name)
		var written []string
		for range 2 {
			if err := sample().Write(path); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			written = append(written, string(text))
		}
		if !strings.HasPrefix(written[0], begin) || written[0] != written[1] {
			t.Errorf("%s begins with %.2q, or is different each time", name, written[0])
		}
		got, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sample(), got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		if err := os.WriteFile(path, []byte("no JSON"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("a broken file: %v", err)
		}
	}
}

func TestRatio(t *testing.T) {
	f := sample()
	for _, tt := range []struct {
		workload, peer string
		want           float64
		ok             bool
	}{
		{"solo", "java", 2, true},       // of 2, 4 and 1.2
		{"solo", "late", 2, true},       // the round that they share
		{"solo", results.Ours, 1, true}, // of itself
		{"solo", "etcd", 0, false},
		{"never", "java", 0, false},
	} {
		if got, ok := f.Ratio(tt.workload, tt.peer); got != tt.want || ok != tt.ok {
			t.Errorf("%s, %s: %v, %t, want %v, %t", tt.workload, tt.peer, got, ok, tt.want, tt.ok)
		}
	}
}

func TestCheck(t *testing.T) {
	with := func(ours, java int) *results.File {
		f := &results.File{Workloads: []results.Workload{{Name: "solo"}}}
		f.Turns = append(f.Turns, turn("solo", results.Ours, 0, ours))
		if java > 0 {
			f.Turns = append(f.Turns, turn("solo", "java", 0, java))
		}
		return f
	}
	recorded := with(2000, 1000)
	for name, tt := range map[string]struct {
		now    *results.File
		slower bool
		fails  bool
		says   string
	}{
		"the same":                 {with(2000, 1000), false, false, "recorded 2.00, now 2.00: as recorded"},
		"both slower":              {with(200, 100), false, false, "as recorded"},
		"within the tolerance":     {with(1600, 1000), false, false, "now 1.60: as recorded"},
		"slower":                   {with(1400, 1000), true, true, "now 1.40: SLOWER"},
		"faster":                   {with(4000, 1000), false, false, "now 4.00: faster"},
		"the other is not there":   {with(2000, 0), false, true, "recorded 2.00, not measured now"},
		"nothing was measured now": {&results.File{}, false, true, "not measured now"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := tt.now.Check(recorded, 0.25, &out)
			if (err != nil) != tt.fails || errors.Is(err, results.ErrSlower) != tt.slower {
				t.Errorf("error %v", err)
			}
			if !strings.Contains(out.String(), tt.says) {
				t.Errorf("says %q", out.String())
			}
		})
	}
}

func TestSignificant(t *testing.T) {
	for x, want := range map[float64]string{
		12345: "12345", 12.345: "12.35", 0.5: "0.50", 0.0631: "0.063", 0.000078: "0.000078", 0.1: "0.10", 0.02: "0.02", 0: "0",
	} {
		if got := results.Significant(x); got != want {
			t.Errorf("%v is shown as %q, want %q", x, got, want)
		}
	}
}
