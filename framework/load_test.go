package framework_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

var (
	loadTime    = flag.Duration("load", 2*time.Second, "how long TestLoad goes on")
	loadWorkers = flag.Int("workers", 100, "how many goroutines TestLoad has")
)

// loadNodes is how many nodes the workers read and write together, beside those of their own.
const loadNodes = 50

// TestLoad has many goroutines use one client in all ways at random while a real server restarts
// again and again. No error is one that is not documented, every watch is told, and nothing is
// left. "make framework-load" does it for a minute, with 1,000 goroutines.
func TestLoad(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t)
	client := server.Client(t, framework.WithSessionTimeout(20*time.Second), framework.WithoutEnsembleTracker())
	l := &load{t: t, client: client, workers: make([]*loadWorker, *loadWorkers)}
	l.prepare()
	heap := heapInUse()

	ctx, cancel := context.WithTimeout(t.Context(), *loadTime)
	defer cancel()
	var all sync.WaitGroup
	for _, w := range l.workers {
		all.Go(func() { w.run(ctx) })
	}
	restarts := 0
	for pause(ctx, min(3*time.Second, *loadTime/3)) {
		server.Member(0).Restart()
		restarts++
	}
	all.Wait()

	l.wantWatchersTold()
	if n := client.PendingRemovals(); n > 0 {
		t.Errorf("%d deletes are pending", n)
	}
	const slack = 64 << 20
	if now := heapInUse(); now > heap+slack {
		t.Errorf("%d MiB in use after the load, %d MiB before", now>>20, heap>>20)
	}
	t.Logf("%d operations, %d errors, %d restarts, %d KiB in use more than before",
		l.done.Load(), l.failed.Load(), restarts, (int64(heapInUse())-int64(heap))>>10)
	if l.done.Load() == 0 || restarts == 0 {
		t.Error("nothing was tried")
	}
}

// pause waits, and reports false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// heapInUse returns the bytes of the heap that are in use.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type load struct {
	t            *testing.T
	client       *framework.Client
	workers      []*loadWorker
	done, failed atomic.Int64
}

// loadWorker is one goroutine. It has a node of its own, with a persistent watch.
type loadWorker struct {
	*load
	path  string
	heard atomic.Int64 // the zxid of the last change of path that the watcher was told

	random *rand.Rand // chooses what is done; the server's timing is not chosen
}

// prepare makes the nodes, and the workers with their watches.
func (l *load) prepare() {
	l.t.Helper()
	op := l.client.TransactionOp()
	ops := []framework.Op{op.Create().ForPath("/load")}
	for i := range loadNodes {
		ops = append(ops, op.Create().ForPath(fmt.Sprintf("/load/shared-%d", i)))
	}
	for i := range l.workers {
		w := &loadWorker{load: l, path: fmt.Sprintf("/load/own-%d", i), random: rand.New(rand.NewPCG(1, uint64(i)))}
		l.workers[i] = w
		ops = append(ops, op.Create().ForPath(w.path))
	}
	results, err := l.client.Batch().ForOperations(l.t.Context(), ops...)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			l.t.Fatal(r.Err)
		}
	}
	for _, w := range l.workers {
		watcher := framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) { w.hear() })
		if err := l.client.Watches().Add().ForPath(l.t.Context(), w.path, watcher); err != nil {
			l.t.Fatal(err)
		}
	}
}

// hear reads the node whenever its watcher is told anything.
func (w *loadWorker) hear() {
	var stat framework.Stat
	if _, err := w.client.GetData().StoringStatIn(&stat).ForPath(w.t.Context(), w.path); err == nil {
		w.heard.Store(stat.Mzxid)
	}
}

