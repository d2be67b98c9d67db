package zk_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	driver "github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/tools/curatortest"
)

// both are a Conn of ours and one of the driver, over TCP.
func both(b *testing.B) (ours, theirs api) {
	b.Helper()
	server := curatortest.Start(b)
	o, _, err := zk.Connect([]string{server.ConnectString()}, 30*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(o.Close)
	d, _, err := driver.Connect([]string{server.ConnectString()}, 30*time.Second, driver.WithLogger(silent{}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(d.Close)
	for p, data := range map[string]int{"/small": 10, "/large": 100_000, "/dir": 0} {
		if _, err := o.Create(p, make([]byte, data), 0, world); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 100 {
		if _, err := o.Create(fmt.Sprintf("/dir/child-%d", i), nil, 0, world); err != nil {
			b.Fatal(err)
		}
	}
	return o, d
}

// benchCalls are the rows of BenchmarkBesideDriver.
var benchCalls = map[string]func(c api, i int) error{
	"get":       func(c api, _ int) error { _, _, err := c.Get("/small"); return err },
	"get 100 k": func(c api, _ int) error { _, _, err := c.Get("/large"); return err },
	"exists":    func(c api, _ int) error { _, _, err := c.Exists("/none"); return err },
	"children":  func(c api, _ int) error { _, _, err := c.Children("/dir"); return err },
	"set":       func(c api, _ int) error { _, err := c.Set("/small", make([]byte, 10), -1); return err },
	"getW and set": func(c api, _ int) error {
		_, _, ch, err := c.GetW("/small")
		if err == nil {
			_, err = c.Set("/small", make([]byte, 10), -1)
			<-ch
		}
		return err
	},
	"create and delete": func(c api, i int) error {
		p := fmt.Sprintf("/n-%p-%d", c, i)
		_, err := c.Create(p, nil, zk.FlagEphemeral, world)
		if err == nil {
			err = c.Delete(p, -1)
		}
		return err
	},
	"multi": func(c api, _ int) error {
		_, err := c.Multi(&zk.SetDataRequest{Path: "/small", Version: -1}, &zk.CheckVersionRequest{Path: "/dir", Version: -1})
		return err
	},
}

// BenchmarkBesideDriver reports how many calls we do for one of the driver: the median of rounds in which each has its
// turn. 1.00 is as many.
func BenchmarkBesideDriver(b *testing.B) {
	for _, n := range []int{1, 64} {
		for name, call := range benchCalls {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				ours, theirs := both(b)
				var ratios []float64
				for b.Loop() {
					theirTime := round(b, theirs, call, n)
					ratios = append(ratios, float64(theirTime)/float64(round(b, ours, call, n)))
					ourTime := round(b, ours, call, n)
					ratios = append(ratios, float64(round(b, theirs, call, n))/float64(ourTime))
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "ours/driver")
			})
		}
	}
}

// round has n goroutines make 512 calls together, and returns how long they took.
func round(b *testing.B, c api, call func(c api, i int) error, n int) time.Duration {
	var all sync.WaitGroup
	began := time.Now()
	for g := range n {
		all.Go(func() {
			for i := range 512 / n {
				if err := call(c, g*1000+i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// BenchmarkMemory reports the bytes on the heap of a Conn, and of a watch.
func BenchmarkMemory(b *testing.B) {
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	server := curatortest.Start(b)
	connects := map[string]func() (api, error){
		"ours": func() (api, error) {
			c, _, err := zk.Connect([]string{server.ConnectString()}, 30*time.Second, zk.WithLogger(silent{}))
			return c, err
		},
		"driver": func() (api, error) {
			c, _, err := driver.Connect([]string{server.ConnectString()}, 30*time.Second, driver.WithLogger(silent{}))
			return c, err
		},
	}
	for name, connect := range connects {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				const conns, watches = 20, 20_000
				before := heap()
				all := make([]api, conns)
				for i := range all {
					var err error
					if all[i], err = connect(); err != nil {
						b.Fatal(err)
					}
					if _, _, err = all[i].Exists("/"); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-before)/conns, "B/conn")
				channels := make([]<-chan zk.Event, watches)
				paths := make([]string, watches)
				for i := range paths {
					paths[i] = fmt.Sprintf("/watched/%08d", i)
				}
				before = heap()
				for i := range channels {
					var err error
					if _, _, channels[i], err = all[0].ExistsW(paths[i]); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-before)/watches, "B/watch")
				for _, c := range all {
					c.Close()
				}
				runtime.KeepAlive(channels)
			}
		})
	}
}
