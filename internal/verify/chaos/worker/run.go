package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// Run works until in ends, and notes events to out. Its error says why it could not work: what
// goes wrong in the recipes is an event.
func Run(ctx context.Context, s Settings, in io.Reader, out io.Writer) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		_, _ = io.Copy(io.Discard, in) // however it ends, it has ended
		stop()
	}()
	w := &worker{Settings: s, log: history.NewLog(out)}
	before := runtime.NumGoroutine()
	if err := w.start(ctx); err != nil {
		return err
	}
	err = w.work(ctx)
	err = errors.Join(err, w.close(ctx))
	w.noteRemains(before)
	<-reading
	return errors.Join(err, w.log.Err())
}

func (w *worker) start(ctx context.Context) (err error) {
	if w.store, err = store.Dial(ctx, w.Store); err != nil {
		return err
	}
	opts := []framework.Option{
		framework.WithSessionTimeout(w.Session),
		framework.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))),
	}
	if w.SessionPolicy {
		opts = append(opts, framework.WithErrorPolicy(state.SessionErrorPolicy()))
	}
	policy := retry.BoundedExponentialBackoff(20*time.Millisecond, 500*time.Millisecond, 20)
	if w.client, err = framework.NewClient(w.Connect, policy, opts...); err != nil {
		return err
	}
	if err := w.client.Start(ctx); err != nil {
		return err
	}
	w.client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s.IsConnected() {
			w.note(history.Event{Kind: history.Ready, Session: w.client.SessionID()})
		} else {
			w.note(history.Event{Kind: history.Parted, Text: s.String()})
		}
	})
	return nil
}

// work runs the workloads until ctx ends.
func (w *worker) work(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	all := workloads()
	for i, name := range w.Workloads {
		k := slices.IndexFunc(all, func(l workload) bool { return l.name == name })
		if k < 0 {
			return fmt.Errorf("there is no workload %q", name)
		}
		for j := range all[k].goroutines {
			random := rand.New(rand.NewPCG(w.Seed, uint64(1000*i+j)))
			group.Go(func() error {
				if err := all[k].run(ctx, w, random); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

func (w *worker) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := w.client.Close(ctx); err != nil && !errors.Is(err, framework.ErrConnectionLoss) {
		w.note(history.Event{Kind: history.Failed, Text: fmt.Sprintf("close the client: %v", err)})
	}
	return w.store.Close()
}

// workload is what some goroutines of a worker do until ctx ends. Its error ends the worker.
type workload struct {
	name       string
	goroutines int
	run        func(ctx context.Context, w *worker, random *rand.Rand) error
}

// workloads are all that there are.
func workloads() []workload {
	return []workload{
		{Mutex, 1, runMutex},
		{ReadWrite, 2, runReadWrite(ReadWrite)},
		{Downgrades, 1, runReadWrite(Downgrades)},
		{Semaphore, 1, runSemaphore(Semaphore)},
		{Lease, 1, runSemaphore(Lease)},
		{Multi, 1, runMulti},
		{Handover, 3, runHandover},
		{LockDelay, 1, runLockDelay},
		{Latch, 1, runLatch},
		{Selector, 1, runSelector},
		{Queue, 1, runQueue},
		{Barrier, 1, runBarrier},
		{Cache, 1, runCache},
		{JavaMutex, 1, runJavaMutex},
		{JavaRW, 1, runReadWrite(JavaRW)},
		{JavaLeases, 1, runJavaLeases},
		{KazooMutex, 1, runKazooMutex},
	}
}

// Names returns the names of all workloads.
func Names() (names []string) {
	for _, w := range workloads() {
		names = append(names, w.name)
	}
	return names
}
