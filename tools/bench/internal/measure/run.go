// Package measure has the measurements of a benchmark's run, and computes percentiles, sums and rates
// from them.
package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Run is the result of one peer for one workload in one turn.
type Run struct {
	Operations int           `json:"operations"`
	Elapsed    time.Duration `json:"elapsed_ns"`
	Latency    Latency       `json:"latency"`
	Wire       *Wire         `json:"wire,omitempty"`   // nil if it was not counted
	Cost       *Cost         `json:"cost,omitempty"`   // nil for a peer in another process
	Memory     *Memory       `json:"memory,omitempty"` // for each lock that is held or waiter; nil if it was not measured
}

// Latency has percentiles of the times of single operations.
type Latency struct {
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	P999 time.Duration `json:"p999_ns"`
}

// Wire is the traffic on the network.
type Wire struct {
	Requests int64 `json:"requests"` // 0 for protocols other than ZooKeeper's
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
}

// Sub returns the traffic since before.
func (w Wire) Sub(before Wire) Wire {
	return Wire{w.Requests - before.Requests, w.Sent - before.Sent, w.Received - before.Received}
}

// Add returns the sum of w and other.
func (w Wire) Add(other Wire) Wire {
	return Wire{w.Requests + other.Requests, w.Sent + other.Sent, w.Received + other.Received}
}

// Bytes returns the bytes of both directions.
func (w Wire) Bytes() int64 { return w.Sent + w.Received }

// Cost is the processor time and the allocations of the process.
type Cost struct {
	Allocations    int64         `json:"allocations"`
	AllocatedBytes int64         `json:"allocated_bytes"`
	CPU            time.Duration `json:"cpu_ns"`
}

// Memory is the memory of the process.
type Memory struct {
	Heap   float64 `json:"heap_bytes"` // live objects
	Stacks float64 `json:"stack_bytes"`
}

// Each returns the growth of the memory since before, divided by n.
func (m Memory) Each(before Memory, n int) *Memory {
	return &Memory{(m.Heap - before.Heap) / float64(n), (m.Stacks - before.Stacks) / float64(n)}
}

// Total returns the sum.
func (m Memory) Total() float64 { return m.Heap + m.Stacks }

// Sub returns the cost since before.
func (c Cost) Sub(before Cost) Cost {
	return Cost{c.Allocations - before.Allocations, c.AllocatedBytes - before.AllocatedBytes, c.CPU - before.CPU}
}

// Add returns the sum of c and other.
func (c Cost) Add(other Cost) Cost {
	return Cost{c.Allocations + other.Allocations, c.AllocatedBytes + other.AllocatedBytes, c.CPU + other.CPU}
}

// Rate returns the operations per second.
func (r Run) Rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Operations) / r.Elapsed.Seconds()
}

// Each returns n divided by the number of operations.
func (r Run) Each(n float64) float64 {
	if r.Operations == 0 {
		return 0
	}
	return n / float64(r.Operations)
}

// Summarize returns the percentiles of latencies, which it sorts.
func Summarize(latencies []time.Duration) Latency {
	slices.Sort(latencies)
	return Latency{percentile(latencies, 0.5), percentile(latencies, 0.99), percentile(latencies, 0.999)}
}

// rounding is greater than the rounding error of a share multiplied by a number.
const rounding = 1e-6

// percentile returns the smallest element of sorted that a share of the elements does not exceed.
func percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(share*float64(len(sorted)) - rounding))
	return sorted[max(rank, 1)-1]
}

// Sum returns the sum of several runs. Percentiles cannot be added, so it has their medians. It has no
// Memory.
func Sum(runs []Run) Run {
	var sum Run
	var p50, p99, p999 []float64
	for _, r := range runs {
		sum.Operations += r.Operations
		sum.Elapsed += r.Elapsed
		if r.Wire != nil {
			total := r.Wire.Add(valueOf(sum.Wire))
			sum.Wire = &total
		}
		if r.Cost != nil {
			total := r.Cost.Add(valueOf(sum.Cost))
			sum.Cost = &total
		}
		p50 = append(p50, float64(r.Latency.P50))
		p99 = append(p99, float64(r.Latency.P99))
		p999 = append(p999, float64(r.Latency.P999))
	}
	middle := func(of []float64) time.Duration { return time.Duration(SpreadOf(of).Median) }
	sum.Latency = Latency{middle(p50), middle(p99), middle(p999)}
	return sum
}

// valueOf returns *p, or the zero value if p is nil.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Spread is the median and the range of the values of several rounds.
type Spread struct{ Median, Min, Max float64 }

// SpreadOf returns the spread of values. All its fields are zero if there are none.
func SpreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}

// MaxSamples is the maximum number of latencies of a run that are kept. Usually all are kept.
const MaxSamples = 100_000

// Recorder keeps latencies: all of them while there is room, then a random choice. It is for one
// goroutine, and Add allocates nothing.
type Recorder struct {
	samples []time.Duration
	seen    int
}

// NewRecorders returns a recorder for each of n goroutines, with room for MaxSamples.
func NewRecorders(n int) []*Recorder {
	recorders := make([]*Recorder, n)
	for i := range recorders {
		recorders[i] = &Recorder{samples: make([]time.Duration, 0, max(1, MaxSamples/n))}
	}
	return recorders
}

// Add records a latency.
func (r *Recorder) Add(d time.Duration) {
	r.seen++
	if len(r.samples) < cap(r.samples) {
		r.samples = append(r.samples, d)
	} else if i := rand.IntN(r.seen); i < len(r.samples) {
		r.samples[i] = d
	}
}

// Merge returns the latencies that the recorders have kept.
func Merge(recorders []*Recorder) []time.Duration {
	var all []time.Duration
	for _, r := range recorders {
		all = append(all, r.samples...)
	}
	return all
}
