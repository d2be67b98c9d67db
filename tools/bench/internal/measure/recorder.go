package measure

import (
	"math/rand/v2"
	"time"
)

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
