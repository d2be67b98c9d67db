package worker

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/queue"
)

const (
	// putTimeout bounds a put.
	putTimeout = 10 * time.Second
	// putPause is the mean pause between two puts: effects stay until the end.
	putPause = 300 * time.Millisecond
)

// runQueue puts items and consumes them.
func runQueue(ctx context.Context, w *worker, random *rand.Rand) error {
	path := w.Root + "/" + Queue
	q, err := queue.NewDistributedQueue(w.client, path, codec.String(), queue.WithLockPath(path+"-locks"), queue.WithConcurrency(2))
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.produce(ctx, random, q) })
	group.Go(func() error {
		err := q.Consume(ctx, w.consume)
		if err != nil {
			w.fail(Queue, 0, "consume: %v", err)
		}
		return nil
	})
	return group.Wait()
}

func (w *worker) produce(ctx context.Context, random *rand.Rand, q *queue.DistributedQueue[string]) error {
	for wait.For(ctx, time.Duration(random.Int64N(int64(2*putPause)))) == nil {
		op := w.ops.Add(1)
		e := history.Event{Workload: Queue, Op: op, Text: fmt.Sprintf("%s-%d", w.Name, op)}
		begin := e
		begin.Kind = history.Put
		w.note(begin)
		putting, cancel := context.WithTimeout(ctx, putTimeout)
		err := q.Put(putting, e.Text)
		cancel()
		switch {
		case err == nil:
			e.Kind = history.Stored
		case framework.MaybeApplied(err):
			e.Kind = history.Doubtful
		default:
			e.Kind = history.Unwritten
			if !expected(err) {
				w.fail(Queue, op, "put: %v", err)
			}
		}
		w.note(e)
	}
	return nil
}

// consume commits the effect of an item together with its removal, some time after it was handed
// over.
func (w *worker) consume(ctx context.Context, m queue.Message[string]) error {
	e := history.Event{Workload: Queue, Text: m.Item, Token: m.Lease.Token(), Node: m.Lease.Path()}
	note := func(kind history.Kind) {
		e.Kind = kind
		w.note(e)
	}
	note(history.Take)
	if err := wait.For(ctx, length(rand.New(rand.NewPCG(w.Seed, uint64(e.Token))))); err != nil {
		return err
	}
	note(history.Commit)
	_, err := m.Guard(ctx, w.client.TransactionOp().Create().WithMode(framework.PersistentSequential).ForPath(EffectOf(w.Root, m.Item)+"-"))
	if err == nil {
		note(history.Done)
	} else if errors.Is(err, framework.ErrNodeExists) {
		w.fail(Queue, 0, "effect of %s: %v", m.Item, err)
	}
	return err
}

// EffectOf returns the path of an item's effect, without the number that follows it.
func EffectOf(root, item string) string {
	h := fnv.New32()
	_, _ = h.Write([]byte(item)) // a hash takes everything
	return fmt.Sprintf("%s%s/%d/%s", root, EffectsNode, h.Sum32()%EffectFolders, item)
}
