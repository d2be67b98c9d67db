package bench

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework/codec"
	recipe "github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// backlog is the number of items of a queue when its consumer starts.
const backlog = 500

// queuePut lets one client put items, one after the other.
func queuePut(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	q, err := l.itemQueue(ctx, path, false)
	if err != nil {
		return measure.Run{}, err
	}
	put := reads(func(ctx context.Context) error { return q.Put(ctx, "item") })
	return l.cycles(ctx, []lock{put}, t)
}

// queueConsume lets one client consume a backlog, one item at a time. With leases the queue has a lock
// path. An operation is an item, and its latency the time since the previous item.
func queueConsume(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	q, err := l.itemQueue(ctx, path, w.leases > 0)
	if err != nil {
		return measure.Run{}, err
	}
	putters, putting := errgroup.WithContext(ctx)
	putters.SetLimit(32)
	for range w.waiters {
		putters.Go(func() error { return q.Put(putting, "item") })
	}
	if err := putters.Wait(); err != nil {
		return measure.Run{}, err
	}
	return l.measured(func() (int, []time.Duration, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		gaps := make([]time.Duration, 0, w.waiters)
		last := time.Now()
		err := q.Consume(ctx, func(context.Context, recipe.Message[string]) error {
			now := time.Now()
			gaps, last = append(gaps, now.Sub(last)), now
			if len(gaps) == w.waiters {
				stop()
			}
			return nil
		})
		if err == nil && len(gaps) < w.waiters {
			err = errors.New("the queue was not drained")
		}
		return len(gaps), gaps, err
	})
}

// itemQueue returns a queue of the first session. It is for our own peers only.
func (l *local) itemQueue(ctx context.Context, path string, locked bool) (*recipe.DistributedQueue[string], error) {
	sessions, err := l.connect(ctx, 1)
	if err != nil {
		return nil, err
	}
	s, ok := sessions[0].(*curatorSession)
	if !ok || s.v2 {
		return nil, errUnsupported
	}
	var opts []recipe.Option
	if locked {
		opts = append(opts, recipe.WithLockPath(path+"-locks"))
	}
	return recipe.NewDistributedQueue(s.client, path, codec.String(), opts...)
}
