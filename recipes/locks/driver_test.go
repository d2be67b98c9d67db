package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// changed is Curator's driver with one part replaced.
type changed struct {
	locks.StandardLockInternalsDriver
	create func(framework.CreateBuilder) framework.CreateBuilder
	gets   func(children []string, ours string, maxLeases int) locks.PredicateResults
}

func (c changed) CreatesTheLock(b framework.CreateBuilder) framework.CreateBuilder {
	if c.create == nil {
		return b
	}
	return c.create(b)
}

func (c changed) GetsTheLock(children []string, ours string, maxLeases int) locks.PredicateResults {
	if c.gets == nil {
		return c.StandardLockInternalsDriver.GetsTheLock(children, ours, maxLeases)
	}
	return c.gets(children, ours, maxLeases)
}

// A driver may add to the node; the lock excludes as before.
func TestDriver(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		var seen int
		driver := changed{
			create: func(b framework.CreateBuilder) framework.CreateBuilder { return b.WithData([]byte("mine")) },
			gets: func(children []string, ours string, maxLeases int) locks.PredicateResults {
				seen++
				if !slices.Contains(children, ours) || strings.Contains(ours, "/") || maxLeases != 1 {
					t.Errorf("children %q, ours %q, at most %d", children, ours, maxLeases)
				}
				return locks.StandardLockInternalsDriver{}.GetsTheLock(children, ours, maxLeases)
			},
		}
		lease := e.acquire(e.lock(e.client, locks.WithDriver(driver)))
		data, err := e.observer.GetData().ForPath(t.Context(), lease.Path())
		if err != nil || string(data) != "mine" || seen == 0 {
			t.Errorf("data %q, %v, the driver was asked %d times", data, err, seen)
		}
		waiter := e.queue(t.Context(), e.other(), 2)
		suite.Got(e.lock(e.client, locks.WithDriver(driver)).TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(lease)
		e.release(e.granted(waiter))
	})
}

// A driver that neither lets in nor says what to wait for would hang: it is an error.
func TestDriverThatKnowsNothing(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		driver := changed{gets: func([]string, string, int) locks.PredicateResults { return locks.PredicateResults{} }}
		mutex := e.lock(e.client, locks.WithDriver(driver))
		suite.Got(mutex.Acquire(t.Context())).Fails(t, framework.ErrInvalidOption)
		suite.Got(mutex.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.wantNodes(0)
	})
}

// A driver that watches what is not there looks again, as for a node that has just gone.
func TestDriverThatWatchesWhatIsGone(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		looks := 0
		driver := changed{gets: func(children []string, ours string, n int) locks.PredicateResults {
			if looks++; looks < 3 {
				return locks.PredicateResults{PathsToWatch: []string{"gone-lock-0000000000"}}
			}
			return locks.StandardLockInternalsDriver{}.GetsTheLock(children, ours, n)
		}}
		e.release(e.acquire(e.lock(e.client, locks.WithDriver(driver))))
		if looks != 3 {
			t.Errorf("%d looks, want 3", looks)
		}
		e.wantNodes(0)
	})
}

// Nodes that would not go with their session, or have no place in the queue, are refused
// before they are made.
func TestDriverMakesOtherNodes(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		creates := map[string]func(framework.CreateBuilder) framework.CreateBuilder{
			"no builder":       func(framework.CreateBuilder) framework.CreateBuilder { return framework.CreateBuilder{} },
			"another client's": func(framework.CreateBuilder) framework.CreateBuilder { return e.observer.Create().WithProtection() },
			"unprotected": func(framework.CreateBuilder) framework.CreateBuilder {
				return e.client.Create().WithMode(framework.EphemeralSequential)
			},
		}
		for _, mode := range []framework.CreateMode{framework.Persistent, framework.PersistentSequential, framework.Ephemeral, framework.Container} {
			creates[fmt.Sprintf("mode %v", mode)] = func(b framework.CreateBuilder) framework.CreateBuilder { return b.WithMode(mode) }
		}
		for name, create := range creates {
			mutex := e.lock(e.client, locks.WithDriver(changed{create: create}))
			for _, acquire := range []func(context.Context) (*locks.Lease, error){mutex.Acquire, mutex.TryAcquire} {
				_, err := acquire(t.Context())
				if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "WithDriver") {
					t.Errorf("%s: %v", name, err)
				}
			}
			e.wantNodes(0)
		}
	})
}
