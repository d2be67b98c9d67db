package telemetry

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/metric"
)

// zeroes knows which counters have a sample with 0. A counter that begins with 1 is one for which Prometheus
// sees no increase.
type zeroes struct {
	mu   sync.RWMutex
	done map[zeroKey]bool
}

// zeroKey is what counters belong to.
type zeroKey struct {
	of         string // a metric of it
	kind, name string
}

// add calls zero once for each key, as soon as counter is enabled. A program may install its SDK later than
// it makes the client, and until then zero would be lost.
func (z *zeroes) add(ctx context.Context, counter metric.Int64Counter, key zeroKey, zero func()) {
	if !counter.Enabled(ctx) {
		return
	}
	z.mu.RLock()
	done := z.done[key]
	z.mu.RUnlock()
	if done {
		return
	}
	zero() // twice does no harm
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.done == nil {
		z.done = map[zeroKey]bool{}
	}
	z.done[key] = true
}
