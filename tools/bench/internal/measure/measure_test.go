package measure_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// counted returns the durations from 1 to n, the highest first.
func counted(n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(n - i)
	}
	return all
}

func TestSummarize(t *testing.T) {
	for name, tt := range map[string]struct {
		latencies []time.Duration
		want      measure.Latency
	}{
		"none":     {nil, measure.Latency{}},
		"one":      {counted(1), measure.Latency{P50: 1, P99: 1, P999: 1}},
		"two":      {counted(2), measure.Latency{P50: 1, P99: 2, P999: 2}},
		"hundred":  {counted(100), measure.Latency{P50: 50, P99: 99, P999: 100}},
		"between":  {counted(150), measure.Latency{P50: 75, P99: 149, P999: 150}},
		"thousand": {counted(1000), measure.Latency{P50: 500, P99: 990, P999: 999}},
		"many":     {counted(100_000), measure.Latency{P50: 50_000, P99: 99_000, P999: 99_900}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := measure.Summarize(tt.latencies); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSpreadOf(t *testing.T) {
	for _, tt := range []struct {
		figures []float64
		want    measure.Spread
	}{
		{nil, measure.Spread{}},
		{[]float64{3}, measure.Spread{Median: 3, Min: 3, Max: 3}},
		{[]float64{4, 1}, measure.Spread{Median: 2.5, Min: 1, Max: 4}},
		{[]float64{9, 1, 2}, measure.Spread{Median: 2, Min: 1, Max: 9}},
		{[]float64{9, 1, 2, 4}, measure.Spread{Median: 3, Min: 1, Max: 9}},
	} {
		before := slices.Clone(tt.figures)
		if got := measure.SpreadOf(tt.figures); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.figures, got, tt.want)
		}
		if !slices.Equal(before, tt.figures) {
			t.Error("the figures were sorted in place")
		}
	}
}

// TestRecorder adds more latencies than a recorder keeps. It must keep a random choice of all, not the
// first or the last ones.
func TestRecorder(t *testing.T) {
	const rounds = 4
	recorders := measure.NewRecorders(2)
	for i := range measure.MaxSamples / 2 * rounds {
		recorders[0].Add(time.Duration(i))
	}
	recorders[1].Add(-1)
	kept := measure.Merge(recorders)
	if len(kept) != measure.MaxSamples/2+1 || kept[len(kept)-1] != -1 {
		t.Fatalf("%d samples, the last %v", len(kept), kept[len(kept)-1])
	}
	kept = kept[:len(kept)-1]
	slices.Sort(kept)
	if len(slices.Compact(slices.Clone(kept))) != len(kept) {
		t.Error("samples that were added once are there twice")
	}
	// If the choice is uniform, the median of 200,000 latencies is off by less than 1 %.
	middle, want := float64(kept[len(kept)/2]), float64(measure.MaxSamples/2*rounds)/2
	if middle < want*0.97 || middle > want*1.03 {
		t.Errorf("the median is %.0f, want about %.0f", middle, want)
	}
}

func TestRecorderAllocatesNothing(t *testing.T) {
	recorder := measure.NewRecorders(1)[0]
	if n := testing.AllocsPerRun(100, func() { recorder.Add(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRun(t *testing.T) {
	run := measure.Run{Operations: 300, Elapsed: 2 * time.Second}
	if run.Rate() != 150 || run.Each(600) != 2 {
		t.Errorf("rate %v, each %v", run.Rate(), run.Each(600))
	}
	var none measure.Run
	if none.Rate() != 0 || none.Each(5) != 0 {
		t.Errorf("of nothing: rate %v, each %v", none.Rate(), none.Each(5))
	}
}

func TestSum(t *testing.T) {
	latency := func(d time.Duration) measure.Latency { return measure.Latency{P50: d, P99: 2 * d, P999: 3 * d} }
	got := measure.Sum([]measure.Run{
		{
			Operations: 10, Elapsed: 5, Latency: latency(1),
			Wire: &measure.Wire{Requests: 1, Sent: 2, Received: 3}, Cost: &measure.Cost{Allocations: 4, AllocatedBytes: 5, CPU: 6},
		},
		{
			Operations: 20, Elapsed: 6, Latency: latency(100),
			Wire: &measure.Wire{Requests: 10, Sent: 20, Received: 30}, Cost: &measure.Cost{Allocations: 40, AllocatedBytes: 50, CPU: 60},
		},
		{Operations: 30, Elapsed: 7, Latency: latency(3)},
	})
	want := measure.Run{
		Operations: 60, Elapsed: 18, Latency: latency(3),
		Wire: &measure.Wire{Requests: 11, Sent: 22, Received: 33}, Cost: &measure.Cost{Allocations: 44, AllocatedBytes: 55, CPU: 66},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDifferences subtracts values that were added before.
func TestDifferences(t *testing.T) {
	w := measure.Wire{Requests: 1, Sent: 20, Received: 300}
	if got := w.Add(w).Sub(w); got != w || w.Bytes() != 320 {
		t.Errorf("%+v, %d bytes", got, w.Bytes())
	}
	c := measure.Cost{Allocations: 1, AllocatedBytes: 20, CPU: 300}
	if got := c.Add(c).Sub(c); got != c {
		t.Errorf("%+v", got)
	}
}

var sink [][]byte

// TestProcess measures a known cost: 1,000 allocations of 10 KiB that stay in memory.
func TestProcess(t *testing.T) {
	const n, size = 1000, 10 << 10
	live, spent := measure.Live(), measure.Spent()
	for range n {
		sink = append(sink, make([]byte, size))
	}
	cost := measure.Spent().Sub(spent)
	if cost.Allocations < n || cost.Allocations > 2*n || cost.AllocatedBytes < n*size || cost.CPU < 0 {
		t.Errorf("cost %+v", cost)
	}
	if each := measure.Live().Each(live, n); each.Heap < size || each.Heap > size*3/2 {
		t.Errorf("%v bytes more are live for each", each.Heap)
	}
	sink = nil
	if each := measure.Live().Each(live, n); each.Heap > size/2 {
		t.Errorf("%v bytes more are live for each when all are let go", each.Heap)
	}
	testStacks(t)
}

// testStacks measures goroutines with stacks of at least 16 KiB.
func testStacks(t *testing.T) {
	const n, size = 100, 16 << 10
	live := measure.Live()
	release, ready := make(chan struct{}), make(chan byte)
	for range n {
		go func() {
			var onStack [size]byte
			ready <- 0
			<-release
			ready <- sum(&onStack)
		}()
	}
	for range n {
		<-ready
	}
	if each := measure.Live().Each(live, n); each.Stacks < size || each.Total() < size {
		t.Errorf("%+v for each", each)
	}
	close(release)
	for range n {
		<-ready
	}
}

//go:noinline
func sum(bytes *[16 << 10]byte) (n byte) {
	for _, b := range bytes {
		n += b
	}
	return n
}
