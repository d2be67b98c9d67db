package worker

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/cache"
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

const (
	// changePause is the mean pause between two changes of the cached tree.
	changePause = 400 * time.Millisecond
	// changeTimeout bounds a change, and how long the cache may be behind it.
	changeTimeout = 20 * time.Second
)

// runCache changes nodes together, and watches a cache of them.
func runCache(ctx context.Context, w *worker, random *rand.Rand) error {
	copied, err := cache.NewCuratorCache(w.client, w.Root+CacheNode)
	if err != nil {
		return err
	}
	for {
		starting, cancel := context.WithTimeout(ctx, startTimeout)
		err := copied.Start(starting)
		cancel()
		if err == nil {
			break
		}
		if !expected(err) {
			return err
		}
		if !w.pause(ctx, random) {
			return nil
		}
	}
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		for update := range copied.Updates(working) {
			w.noteSnapshot(update.Snapshot)
		}
		return nil
	})
	group.Go(func() error {
		for wait.For(working, time.Duration(random.Int64N(int64(2*changePause)))) == nil {
			w.change(working, copied)
		}
		return nil
	})
	err = group.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := copied.Close(closing); err != nil {
		w.fail(Cache, 0, "close: %v", err)
	}
	return err
}

// change sets all nodes to one text, in one transaction, and waits until the cache has that.
func (w *worker) change(ctx context.Context, copied *cache.CuratorCache) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	op := w.ops.Add(1)
	var ops []framework.Op
	for _, name := range CacheNodes() {
		ops = append(ops, w.client.TransactionOp().SetData().ForPath(w.Root+CacheNode+"/"+name, fmt.Appendf(nil, "%s/%d", w.Name, op)))
	}
	results, err := w.client.Transaction().ForOperations(ctx, ops...)
	if err != nil {
		return // it counts for nothing
	}
	zxid := results[0].Stat.Mzxid
	w.note(history.Event{Kind: history.Changed, Workload: Cache, Op: op, Value: zxid})
	e := history.Event{Workload: Cache, Op: op, Kind: history.Awaited, Value: zxid}
	if err := copied.Await(ctx, zxid); err != nil {
		e.Kind, e.Text = history.Refused, err.Error()
	} else if node, _ := copied.Get(w.Root + CacheNode + "/" + CacheNodes()[0]); node.Stat.Mzxid < zxid {
		w.fail(Cache, op, "the change with zxid %d after Await of %d", node.Stat.Mzxid, zxid)
	}
	w.note(e)
}

// noteSnapshot notes a snapshot that is the tree of one moment, and what in it cannot be.
func (w *worker) noteSnapshot(s cache.Snapshot) {
	e := history.Event{Kind: history.Seen, Workload: Cache, Value: s.Zxid()}
	if s.Exact() {
		texts := map[string]bool{}
		var all []string
		for _, name := range CacheNodes() {
			node, _ := s.Get(w.Root + CacheNode + "/" + name)
			texts[string(node.Data)] = true
			e.Token = node.Stat.Mzxid
			all = append(all, fmt.Sprintf("%s=%s@%d", name, node.Data, node.Stat.Mzxid))
		}
		if len(texts) > 1 {
			e.Text = strings.Join(all, " ")
		}
	}
	w.note(e)
}
