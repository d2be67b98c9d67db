package results

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// File is a whole benchmark.
type File struct {
	Setting   Setting    `json:"setting"`
	Workloads []Workload `json:"workloads"` // in the order of the report
	Absent    []Absent   `json:"absent,omitempty"`
	Turns     []Turn     `json:"turns"`
}

// Setting is where and how the benchmark was run.
type Setting struct {
	Date     time.Time     `json:"date"`
	Go       string        `json:"go"`
	System   string        `json:"system"`
	CPUs     int           `json:"cpus"`
	Others   *float64      `json:"others,omitempty"`   // their share of the CPUs before the start; nil if unknown
	Server   string        `json:"server"`             // its version
	Servers  int           `json:"servers"`            // 1, or those of an ensemble
	Unsynced bool          `json:"unsynced,omitempty"` // the servers answer before their log is on the disk
	Running  bool          `json:"running,omitempty"`  // the servers ran before: nothing is known of them but the version that they tell
	Distance time.Duration `json:"distance_ns"`
	Relayed  bool          `json:"relayed"` // foreign peers, too, so that what they send is counted
	Rounds   int           `json:"rounds"`
	WarmUp   time.Duration `json:"warm_up_ns"`
	Duration time.Duration `json:"duration_ns"`
}

// Workload is what peers were measured at.
type Workload struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Clients int    `json:"clients,omitempty"`
	Waiters int    `json:"waiters,omitempty"`
}

// Absent is a peer that was not measured, or not at everything.
type Absent struct {
	Peer     string `json:"peer"`
	Workload string `json:"workload,omitempty"` // empty for all
	Reason   string `json:"reason"`
}

// Turn is what a peer did in one round of a workload.
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

// Write writes the figures as JSON.
func (f *File) Write(path string) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Peers returns who has done a workload, in the order of their turns.
func (f *File) Peers(workload string) []string {
	var peers []string
	for _, t := range f.Turns {
		if t.Workload == workload && !slices.Contains(peers, t.Peer) {
			peers = append(peers, t.Peer)
		}
	}
	return peers
}

// Runs returns what a peer did of a workload, by round.
func (f *File) Runs(workload, peer string) map[int]measure.Run {
	runs := map[int]measure.Run{}
	for _, t := range f.Turns {
		if t.Workload == workload && t.Peer == peer {
			runs[t.Round] = t.Run
		}
	}
	return runs
}

// Spread returns how a figure of a peer lies over the rounds of a workload; ok is false if
// it has none.
func (f *File) Spread(workload, peer string, figure func(measure.Run) (value float64, ok bool)) (s measure.Spread, ok bool) {
	var values []float64
	for _, run := range f.Runs(workload, peer) {
		if v, ok := figure(run); ok {
			values = append(values, v)
		}
	}
	return measure.SpreadOf(values), len(values) > 0
}
