// Package lockview finds the locks below a path, with their holders and waiters. The JSON of its types
// is stable. It only reads. A result is not a snapshot: nodes are read one after the other. Its
// functions are safe for concurrent use, and return an error when ctx ends.
package lockview

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// Of returns the lock at path, nil if there is none. A semaphore of Java's layout may be free; other locks that
// are free cannot be told from other nodes.
func Of(ctx context.Context, client *framework.Client, path string) (*Lock, error) {
	i, err := locks.Inspect(ctx, client, path)
	if err != nil || i.Kind == "" {
		return nil, err
	}
	lock := &Lock{Path: path, Kind: i.Kind, Holders: contenders(i.Holders), Waiters: contenders(i.Waiters)}
	if i.Kind == layout.KindSemaphoreV2 {
		return readSemaphore(ctx, client, lock)
	}
	return lock, nil
}

const (
	// undecidedFor bounds how long Decided looks at a lease. A lease that is granted is undecided only
	// until its owner has listed the leases and released the semaphore's mutex.
	undecidedFor = time.Second
	lookPause    = 50 * time.Millisecond
)

// Decided returns the lock at path, as Of does. While a lease of a semaphore is undecided it looks again,
// for a second at most: then the lease is taken for one that waits, which is wrong only if its owner stands
// still just then. It does so for the lease with the token, or for any lease if the token is 0.
func Decided(ctx context.Context, client *framework.Client, path string, token int64) (*Lock, error) {
	for begun := time.Now(); ; {
		lock, err := Of(ctx, client, path)
		if err != nil || lock == nil || lock.Undecided == nil || token != 0 && token != lock.Undecided.Token || time.Since(begun) >= undecidedFor {
			return lock, err
		}
		if err := wait.For(ctx, lookPause); err != nil {
			return nil, err
		}
	}
}

// Below returns the locks at path and below it, ordered by path. A node that cannot be listed, or that
// has children of different kinds of locks, is a Lock with an Error. If the node at path does not
// exist, the error matches framework.ErrNoNode.
func Below(ctx context.Context, client *framework.Client, path string) ([]Lock, error) {
	f := &finder{client: client, found: []Lock{}}
	if _, err := client.GetChildren().ForPath(ctx, path); errors.Is(err, framework.ErrNoNode) {
		return nil, err
	}
	err := f.find(ctx, path)
	return f.found, err
}

type finder struct {
	client *framework.Client
	found  []Lock
}

// find adds the lock at path, or if there is none the locks below path.
func (f *finder) find(ctx context.Context, path string) error {
	names, err := f.client.GetChildren().ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil // it was deleted meanwhile
	case errors.Is(err, framework.ErrNoAuth):
		f.fail(path, err)
		return nil
	case err != nil:
		return err
	case len(names) == 0:
		return nil
	}
	if path != "/" { // the root cannot be a lock
		done, err := f.inspect(ctx, path)
		if done || err != nil {
			return err
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := f.find(ctx, join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// inspect adds the lock at path. done reports that there are no locks below path.
func (f *finder) inspect(ctx context.Context, path string) (done bool, err error) {
	lock, err := Of(ctx, f.client, path)
	switch {
	case errors.Is(err, locks.ErrKindMismatch), errors.Is(err, framework.ErrNoAuth):
		f.fail(path, err)
		return false, nil
	case err != nil || lock == nil:
		return false, err
	case len(lock.Holders)+len(lock.Waiters) == 0:
		// The mutex of a semaphore that is free is no lock of its own: a client may come meanwhile.
		return lock.Kind == layout.KindSemaphoreV2, nil
	}
	f.found = append(f.found, *lock)
	return true, nil
}

func (f *finder) fail(path string, err error) {
	f.found = append(f.found, Lock{Path: path, Holders: []Contender{}, Waiters: []Contender{}, Error: err.Error()})
}

func join(path, name string) string {
	if path == "/" {
		return "/" + name
	}
	return path + "/" + name
}
