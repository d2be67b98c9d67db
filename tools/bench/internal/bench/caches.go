package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

const (
	nodesAtOnce   = 1000 // nodes that are created in one transaction
	cacheParents  = 100  // parents of the nodes of a cache
	followedNodes = 100  // nodes that are written while a cache follows them
	writesAtOnce  = 64   // writes that wait for an answer at the same time
)

// plant creates n nodes below path, unless they exist. Most are leaves.
func plant(ctx context.Context, client *framework.Client, path string, n int) error {
	if there, err := client.CheckExists().ForPath(ctx, path); err != nil || there {
		return err
	}
	op := client.TransactionOp()
	if _, err := client.Create().CreatingParentsIfNeeded().WithData(nil).ForPath(ctx, path); err != nil {
		return err
	}
	var ops []framework.Op
	for i := 1; i < n; i++ {
		at := fmt.Sprintf("%s/%02d", path, i)
		if i > cacheParents {
			at = fmt.Sprintf("%s/%02d/%06d", path, i%cacheParents+1, i)
		}
		if ops = append(ops, op.Create().WithData([]byte("some data of a node")).ForPath(at)); len(ops) == nodesAtOnce || i == n-1 {
			if _, err := client.Transaction().ForOperations(ctx, ops...); err != nil {
				return err
			}
			ops = nil
		}
	}
	return nil
}

// plantedCache returns a cache of w.waiters nodes that is not started.
func plantedCache(ctx context.Context, l *local, w workload, path string) (*cache.CuratorCache, error) {
	clients, err := l.ours(ctx, 1)
	if err == nil {
		err = plant(ctx, clients[0], path, w.waiters)
	}
	if err != nil {
		return nil, err
	}
	return cache.NewCuratorCache(clients[0], path)
}

// cacheLoad starts a cache of w.waiters nodes. An operation is the start.
func cacheLoad(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	all, err := plantedCache(ctx, l, w, path)
	if err != nil {
		return measure.Run{}, err
	}
	run, err := l.measured(func() (int, []time.Duration, error) {
		begin := time.Now()
		err := all.Start(ctx)
		return 1, []time.Duration{time.Since(begin)}, err
	})
	if n := all.Snapshot().Len(); err == nil && n != w.waiters {
		err = fmt.Errorf("%d nodes in the cache of %d", n, w.waiters)
	}
	return run, errors.Join(err, all.Close(ctx))
}

// cacheFollow lets one client write at the highest rate that the server accepts, while a cache of
// another client follows. An operation is a write. The latencies are the times from the beginning of a
// write until a listener gets the change. A change may be several writes.
func cacheFollow(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	clients, err := l.ours(ctx, 2)
	if err != nil {
		return measure.Run{}, err
	}
	writer := clients[1]
	if err := plant(ctx, writer, path, followedNodes+1); err != nil {
		return measure.Run{}, err
	}
	followed, err := cache.NewPathChildrenCache(clients[0], path)
	if err != nil {
		return measure.Run{}, err
	}
	begin := time.Now()
	var mu sync.Mutex
	var lags []time.Duration
	var newest int64
	told := sync.NewCond(&mu)
	followed.Listenable().Add(func(_ context.Context, e cache.Event) {
		if lag := time.Since(begin); e.Type == cache.NodeChanged {
			mu.Lock()
			defer mu.Unlock()
			lags = append(lags, lag-time.Duration(binary.BigEndian.Uint64(e.New.Data)))
			newest = max(newest, e.New.Stat.Mzxid) // a snapshot that is not exact can have the later of two changes first
			told.Broadcast()
		}
	})
	if err := followed.Start(ctx); err != nil {
		return measure.Run{}, err
	}
	run, err := l.measured(func() (int, []time.Duration, error) {
		n, last, err := writeAll(ctx, writer, path, begin, t.duration)
		if err == nil {
			err = followed.Await(ctx, last)
		}
		mu.Lock()
		defer mu.Unlock()
		for err == nil && newest < last { // the listener is told behind Await
			told.Wait()
		}
		return n, slices.Clone(lags), err
	})
	return run, errors.Join(err, followed.Close(ctx))
}

// writeAll starts goroutines that write the time since begin to nodes, one node after the other, for
// the time d. It returns the number of writes, and the zxid of the last one.
func writeAll(ctx context.Context, client *framework.Client, path string, begin time.Time, d time.Duration) (n int, zxid int64, err error) {
	var next, last atomic.Int64
	writers, ctx := errgroup.WithContext(ctx)
	for range writesAtOnce {
		writers.Go(func() error {
			for time.Since(begin) < d {
				at := fmt.Sprintf("%s/%02d", path, next.Add(1)%followedNodes+1)
				stat, err := client.SetData().ForPath(ctx, at, binary.BigEndian.AppendUint64(nil, uint64(time.Since(begin))))
				if err != nil {
					return err
				}
				for old := last.Load(); old < stat.Mzxid && !last.CompareAndSwap(old, stat.Mzxid); old = last.Load() {
				}
			}
			return nil
		})
	}
	err = writers.Wait()
	return int(next.Load()), last.Load(), err
}

// cacheReload cuts the connection of a cache with w.waiters nodes. An operation is the comparison with
// the server that follows, and its latency the time from the cut to its end.
func cacheReload(ctx context.Context, l *local, w workload, path string, _ timing) (_ measure.Run, err error) {
	if l.name != results.Ours {
		return measure.Run{}, errUnsupported
	}
	line := &gated{dial: l.counter.DialContext}
	client, err := startClient(ctx, l.address, framework.WithDialer(line.DialContext), framework.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return measure.Run{}, err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	if err := plant(ctx, client, path, w.waiters); err != nil {
		return measure.Run{}, err
	}
	all, err := cache.NewCuratorCache(client, path)
	if err == nil {
		err = all.Start(ctx)
	}
	if err != nil {
		return measure.Run{}, err
	}
	defer func() { err = errors.Join(err, all.Close(ctx)) }()
	return l.measured(func() (int, []time.Duration, error) {
		for {
			begin := time.Now()
			line.cut()
			soon, cancel := context.WithTimeout(ctx, time.Second)
			err := awaitStale(soon, all, true)
			cancel()
			if err != nil && ctx.Err() == nil {
				continue // it was stale between two looks
			}
			if err == nil {
				err = awaitStale(ctx, all, false)
			}
			return 1, []time.Duration{time.Since(begin)}, err
		}
	})
}

// cacheGet reads nodes from a cache with w.waiters nodes. An operation is a read.
func cacheGet(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
	all, err := plantedCache(ctx, l, w, path)
	if err == nil {
		err = all.Start(ctx)
	}
	if err != nil {
		return measure.Run{}, err
	}
	var paths []string
	for i := cacheParents + 1; i < w.waiters; i++ {
		paths = append(paths, fmt.Sprintf("%s/%02d/%06d", path, i%cacheParents+1, i))
	}
	run, err := l.measured(func() (int, []time.Duration, error) {
		n := 0
		for begin := time.Now(); time.Since(begin) < t.duration; {
			for _, at := range paths {
				if _, ok := all.Get(at); !ok {
					return n, nil, fmt.Errorf("%s is not in the cache", at)
				}
			}
			n += len(paths)
		}
		return n, nil, nil
	})
	return run, errors.Join(err, all.Close(ctx))
}

// awaitStale waits until a cache is stale, or with want false until it is not.
func awaitStale(ctx context.Context, c *cache.CuratorCache, want bool) error {
	ticker := time.NewTicker(100 * time.Microsecond)
	defer ticker.Stop()
	for {
		if _, stale := c.Stale(); stale == want {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
