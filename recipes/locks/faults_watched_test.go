package locks_test

import (
	"context"
	"testing"

	"github.com/go-curator/curator/framework"
)

// The client has a persistent recursive watch, as of a cache, above the lock. So it gets the events
// of the lock's own writes, and of others' that no watch of the lock is for, also before the answers
// to the requests that set the lock's watches.

// watchedFromAbove has test run beside the watch. A real server shows it for one kind of lock.
func watchedFromAbove(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture)) {
	eachKindVirtually(t, kinds, func(t *testing.T, f *fixture) {
		ignore := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
		watches := f.client.Watches()
		if err := watches.Add().WithMode(framework.PersistentRecursive).ForPath(t.Context(), f.path, ignore); err != nil {
			t.Fatal(err)
		}
		f.prepare()
		test(t, f)
		if err := watches.Remove().ForPath(t.Context(), f.path, ignore); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCreateWatchedFromAbove(t *testing.T) {
	watchedFromAbove(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.createUnanswered(nil)
	})
}

func TestWaitWatchedFromAbove(t *testing.T) { watchedFromAbove(t, waiters, waitNodeDeleted) }

func TestHoldWatchedFromAbove(t *testing.T) { watchedFromAbove(t, holders, holdNodeDeleted) }
