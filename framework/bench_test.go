package framework_test

import (
	"fmt"
	"io"
	"log"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkGetData measures what the builder costs beside the bare driver's Get, on one real
// server, in turns: ns/op are ours, x-driver is that in times of the driver's, and
// more-allocs/op is how many allocations more than the driver's there are.
func BenchmarkGetData(b *testing.B) {
	server := curatortest.Real(b)
	c := server.Client(b, framework.WithoutTracing())
	driver, events, err := zk.Connect([]string{server.ConnectString()}, 10*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for range events {
		}
	}()
	b.Cleanup(driver.Close)
	if _, err := c.Create().WithData(make([]byte, 100)).ForPath(b.Context(), "/benchmark"); err != nil {
		b.Fatal(err)
	}
	ours := func() error {
		_, err := c.GetData().ForPath(b.Context(), "/benchmark")
		return err
	}
	theirs := func() error {
		_, _, err := driver.Get("/benchmark")
		return err
	}
	const rounds = 10
	n := max(b.N/rounds, 10)
	var our, their []cost
	b.ResetTimer()
	for range rounds {
		their = append(their, measure(b, n, theirs))
		our = append(our, measure(b, n, ours))
	}
	b.StopTimer()
	us, them := median(our), median(their)
	b.ReportMetric(float64(us.time)/float64(n), "ns/op")
	b.ReportMetric(float64(us.time)/float64(them.time), "x-driver")
	b.ReportMetric(us.allocs, "ours-allocs/op")
	b.ReportMetric(us.allocs-them.allocs, "more-allocs/op")
}

// cost is what n operations took, and what each allocated.
type cost struct {
	time   time.Duration
	allocs float64
}

func measure(b *testing.B, n int, op func() error) cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range n {
		if err := op(); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return cost{took, float64(after.Mallocs-before.Mallocs) / float64(n)}
}

// median returns the median of each figure.
func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.time - b.time) })
	m := costs[len(costs)/2]
	slices.SortFunc(costs, func(a, b cost) int { return int(1000 * (a.allocs - b.allocs)) })
	m.allocs = costs[len(costs)/2].allocs
	return m
}

// BenchmarkBatch creates 10,000 nodes in one batch and one after the other, in turns, on one
// real server: ns/op is a batch, x-sequence that in times of the sequence.
func BenchmarkBatch(b *testing.B) {
	for _, settings := range []struct {
		name string
		opts []curatortest.Option
	}{
		{"quick", nil}, {"production", []curatortest.Option{curatortest.WithProductionSettings()}},
	} {
		b.Run(settings.name, func(b *testing.B) {
			server := curatortest.Real(b, settings.opts...)
			c := server.Client(b, framework.WithoutTracing())
			var batch, sequence time.Duration
			for i := range b.N {
				batch += createAll(b, c, fmt.Sprint("/batch", i), func(ops []framework.Op, _ string) {
					results, err := c.Batch().ForOperations(b.Context(), ops...)
					for _, r := range results {
						if err == nil {
							err = r.Err
						}
					}
					if err != nil {
						b.Fatal(err)
					}
				})
				sequence += createAll(b, c, fmt.Sprint("/sequence", i), func(ops []framework.Op, path string) {
					for j := range ops {
						if _, err := c.Create().ForPath(b.Context(), fmt.Sprint(path, "/", j)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			b.ReportMetric(float64(batch)/float64(b.N), "ns/op")
			b.ReportMetric(float64(batch)/float64(sequence), "x-sequence")
		})
	}
}

// createAll makes a node and measures how long its children take.
func createAll(b *testing.B, c *framework.Client, path string, create func(ops []framework.Op, path string)) time.Duration {
	if _, err := c.Create().ForPath(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	ops := make([]framework.Op, many)
	for i := range ops {
		ops[i] = c.TransactionOp().Create().ForPath(fmt.Sprint(path, "/", i))
	}
	begin := time.Now()
	create(ops, path)
	return time.Since(begin)
}
