// Plot draws what the benchmark has found out: how fast a lock is by the number of its
// contenders, and how long a hand-over takes by the length of the queue.
//
//	go run . results.json directory
//
// It is a module of its own, so that what it draws with is nothing to users of the locks.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: plot RESULTS.json DIRECTORY")
		os.Exit(2)
	}
	if err := draw(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// chart is a plot that is to be drawn.
type chart struct {
	file    string
	title   string
	x, y    string
	points  []point
	figure  func(measure.Run) (value float64, ok bool)
	without []string // peers that are no locks
}

// point is a workload, and where it lies.
type point struct {
	workload string
	x        float64
}

var (
	contenders = []point{{"solo", 1}, {"contend-2", 2}, {"contend-8", 8}, {"contend-32", 32}}
	queues     = []point{{"drain-10", 10}, {"drain-100", 100}, {"drain-300", 300}, {"drain-1000", 1000}}
	floors     = []string{"floor", "floor-list"}
)

var charts = []chart{
	{
		file: "contention.svg", title: "Rate by contenders", x: "clients on one lock", y: "acquisitions per second",
		points: contenders, without: floors,
		figure: func(r measure.Run) (float64, bool) { return r.Rate(), r.Operations > 0 },
	},
	{
		file: "handover.svg", title: "Hand-over by queue", x: "waiters in the queue", y: "ms for each hand-over",
		points: queues,
		figure: func(r measure.Run) (float64, bool) { return r.Each(float64(r.Elapsed)) / 1e6, r.Operations > 0 },
	},
	{
		file: "handover-bytes.svg", title: "Traffic of a hand-over by queue", x: "waiters in the queue", y: "bytes for each hand-over",
		points: queues,
		figure: func(r measure.Run) (float64, bool) {
			if r.Wire == nil {
				return 0, false
			}
			return r.Each(float64(r.Wire.Bytes())), r.Operations > 0
		},
	},
}

// draw reads results and draws the charts for which they have points.
func draw(file, directory string) error {
	f, err := results.Read(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for _, c := range charts {
		lines := c.lines(f)
		if len(lines) == 0 {
			continue
		}
		if err := c.save(lines, filepath.Join(directory, c.file)); err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
	}
	return nil
}
