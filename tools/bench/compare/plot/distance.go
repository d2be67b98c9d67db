package main

import (
	"cmp"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/go-curator/curator/tools/bench/internal/results"
)

// The peers and the workloads that are drawn by distance. The others are only in the tables.
var (
	travellers = []string{results.Ours, "zk.Lock", "java"}
	journeys   = []string{"contend-8", "solo"}
)

// here is the position of results without a distance, in ms. A logarithmic axis has no 0.
const here = 0.1

// position returns the position of results on the axis.
func position(f *results.File) float64 {
	if f.Setting.Distance == 0 {
		return here
	}
	return float64(f.Setting.Distance) / float64(time.Millisecond)
}

// distances returns the axes for results from several distances.
func distances(files []*results.File) axes {
	a := axes{title: "Operation by distance", x: "ms to the servers, each way", y: "ms for each operation", rises: true}
	for _, f := range files {
		label := f.Setting.Distance.String()
		if f.Setting.Distance == 0 {
			label = "none"
		}
		a.ticks = append(a.ticks, plot.Tick{Value: position(f), Label: label})
	}
	return a
}

// distanceLines returns the lines of the peers that were measured at several distances.
func distanceLines(files []*results.File) []line {
	var lines []line
	for i, workload := range journeys {
		for _, peer := range travellers {
			l := line{peer: peer, about: ", " + workload, dashed: i > 0}
			for _, f := range files {
				if s, ok := f.Spread(workload, peer, millisEach); ok {
					l.points = append(l.points, plotter.XY{X: position(f), Y: s.Median})
				}
			}
			slices.SortFunc(l.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
			if len(l.points) > 1 {
				lines = append(lines, l)
			}
		}
	}
	return lines
}
