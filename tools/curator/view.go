package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/state"
)

const (
	// livePause is the least time between two looks, so that a busy ensemble is not asked
	// all the time.
	livePause = 250 * time.Millisecond
	// pollPause is the time between looks at servers that cannot tell of changes.
	pollPause = time.Second
)

// result is what a look has found. rows may be called again later: it has the ages of then.
type result struct {
	document any
	rows     func() [][]string
}

// lookFunc asks the ensemble.
type lookFunc func(ctx context.Context) (result, error)

// view is what is shown live.
type view struct {
	*answer
	changed chan struct{} // something has changed at the server
	news    chan struct{} // there is something new to show
	poll    time.Duration // between looks without a change; 0 is for ever
	looking sync.WaitGroup

	mu    sync.Mutex
	found *result
	err   error     // of the last look
	away  time.Time // since when the ensemble cannot be reached; zero if it can
}

// subscribe has the server tell of changes at path and below it.
func (v *view) subscribe(ctx context.Context, path string) (stop func(), err error) {
	remove := v.client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) {
		v.mu.Lock()
		switch now {
		case state.Suspended, state.Lost:
			if v.away.IsZero() {
				v.away = time.Now()
			}
		default:
			v.away = time.Time{}
		}
		v.mu.Unlock()
		wake(v.news)
	})
	watcher, err := watch.NewPersistentWatcher(v.client, path, framework.PersistentRecursive)
	if err != nil {
		remove()
		return nil, err
	}
	watcher.Listenable().Add(func(context.Context, framework.WatchedEvent) { wake(v.changed) })
	switch err := watcher.Start(ctx); {
	case errors.Is(err, framework.ErrUnimplemented):
		v.poll = pollPause
	case err != nil:
		remove()
		return nil, err
	}
	return func() {
		remove()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = watcher.Close(ctx) // the watch goes with the session
	}, nil
}

// wake wakes who receives from a channel that has room for one.
func wake(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// look looks at once and after each change, until ctx ends.
func (v *view) look(ctx context.Context, look lookFunc) {
	for {
		begun := time.Now()
		found, err := look(ctx)
		if ctx.Err() != nil {
			return
		}
		v.mu.Lock()
		if v.err = err; err == nil {
			v.found = &found
		}
		v.mu.Unlock()
		wake(v.news)
		if !pause(ctx, max(livePause, time.Since(begun))) || !v.awaitChange(ctx) {
			return
		}
	}
}

// awaitChange returns true when it is time for another look, false when ctx has ended.
func (v *view) awaitChange(ctx context.Context) bool {
	var again <-chan time.Time
	if v.poll > 0 {
		timer := time.NewTimer(v.poll)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-v.changed:
		return true
	case <-again:
		return true
	case <-ctx.Done():
		return false
	}
}

// latest returns what there is to show.
func (v *view) latest() (found *result, away time.Time, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.found, v.away, v.err
}
