package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkOperation measures what an operation costs here and with the bare driver, on one
// real server, in turns: ns/op are ours, x-driver is that in
// times of the driver's.
func BenchmarkOperation(b *testing.B) {
	server := curatortest.Real(b)
	ours, driver := benchmarked(b, server.ConnectString())
	path := "/benchmark"
	if _, err := driver.Create(path, make([]byte, 100), 0, zk.WorldACL(zk.PermAll)); err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 100)
	for _, op := range []struct {
		name         string
		ours, driver func() error
	}{
		{
			"get",
			func() error {
				var res jute.GetDataResponse
				return ours.Do(b.Context(), 0, &zkconn.Call{Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path}, Res: &res})
			},
			func() error {
				_, _, err := driver.Get(path)
				return err
			},
		},
		{
			"set",
			func() error {
				var res jute.StatResponse
				return ours.Do(b.Context(), 0, &zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: path, Data: data, Version: -1}, Res: &res})
			},
			func() error {
				_, err := driver.Set(path, data, -1)
				return err
			},
		},
	} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", op.name, callers), func(b *testing.B) {
				compareCosts(b, callers, op.ours, op.driver)
			})
		}
	}
}

// BenchmarkRequest measures requests of one caller, one after the other and several in one
// write, on an embedded server, whose allocations are counted, too.
func BenchmarkRequest(b *testing.B) {
	conn, _ := benchmarked(b, curatortest.Start(b).ConnectString())
	for name, n := range map[string]int{"one": 1, "three in one write": 3} {
		b.Run(name, func(b *testing.B) {
			calls := make([]*zkconn.Call, n)
			b.ReportAllocs()
			for b.Loop() {
				for i := range calls {
					calls[i] = &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: "/"}, Res: new(jute.StatResponse)}
				}
				if err := errors.Join(conn.Do(b.Context(), 0, calls...), calls[n-1].Err); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchmarked returns a connection of ours and one of the driver's.
func benchmarked(b *testing.B, server string) (*zkconn.Conn, *zk.Conn) {
	ours, err := zkconn.Open(b.Context(), zkconn.Config{
		Servers: []string{server}, SessionTimeout: 10 * time.Second, ConnectionTimeout: 10 * time.Second,
		LossPercent: 100, MaxRequest: 1 << 20, MaxReply: 16 << 20, Dial: new(net.Dialer).DialContext,
		Logger: slog.New(slog.DiscardHandler), OnEvent: func(zkconn.Event) {},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ours.Close(context.Background()) })
	driver, events, err := zk.Connect([]string{server}, 10*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for range events {
		}
	}()
	b.Cleanup(driver.Close)
	return ours, driver
}

// cost is what a round of operations took.
type cost struct {
	time   time.Duration
	allocs uint64
}

func compareCosts(b *testing.B, callers int, ours, driver func() error) {
	const rounds = 20
	n := max(b.N/rounds, callers)
	var mine, theirs []cost
	b.ResetTimer()
	for range rounds {
		theirs = append(theirs, round(b, n, callers, driver))
		mine = append(mine, round(b, n, callers, ours))
	}
	b.StopTimer()
	us, them := median(mine), median(theirs)
	b.ReportMetric(float64(us.time)/float64(n), "ns/op")
	b.ReportMetric(float64(us.time)/float64(them.time), "x-driver")
	b.ReportMetric(float64(us.allocs)/float64(n), "ours-allocs/op")
	b.ReportMetric(float64(them.allocs)/float64(n), "driver-allocs/op")
}

// round does n operations from a number of callers.
func round(b *testing.B, n, callers int, op func() error) cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for range n / callers {
				if err := op(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return cost{took, after.Mallocs - before.Mallocs}
}

// median returns the median of each figure.
func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.time - b.time) })
	m := costs[len(costs)/2]
	slices.SortFunc(costs, func(a, b cost) int { return int(a.allocs) - int(b.allocs) })
	m.allocs = costs[len(costs)/2].allocs
	return m
}
