package demo

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/wait"
)

// Holder returns the worker that was the last to get the lock or the leadership at path, and its
// token. It returns "" if no worker has got it yet.
func (f *Fleet) Holder(path string) (worker string, token int64) {
	last := f.diary.grantsOf(path).last
	return last.Worker, last.Token
}

// worker returns the worker with a name. The caller holds f.mu.
func (f *Fleet) worker(name string) (*worker, error) {
	for _, w := range f.workers {
		if w.name == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("there is no worker %q", name)
}

// Kill ends a worker's process without closing its session, as kill -9 does. Its lock becomes free
// when the session expires. Kill does nothing if the worker was killed already.
func (f *Fleet) Kill(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.worker(name)
	if err != nil || w.killed || w.link == nil {
		return err
	}
	w.killed = true
	w.link.kill()
	w.thaw()
	w.cancel()
	f.diary.add(Event{Kind: Killed, Worker: name, Path: w.job.path})
	return nil
}

// Freeze stops a worker's process, as kill -STOP does, until Thaw. It does nothing if the process
// does not run.
func (f *Fleet) Freeze(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.worker(name)
	if err != nil || w.killed || w.link == nil || w.ice != nil {
		return err
	}
	w.ice = w.link.gate.Hold()
	f.diary.add(Event{Kind: Frozen, Worker: name, Path: w.job.path})
	return nil
}

// Thaw continues a frozen worker. It does nothing if the worker is not frozen.
func (f *Fleet) Thaw(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.worker(name)
	if err != nil || w.ice == nil {
		return err
	}
	f.diary.add(Event{Kind: Thawed, Worker: name, Path: w.job.path})
	w.thaw()
	return nil
}

// Hire starts a process for a worker that was killed.
func (f *Fleet) Hire(name string) error {
	f.mu.Lock()
	w, err := f.worker(name)
	if err != nil || !w.killed {
		f.mu.Unlock()
		return err
	}
	ended := w.ended
	f.mu.Unlock()
	<-ended
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.killed && f.hire(w) { // another call may have hired the worker meanwhile
		f.diary.add(Event{Kind: Hired, Worker: name, Path: w.job.path})
	}
	return nil
}

// State is the state of a worker's process.
type State int

// The states of workers.
const (
	StateRuns State = iota + 1
	StateFrozen
	StateKilled
)

// States returns the states of the workers by their names.
func (f *Fleet) States() map[string]State {
	f.mu.Lock()
	defer f.mu.Unlock()
	states := map[string]State{}
	for _, w := range f.workers {
		switch {
		case w.killed:
			states[w.name] = StateKilled
		case w.ice != nil:
			states[w.name] = StateFrozen
		default:
			states[w.name] = StateRuns
		}
	}
	return states
}

// Play plays the story once, in about twenty units. First the leader is killed, and another worker
// leads when the leader's session has expired. Then a worker that holds the mutex is frozen, loses
// the mutex, continues, and has its write refused. At the end all workers run again. If ctx ends
// first, Play returns its error.
func (f *Fleet) Play(ctx context.Context) error {
	if err := wait.For(ctx, f.units(4.3)); err != nil {
		return err
	}
	leader, err := f.awaitHolder(ctx, SchedulerPath)
	if err == nil {
		err = f.Kill(leader)
	}
	if err == nil {
		err = wait.For(ctx, f.units(5.2))
	}
	if err != nil {
		return err
	}
	holder, err := f.awaitNext(ctx, OrdersPath)
	if err == nil {
		err = wait.For(ctx, f.units(0.5))
	}
	if err == nil {
		err = f.Freeze(holder)
	}
	if err == nil {
		err = wait.For(ctx, f.units(4.6))
	}
	if err == nil {
		err = f.Thaw(holder)
	}
	if err == nil {
		err = wait.For(ctx, f.units(1.7))
	}
	if err == nil {
		err = f.Hire(leader)
	}
	if err == nil {
		err = wait.For(ctx, f.units(1.5))
	}
	if err == nil {
		orders := f.diary.grantsOf(OrdersPath)
		f.diary.add(Event{Kind: Ended, Path: OrdersPath, Grants: orders.count, Falls: orders.falls})
	}
	return err
}

// awaitHolder waits until a worker has got the lock at path, and returns that worker.
func (f *Fleet) awaitHolder(ctx context.Context, path string) (string, error) {
	for {
		changed := f.Changed()
		if name, _ := f.Holder(path); name != "" {
			return name, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// awaitNext waits for the next time that a worker gets the lock at path, and returns that worker.
func (f *Fleet) awaitNext(ctx context.Context, path string) (string, error) {
	_, before := f.Holder(path)
	for {
		changed := f.Changed()
		if name, token := f.Holder(path); token != before {
			return name, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
