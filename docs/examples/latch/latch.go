// Package latch is a recipe that is made of the public API alone: a latch that many processes wait
// for, and that can be set and reset. docs/own-recipe.md explains it.
//
// A latch is a directory. It is set while the directory has a child. Set creates a child with a name
// of its own, Reset deletes the children that it sees, and a waiter watches the directory. Nothing else
// may be in the directory. It stays when nobody uses the latch any more.
//
// A Latch is safe for concurrent use. A context bounds one call. What a call has begun to create or
// delete when its context ends is finished or undone in the background, until the client is closed.
package latch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/retry"
)

// Latch is one user's side of a latch. Make it with New.
type Latch struct {
	client *framework.Client
	dir    string

	life context.Context // ends with Close
	end  context.CancelFunc

	mu    sync.Mutex // no call begins when life has ended
	calls sync.WaitGroup
}

// New returns the latch at dir. It sends nothing.
func New(client *framework.Client, dir string) *Latch {
	life, end := context.WithCancel(context.Background())
	return &Latch{client: client, dir: dir, life: life, end: end}
}

// Close ends the calls of this Latch with framework.ErrClosed, and returns when they have returned. It
// waits for no server, and leaves the latch as it is, because other processes use it.
func (l *Latch) Close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.calls.Wait()
}

// call runs a call of the user, unless the Latch is closed. Its context ends with the Latch, too.
func (l *Latch) call(parent context.Context, do func(ctx context.Context) error) error {
	l.mu.Lock()
	if l.life.Err() != nil {
		l.mu.Unlock()
		return framework.ErrClosed
	}
	l.calls.Add(1)
	l.mu.Unlock()
	defer l.calls.Done()
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	err := do(ctx)
	if err != nil && l.life.Err() != nil && parent.Err() == nil {
		return fmt.Errorf("%w: %w", framework.ErrClosed, err)
	}
	return err
}

// reading is the directory at one moment.
type reading struct {
	children []string
	dir      framework.Stat
}

// look reads the directory, and sets the watch of watcher if that is not nil. With fresh it shows no state
// from before the call: a server that lags behind first catches up.
func (l *Latch) look(ctx context.Context, fresh bool, watcher *framework.Watcher) (seen reading, err error) {
	if fresh {
		if err := l.client.Sync().ForPath(ctx, l.dir); err != nil {
			return reading{}, err
		}
	}
	read := l.client.GetChildren().StoringStatIn(&seen.dir)
	if watcher != nil {
		read = read.UsingWatcher(watcher)
	}
	seen.children, err = read.ForPath(ctx, l.dir)
	if errors.Is(err, framework.ErrNoNode) {
		if err = paths.Mkdirs(ctx, l.client, l.dir); err == nil {
			seen.children, err = read.ForPath(ctx, l.dir)
		}
	}
	return seen, err
}

// Set sets the latch; it may be set already. After an error the latch may be set for a moment, if that is
// framework.MaybeApplied: the client then deletes in the background what the call may have created.
func (l *Latch) Set(ctx context.Context) error { return l.call(ctx, l.set) }

func (l *Latch) set(ctx context.Context) error {
	seen, err := l.look(ctx, false, nil)
	if err != nil {
		return err
	}
	_, err = l.client.Create().CreatingParentsIfNeeded().WithProtection().ForPath(ctx, paths.Make(l.dir, "set"))
	if err != nil {
		return err
	}
	// A child that was there already is no reason to create none: its Set may have failed, and its client
	// may be about to delete it. Now ours takes its place. A child that stays does no harm.
	_ = l.remove(ctx, seen.children)
	return nil
}

// Reset resets the latch; it may be reset already. After an error the latch may be set or reset, and the
// client goes on to delete what Reset has seen.
func (l *Latch) Reset(ctx context.Context) error { return l.call(ctx, l.reset) }

func (l *Latch) reset(ctx context.Context) error {
	seen, err := l.look(ctx, true, nil)
	if err != nil {
		return err
	}
	return l.remove(ctx, seen.children)
}

// remove deletes children. No other node ever has the name of one, so a delete that comes late, from the
// background, resets nothing that was set later.
func (l *Latch) remove(ctx context.Context, children []string) (err error) {
	for _, name := range children {
		err = errors.Join(err, l.client.Delete().Guaranteed().Quietly().ForPath(ctx, paths.Make(l.dir, name)))
	}
	return err
}

// pause is the time between two tries of a waiter that cannot reach the servers.
const pause = 100 * time.Millisecond

// Wait returns nil if the latch is set, or was set since the first read of this call, however short that
// was. It goes on while the servers cannot be reached, and in a new session.
func (l *Latch) Wait(ctx context.Context) error { return l.call(ctx, l.wait) }

func (l *Latch) wait(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	watcher := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {
		select {
		case changed <- struct{}{}: // every event says only: read again
		default:
		}
	})
	// Without a watch, or a client, there is nothing to remove.
	defer func() { _ = l.client.Watches().Remove().Locally().Quietly().ForPath(ctx, l.dir, watcher) }()

	var before, now reading
	for first := true; ; first = false {
		// The client's policy is not asked within Do: a waiter does not give up.
		err := retry.Do(ctx, retry.Forever(pause), func(ctx context.Context) (err error) {
			now, err = l.look(ctx, first, watcher)
			return err
		})
		if err != nil || len(now.children) > 0 || !first && now.wasSetSince(before) {
			return err
		}
		before = now
		select {
		case <-changed:
		case <-l.client.Done():
			return framework.ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wasSetSince reports whether a child was created since before, which showed none. Pzxid is the transaction
// of the last create or delete of a child, at first that of the directory's own create. Zxids begin
// anew if the servers lose their data, so Czxid alone does not tell one directory from another.
func (r reading) wasSetSince(before reading) bool {
	if r.dir.Czxid == before.dir.Czxid && r.dir.Ctime.Equal(before.dir.Ctime) {
		return r.dir.Pzxid > before.dir.Pzxid
	}
	return r.dir.Pzxid > r.dir.Czxid
}
