package main

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/go-curator/curator/tools/bench/internal/results"
)

// line is the line of a peer.
type line struct {
	peer   string
	about  string // is added to the peer's name in the legend
	dashed bool
	points plotter.XYs
}

// lines returns the lines of the peers that have at least one point.
func (c chart) lines(f *results.File) []line {
	var lines []line
	for _, peer := range c.peers(f) {
		l := line{peer: peer}
		for _, p := range c.points {
			if s, ok := f.Spread(p.workload, peer, c.figure); ok {
				l.points = append(l.points, plotter.XY{X: p.x, Y: s.Median})
			}
		}
		if len(l.points) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// peers returns the peers that have run one of the workloads, ours first.
func (c chart) peers(f *results.File) []string {
	var peers []string
	for _, p := range c.points {
		for _, peer := range f.Peers(p.workload) {
			if !slices.Contains(peers, peer) && !slices.Contains(c.without, peer) {
				peers = append(peers, peer)
			}
		}
	}
	slices.SortStableFunc(peers, func(a, b string) int {
		switch {
		case a == results.Ours && b != results.Ours:
			return -1
		case b == results.Ours && a != results.Ours:
			return 1
		}
		return 0
	})
	return peers
}

// axes has the titles and axes of a plot.
type axes struct {
	title string
	x, y  string
	ticks plot.ConstantTicks // of x
	rises bool               // there is room for the legend on the left, not on the right
}

// save draws lines, if there are any. Both axes are logarithmic, because ratios matter.
func (a axes) save(lines []line, file string) error {
	if len(lines) == 0 {
		return nil
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = a.title, a.x, a.y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = a.ticks, plot.TickerFunc(decades)
	p.Legend.Top, p.Legend.Left = true, a.rises
	p.Add(plotter.NewGrid())
	var peers []string // each peer has its own colour
	for _, l := range lines {
		if !slices.Contains(peers, l.peer) {
			peers = append(peers, l.peer)
		}
		i := slices.Index(peers, l.peer)
		drawn, dots, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return err
		}
		drawn.Color, dots.Color = plotutil.Color(i), plotutil.Color(i)
		dots.Shape = plotutil.Shape(i)
		if l.peer == results.Ours {
			drawn.Width = vg.Points(2.5)
		}
		if l.dashed {
			drawn.Dashes = []vg.Length{vg.Points(4), vg.Points(4)}
		}
		p.Add(drawn, dots)
		p.Legend.Add(l.peer+l.about, drawn, dots)
	}
	if !a.rises {
		p.X.Max *= 3 // room for the legend
	}
	return p.Save(20*vg.Centimeter, 12*vg.Centimeter, file)
}

// decades returns ticks at 1, 2 and 5 times the powers of 10.
func decades(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if v := power * step; v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
			}
		}
	}
	return ticks
}

// ticks returns a tick at each point.
func ticks(points []point) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, p := range points {
		ticks = append(ticks, plot.Tick{Value: p.x, Label: strconv.Itoa(int(p.x))})
	}
	return ticks
}

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
