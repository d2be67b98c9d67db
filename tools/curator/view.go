package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/state"
)

const (
	// livePause is the minimum time between two calls of a lookFunc, which limits the load on the
	// ensemble while there are many changes.
	livePause = 250 * time.Millisecond
	// pollPause is the time between calls if the servers have no persistent watches.
	pollPause = time.Second
)

// result is the result of a lookFunc. Each call of rows computes the ages anew.
type result struct {
	document any
	rows     func() [][]string
}

// lookFunc reads from the ensemble what a command shows.
type lookFunc func(ctx context.Context) (result, error)

// liveView shows the results of a lookFunc as they change.
type liveView struct {
	*answer
	changed wait.Signal   // something has changed at the server
	news    wait.Signal   // there is something new to show
	poll    time.Duration // the time between calls without an event; 0 is no limit
	looking sync.WaitGroup

	mu    sync.Mutex
	found *result
	err   error     // of the last call
	away  time.Time // since when there is no connection; zero if there is one
}

// subscribe sets a watch at path, which wakes changed, and a listener for the connection state. stop
// removes both.
func (v *liveView) subscribe(ctx context.Context, path string) (stop func(), err error) {
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
		v.news.Set()
	})
	watcher, err := watch.NewPersistentWatcher(v.client, path, framework.PersistentRecursive)
	if err != nil {
		remove()
		return nil, err
	}
	watcher.Listenable().Add(func(context.Context, framework.WatchedEvent) { v.changed.Set() })
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
		_ = watcher.Close(ctx) // the server removes the watch at the end of the session
	}, nil
}

// look calls the lookFunc at once and after each change, until ctx ends.
func (v *liveView) look(ctx context.Context, look lookFunc) {
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
		v.news.Set()
		if !pause(ctx, max(livePause, time.Since(begun))) || !v.awaitChange(ctx) {
			return
		}
	}
}

// awaitChange returns true when look has to be called again, false when ctx has ended.
func (v *liveView) awaitChange(ctx context.Context) bool {
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

// latest returns the last result, since when there is no connection, and the last error.
func (v *liveView) latest() (found *result, away time.Time, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.found, v.away, v.err
}
