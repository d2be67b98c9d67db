package locks_test

import (
	"net"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// BenchmarkTracing compares an uncontended acquire and release of clients that differ in
// how they are traced. They take turns, each round in another order, so that whatever
// the machine does meanwhile is for all of them. What counts is the median of the rounds'
// ratios to the client WithoutTracing, reported in percent of additional time: with no
// SDK, with an SDK whose sampler drops everything, and with everything sampled and thrown
// away by the processor.
func BenchmarkTracing(b *testing.B) {
	b.Run("embedded", func(b *testing.B) { benchmarkTracing(b, curatortest.Start(b).ConnectString()) })
	b.Run("real", func(b *testing.B) {
		benchmarkTracing(b, curatortest.Real(b, curatortest.WithProductionSettings()).ConnectString())
	})
}

func benchmarkTracing(b *testing.B, connect string) {
	sdk := func(sampler sdktrace.Sampler) framework.Option {
		return framework.WithTracing(tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))))
	}
	names := []string{"off", "no-sdk", "dropped", "sampled"}
	opts := [][]framework.Option{
		{framework.WithoutTracing()}, nil, {sdk(sdktrace.NeverSample())}, {sdk(sdktrace.AlwaysSample())},
	}
	var mutexes []*locks.InterProcessMutex
	for i := range names {
		client := curatortest.NewClient(b, connect, append(opts[i], framework.WithDialer(new(net.Dialer).DialContext))...)
		mutex := suite.Got(locks.NewInterProcessMutex(client, "/bench/"+names[i])).OK(b)
		mutexes = append(mutexes, mutex)
	}
	const batch = 8 // cycles in a row: one is too short to be compared
	took := func(i int) (total time.Duration) {
		for range batch {
			begin := time.Now()
			lease, err := mutexes[i].Acquire(b.Context())
			total += time.Since(begin)
			if err != nil {
				b.Fatal(err)
			}
			// Some work. A lease that is released at once is sometimes gone before its node is
			// watched, and a microsecond decides about that request.
			suite.OK(b, lease.Verify(b.Context()))
			begin = time.Now()
			err = lease.Release(b.Context())
			total += time.Since(begin)
			if err != nil {
				b.Fatal(err)
			}
		}
		return total / batch
	}
	ratios := make([][]float64, len(names))
	var off []time.Duration
	for round := 0; b.Loop(); round++ {
		times := make([]time.Duration, len(names))
		for i := range names {
			i = (i + round) % len(names)
			times[i] = took(i)
		}
		off = append(off, times[0])
		for i := range names {
			ratios[i] = append(ratios[i], float64(times[i])/float64(times[0]))
		}
	}
	slices.Sort(off)
	b.ReportMetric(float64(off[len(off)/2].Nanoseconds())/1000, "off-µs")
	for i, name := range names[1:] {
		slices.Sort(ratios[i+1])
		b.ReportMetric((ratios[i+1][len(ratios[i+1])/2]-1)*100, name+"-%")
	}
}
