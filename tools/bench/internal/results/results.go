// Package results has the results of a benchmark. It reads and writes them, makes tables of them, and
// compares them.
package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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

// compressed is the end of the names of files that are compressed.
const compressed = ".gz"

// Read reads a file that Write wrote.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, compressed) {
		if text, err = decompress(text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &f, nil
}

// Write writes the results as JSON. If the name of the file ends with .gz, they are compressed; the same
// results give the same bytes, because the header has neither a name nor a time.
func (f *File) Write(path string) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if strings.HasSuffix(path, compressed) {
		if text, err = compress(text); err != nil {
			return err
		}
	}
	return os.WriteFile(path, text, 0o644)
}

func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func decompress(text []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
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

// Ours is the peer that the others are compared with.
const Ours = "curator"

// Ratio returns how many times as fast as another peer ours is for a workload. It is the median of the
// ratios of the rounds, because rounds differ more than the turns of one round. ok is false if the two
// have no round in common.
func (f *File) Ratio(workload, peer string) (ratio float64, ok bool) {
	ours := f.Runs(workload, Ours)
	var ratios []float64
	for round, theirs := range f.Runs(workload, peer) {
		if our, ok := ours[round]; ok && theirs.Rate() > 0 {
			ratios = append(ratios, our.Rate()/theirs.Rate())
		}
	}
	return measure.SpreadOf(ratios).Median, len(ratios) > 0
}

// ErrSlower is returned by Check if a ratio is too small.
var ErrSlower = errors.New("slower than recorded, compared with other peers")

// Check compares the ratios of f with recorded ones, and writes a line for each. A ratio may be smaller
// than the recorded one by the tolerance, a share of the recorded one.
func (f *File) Check(recorded *File, tolerance float64, out io.Writer) error {
	compared, slower := 0, 0
	for _, w := range recorded.Workloads {
		for _, peer := range recorded.Peers(w.Name) {
			was, ok := recorded.Ratio(w.Name, peer)
			if !ok || peer == Ours {
				continue
			}
			is, ok := f.Ratio(w.Name, peer)
			if !ok {
				if _, err := fmt.Fprintf(out, "%-12s %-14s recorded %s, not measured now\n", w.Name, peer, significant(was)); err != nil {
					return err
				}
				continue
			}
			compared++
			verdict := "as recorded"
			switch {
			case is < was*(1-tolerance):
				verdict = "SLOWER"
				slower++
			case is*(1-tolerance) > was:
				verdict = "faster"
			}
			if _, err := fmt.Fprintf(out, "%-12s %-14s recorded %s, now %s: %s\n", w.Name, peer, significant(was), significant(is), verdict); err != nil {
				return err
			}
		}
	}
	switch {
	case compared == 0:
		return errors.New("no recorded ratio was measured")
	case slower > 0:
		return fmt.Errorf("%w: %d of %d ratios", ErrSlower, slower, compared)
	}
	return nil
}
