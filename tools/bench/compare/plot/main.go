// Plot draws the results of the benchmark: the rate of a lock by the number of its contenders, the time
// of a hand-over by the length of the queue, the time to load a cache by its size, and, from several
// results, the time of an operation by the distance of the servers.
//
//	go run . directory results.json.gz distance-1ms.json.gz distance-10ms.json.gz
//
// It is in a separate module, so that users of the library do not get its dependencies.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: plot DIRECTORY RESULTS.json[.gz]...")
		os.Exit(2)
	}
	if err := draw(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// chart is a plot of the peers' results for some workloads.
type chart struct {
	file    string
	axes    axes
	points  []point
	figure  func(measure.Run) (value float64, ok bool)
	without []string // peers that are left out, because they are not locks
}

// point is a workload, and its position on the x axis.
type point struct {
	workload string
	x        float64
}

var (
	contenders = []point{{"solo", 1}, {"contend-2", 2}, {"contend-8", 8}, {"contend-32", 32}}
	trees      = []point{{"cache-load-10k", 10_000}, {"cache-load-50k", 50_000}, {"cache-load-100k", 100_000}}
	queues     = []point{{"drain-10", 10}, {"drain-100", 100}, {"drain-300", 300}, {"drain-1000", 1000}}
	floors     = []string{"floor", "floor-list", "floor-pair", "floor-watch"}
)

var charts = []chart{
	{
		file: "contention.svg", axes: axes{"Rate by contenders", "clients on one lock", "acquisitions per second", ticks(contenders), false},
		points: contenders, without: floors,
		figure: func(r measure.Run) (float64, bool) { return r.Rate(), r.Operations > 0 },
	},
	{
		file: "handover.svg", axes: axes{"Hand-over by queue", "waiters in the queue", "ms for each hand-over", ticks(queues), false},
		points: queues, figure: millisEach,
	},
	{
		file: "handover-bytes.svg", axes: axes{"Traffic of a hand-over by queue", "waiters in the queue", "bytes for each hand-over", ticks(queues), false},
		points: queues,
		figure: func(r measure.Run) (float64, bool) {
			if r.Wire == nil {
				return 0, false
			}
			return r.Each(float64(r.Wire.Bytes())), r.Operations > 0
		},
	},
	{
		file: "cache-load.svg", axes: axes{"Loading a cache by its size", "nodes", "ms until it is loaded", ticks(trees), true},
		points: trees, figure: millisEach,
	},
}

// millisEach returns the time of an operation in ms.
func millisEach(r measure.Run) (float64, bool) {
	return r.Each(float64(r.Elapsed)) / 1e6, r.Operations > 0
}

// draw reads results and draws the charts for which they have points: the charts of workloads from the
// first file, and that of distances from all files.
func draw(directory string, paths []string) error {
	var files []*results.File
	for _, path := range paths {
		f, err := results.Read(path)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for _, c := range charts {
		if err := c.axes.save(c.lines(files[0]), filepath.Join(directory, c.file)); err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
	}
	if err := distances(files).save(distanceLines(files), filepath.Join(directory, "distance.svg")); err != nil {
		return fmt.Errorf("distance.svg: %w", err)
	}
	return nil
}
