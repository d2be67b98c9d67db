package results

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// File has all results of a run of the benchmark.
type File struct {
	Setting   Setting    `json:"setting"`
	Workloads []Workload `json:"workloads"` // in the order of the report
	Absent    []Absent   `json:"absent,omitempty"`
	Turns     []Turn     `json:"turns"`
}

// Setting describes where and how the benchmark was run.
type Setting struct {
	Date     time.Time     `json:"date"`
	Go       string        `json:"go"`
	System   string        `json:"system"`
	CPUs     int           `json:"cpus"`
	Others   *float64      `json:"others,omitempty"`   // the share of the CPUs that other programs used before the start; nil if unknown
	Server   string        `json:"server"`             // the version of the servers
	Servers  int           `json:"servers"`            // the number of servers
	Unsynced bool          `json:"unsynced,omitempty"` // the servers answer before their log is on the disk
	Running  bool          `json:"running,omitempty"`  // the servers ran before, so only their version is known
	Distance time.Duration `json:"distance_ns"`
	Relayed  bool          `json:"relayed"` // foreign peers had relays, so that their messages were counted
	Rounds   int           `json:"rounds"`
	WarmUp   time.Duration `json:"warm_up_ns"`
	Duration time.Duration `json:"duration_ns"`
}

// Workload has the turns of all peers for one workload.
type Workload struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Clients int    `json:"clients,omitempty"`
	Waiters int    `json:"waiters,omitempty"`
}

// Absent is a peer that was not measured, or not for all workloads.
type Absent struct {
	Peer     string `json:"peer"`
	Workload string `json:"workload,omitempty"` // empty for all workloads
	Reason   string `json:"reason"`
}

// Turn is the result of a peer in one round of a workload.
type Turn struct {
	Workload string      `json:"workload"`
	Peer     string      `json:"peer"`
	Round    int         `json:"round"`
	Run      measure.Run `json:"run"`
}

// Read reads a file that Write wrote.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &f, nil
}

// Write writes the results as JSON.
func (f *File) Write(path string) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Peers returns the peers that have run a workload, in the order of their turns.
func (f *File) Peers(workload string) []string {
	var peers []string
	for _, t := range f.Turns {
		if t.Workload == workload && !slices.Contains(peers, t.Peer) {
			peers = append(peers, t.Peer)
		}
	}
	return peers
}

// Runs returns the results of a peer for a workload, by round.
func (f *File) Runs(workload, peer string) map[int]measure.Run {
	runs := map[int]measure.Run{}
	for _, t := range f.Turns {
		if t.Workload == workload && t.Peer == peer {
			runs[t.Round] = t.Run
		}
	}
	return runs
}

// Spread returns the spread of a peer's values over the rounds of a workload. ok is false if there are
// none.
func (f *File) Spread(workload, peer string, figure func(measure.Run) (value float64, ok bool)) (s measure.Spread, ok bool) {
	var values []float64
	for _, run := range f.Runs(workload, peer) {
		if v, ok := figure(run); ok {
			values = append(values, v)
		}
	}
	return measure.SpreadOf(values), len(values) > 0
}
