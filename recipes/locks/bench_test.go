package locks_test

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// BenchmarkMutex measures an uncontended acquire and release beside the floor, a bare
// create and delete of such a node, which are interleaved with it: what counts is their
// ratio in the same run, reported as x/floor.
func BenchmarkMutex(b *testing.B) {
	b.Run("embedded", func(b *testing.B) { benchmarkMutex(b, curatortest.Start(b).ConnectString()) })
	b.Run("real", func(b *testing.B) {
		benchmarkMutex(b, curatortest.Real(b, curatortest.WithProductionSettings()).ConnectString())
	})
}

func benchmarkMutex(b *testing.B, connect string) {
	client := curatortest.NewClient(b, connect, framework.WithDialer(new(net.Dialer).DialContext))
	mutex := newMutex(b, client)
	ctx := b.Context()
	suite.Got(client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/bench/floor")).OK(b)
	floor := client.Create().WithMode(framework.EphemeralSequential)
	cycle := func() error {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		return lease.Release(ctx)
	}
	suite.OK(b, cycle()) // makes the parents
	var bare time.Duration
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		begin := time.Now()
		path, err := floor.ForPath(ctx, "/bench/floor/lock-")
		if err == nil {
			err = client.Delete().ForPath(ctx, path)
		}
		bare += time.Since(begin)
		b.StartTimer()
		if err == nil {
			err = cycle()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(bare), "x/floor")
	b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "floor-µs/op")
}

// newMutex returns the mutex that is measured.
func newMutex(b *testing.B, client *framework.Client, opts ...locks.MutexOption) *locks.InterProcessMutex {
	b.Helper()
	return suite.Got(locks.NewInterProcessMutex(client, "/bench/lock", opts...)).OK(b)
}

// BenchmarkReentry measures a nested acquire and release, which talk to no server.
func BenchmarkReentry(b *testing.B) {
	server := curatortest.Start(b)
	mutex := newMutex(b, server.Client(b))
	outer := suite.Got(mutex.Acquire(b.Context())).OK(b)
	ctx := outer.Context()
	b.ReportAllocs()
	for b.Loop() {
		lease, err := mutex.Acquire(ctx)
		if err == nil {
			err = lease.Release(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	suite.OK(b, outer.Release(b.Context()))
}

// BenchmarkHandover measures how a lock goes from hand to hand that eight always want: clients
// with sessions of their own, goroutines of one client, and such that hand it over themselves.
// Allocations are those of all, and of the embedded server.
func BenchmarkHandover(b *testing.B) {
	const contenders = 8
	b.Run("clients", func(b *testing.B) {
		server := curatortest.Start(b)
		all := make([]locks.InterProcessLock, contenders)
		for i := range all {
			all[i] = newMutex(b, server.Client(b))
		}
		contend(b, all...)
	})
	for name, opts := range map[string][]locks.MutexOption{"goroutines": nil, "local": {locks.WithLocalHandover(100)}} {
		b.Run(name, func(b *testing.B) {
			mutex := newMutex(b, curatortest.Start(b).Client(b), opts...)
			contend(b, slices.Repeat([]locks.InterProcessLock{mutex}, contenders)...)
		})
	}
}

// BenchmarkSemaphore measures a semaphore of four leases, which one client wants, or eight.
func BenchmarkSemaphore(b *testing.B) {
	const leases = 4
	for name, clients := range map[string]int{"free": 1, "8 clients": 8} {
		b.Run(name, func(b *testing.B) {
			server := curatortest.Start(b)
			var all []locks.InterProcessLock
			for range clients {
				semaphore := suite.Got(locks.NewInterProcessSemaphore(server.Client(b), "/bench/semaphore", leases)).OK(b)
				all = append(all, semaphore)
			}
			contend(b, all...)
		})
	}
}

// contend has all acquire and release at once, each as soon as it can. An operation is one
// acquisition with its release.
func contend(b *testing.B, all ...locks.InterProcessLock) {
	once := func(l locks.InterProcessLock) error {
		lease, err := l.Acquire(b.Context())
		if err != nil {
			return err
		}
		return lease.Release(b.Context())
	}
	suite.OK(b, once(all[0])) // makes the parents
	var begun atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for _, l := range all {
		wg.Go(func() {
			for begun.Add(1) <= int64(b.N) {
				if err := once(l); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

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