// wantWatchersTold writes to every worker's node once more: each watcher is told of that.
func (l *load) wantWatchersTold() {
	l.t.Helper()
	last := make([]int64, len(l.workers))
	for i, w := range l.workers {
		stat, err := l.client.SetData().ForPath(l.t.Context(), w.path, []byte("last"))
		if err != nil {
			l.t.Fatal(err)
		}
		last[i] = stat.Mzxid
	}
	for i, w := range l.workers {
		suite.Eventually(l.t, "the watcher of "+w.path, func() bool { return w.heard.Load() >= last[i] })
	}
}

// run does something at random until ctx ends. Calls are not bound by ctx: each ends by itself.
func (w *loadWorker) run(ctx context.Context) {
	random := w.random
	does := []func(ctx context.Context, shared string) error{
		w.read, w.list, w.write, w.createAndDelete, w.batch, w.transaction, w.watch, w.impatient,
	}
	for ctx.Err() == nil {
		shared := fmt.Sprintf("/load/shared-%d", random.IntN(loadNodes))
		err := does[random.IntN(len(does))](w.t.Context(), shared)
		w.done.Add(1)
		if err != nil {
			w.failed.Add(1)
			w.judge(err)
		}
	}
}

// judge fails the test if an error is not one that the operation's documentation has.
func (w *loadWorker) judge(err error) {
	for _, documented := range []error{
		framework.ErrConnectionLoss, framework.ErrSessionExpired, framework.ErrBadVersion, context.DeadlineExceeded,
	} {
		if errors.Is(err, documented) {
			return
		}
	}
	w.t.Errorf("%T: %v", err, err)
}

func (w *loadWorker) read(ctx context.Context, shared string) error {
	_, err := w.client.GetData().ForPath(ctx, shared)
	return err
}

func (w *loadWorker) list(ctx context.Context, shared string) error {
	_, err := w.client.GetChildren().ForPath(ctx, shared)
	return err
}

func (w *loadWorker) write(ctx context.Context, shared string) error {
	_, err := w.client.SetData().ForPath(ctx, shared, []byte(w.path))
	return err
}

func (w *loadWorker) createAndDelete(ctx context.Context, shared string) error {
	path, err := w.client.Create().WithProtection().WithMode(framework.EphemeralSequential).ForPath(ctx, shared+"/child-")
	if err != nil {
		return err
	}
	return w.client.Delete().Guaranteed().Quietly().ForPath(ctx, path)
}

func (w *loadWorker) batch(ctx context.Context, shared string) error {
	op := w.client.TransactionOp()
	results, err := w.client.Batch().ForOperations(ctx, op.SetData().ForPath(w.path, nil), op.Check().ForPath(shared), op.SetData().ForPath(shared, nil))
	for _, r := range results {
		err = errors.Join(err, r.Err)
	}
	return err
}

func (w *loadWorker) transaction(ctx context.Context, shared string) error {
	op := w.client.TransactionOp()
	_, err := w.client.Transaction().ForOperations(ctx, op.Check().ForPath(shared), op.SetData().ForPath(w.path, nil))
	return err
}

// watch sets a one-shot watch on the worker's own node, changes the node, and waits to be told.
func (w *loadWorker) watch(ctx context.Context, _ string) error {
	told := make(chan struct{}, 1)
	watcher := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	if _, err := w.client.GetData().UsingWatcher(watcher).ForPath(ctx, w.path); err != nil {
		return err
	}
	if _, err := w.client.SetData().ForPath(ctx, w.path, nil); err != nil {
		if framework.MaybeApplied(err) {
			return err
		}
		return errors.Join(err, w.client.Watches().Remove().Locally().Quietly().ForPath(ctx, w.path, watcher))
	}
	select {
	case <-told:
		return nil
	case <-time.After(time.Minute):
		return fmt.Errorf("the one-shot watch of %s was not told", w.path)
	}
}

// impatient gives a read little time, so that the calls end at any moment.
func (w *loadWorker) impatient(ctx context.Context, shared string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(w.random.IntN(int(2*time.Millisecond))))
	defer cancel()
	_, err := w.client.CheckExists().ForPath(ctx, shared)
	return err
}
