package locks_test

import (
	"net"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
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
	mutex, err := locks.NewInterProcessMutex(client, "/bench/lock")
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	if _, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/bench/floor"); err != nil {
		b.Fatal(err)
	}
	floor := client.Create().WithMode(framework.EphemeralSequential)
	cycle := func() error {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		return lease.Release(ctx)
	}
	if err := cycle(); err != nil { // makes the parents
		b.Fatal(err)
	}
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

// BenchmarkReentry measures a nested acquire and release, which talk to no server.
func BenchmarkReentry(b *testing.B) {
	server := curatortest.Start(b)
	client := server.Client(b)
	mutex, err := locks.NewInterProcessMutex(client, "/bench/nested")
	if err != nil {
		b.Fatal(err)
	}
	outer, err := mutex.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
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
	if err := outer.Release(b.Context()); err != nil {
		b.Fatal(err)
	}
}
