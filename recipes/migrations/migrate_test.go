package migrations_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/migrations"
)

// Migrations are applied in their order, once; a set is extended at its end.
func TestStages(t *testing.T) {
	each(t, func(f *fixture) {
		f.applies(2, "a", "b")
		f.has("a", "b")
		f.applies(0, "a", "b")
		f.applies(3, "a", "b", "c", "d", "e")
		f.applies(0, "a", "b", "c", "d", "e")
		f.has("a", "b", "c", "d", "e")
		f.unlocked()
	})
}

// Sets with other IDs know nothing of each other. A set, and a migration, may be empty.
func TestSets(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.applies(0)
		f.applies(1, "a")
		other := f.set(f.observer, "x", "y")
		other.ID, other.Migrations = "other", append(other.Migrations, migrations.Migration{})
		for _, want := range []int{3, 0} {
			if n, err := f.migrate(t.Context(), f.observer, other); err != nil || n != want {
				t.Errorf("applied %d, %v, want %d", n, err, want)
			}
		}
		if got := f.children(f.metadata); !slices.Equal(got, []string{"other", "set"}) {
			t.Errorf("the metadata is %q", got)
		}
	})
}

// A migration that was changed, moved or removed is refused, and nothing is applied.
func TestMismatch(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.applies(3, "a", "b", "c")
		for what, names := range map[string][]string{
			"changed": {"a", "B", "c", "d"}, "moved": {"b", "a", "c", "d"}, "removed": {"a", "c", "d"},
			"shorter": {"a", "b"}, "none": {},
		} {
			t.Log(what)
			f.refuses(f.set(f.observer, names...), migrations.ErrMismatch)
		}
		changed := f.set(f.observer, "a", "b", "c")
		changed.Migrations[1] = migrations.Migration{
			f.observer.TransactionOp().Create().WithData([]byte("else")).ForPath(f.root + "/b"),
			f.observer.TransactionOp().SetData().ForPath(f.root, nil),
		}
		f.refuses(changed, migrations.ErrMismatch)
		f.has("a", "b", "c")
		f.do(f.observer.Create().ForPath(t.Context(), f.metadata+"/set/stray"))
		f.refuses(f.set(f.observer, "a", "b", "c", "d"), migrations.ErrMismatch)
		f.unlocked()
	})
}

// An operation that cannot be done is told with its migration, and nothing is applied.
func TestBadOperation(t *testing.T) {
	each(t, func(f *fixture) {
		t := f.t
		f.applies(1, "a")
		set := f.set(f.observer, "a", "b")
		set.Migrations = append(set.Migrations, migrations.Migration{
			f.observer.TransactionOp().Create().ForPath(f.root + "/c"),
			f.observer.TransactionOp().Delete().ForPath(f.root + "/none"),
		})
		n, err := f.migrate(t.Context(), f.observer, set)
		suite.WantErr(t, err, framework.ErrNoNode)
		if n != 0 || err == nil || !strings.Contains(err.Error(), "migration 3: ") || !strings.Contains(err.Error(), f.root+"/none") {
			t.Errorf("%d, %v", n, err)
		}
		f.has("a")
		f.unlocked()
	})
}

// What does not fit into a request is refused before it is sent, and nothing is applied.
func TestTooLarge(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		set := f.set(f.observer, "a")
		for i := range 3 {
			set.Migrations = append(set.Migrations, migrations.Migration{
				f.observer.TransactionOp().Create().WithData(make([]byte, 500_000)).ForPath(fmt.Sprintf("%s/large-%d", f.root, i)),
			})
		}
		f.refuses(set, framework.ErrTooLarge)
		f.has()
		for i, want := range []int{2, 1, 1} { // in stages it fits
			stage := migrations.Set{ID: set.ID, Migrations: set.Migrations[:i+2]}
			if n, err := f.migrate(t.Context(), f.observer, stage); err != nil || n != want {
				t.Errorf("stage %d: applied %d, %v, want %d", i, n, err, want)
			}
		}
	})
}

// Of several processes each migration is applied by one.
func TestTogether(t *testing.T) {
	each(t, func(f *fixture) {
		t := f.t
		var mu sync.Mutex
		var wg sync.WaitGroup
		var counts []int
		for range 4 {
			c, _ := f.b.Client(t)
			wg.Go(func() {
				n, err := f.migrate(t.Context(), c, f.set(c, "a", "b", "c"))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				counts = append(counts, n)
			})
		}
		wg.Wait()
		slices.Sort(counts)
		if !slices.Equal(counts, []int{0, 0, 0, 3}) {
			t.Errorf("applied %d", counts)
		}
		f.has("a", "b", "c")
		f.unlocked()
	})
}

// While another process is stuck, a short wait ends, and a long one is rewarded.
func TestOneStuck(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		mutex := suite.Got(locks.NewInterProcessSemaphoreMutex(f.observer, f.locks+"/set")).OK(t)
		lease := suite.Got(mutex.Acquire(t.Context())).OK(t)
		c, _ := f.b.Client(t)
		suite.Got(f.migrate(t.Context(), c, f.set(c, "a"), locks.WithMaxWait(time.Second))).Fails(t, locks.ErrNotAcquired)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		suite.Got(f.migrate(ctx, c, f.set(c, "a"))).Fails(t, context.DeadlineExceeded)

		done := make(chan error, 1)
		go func() {
			_, err := f.migrate(t.Context(), c, f.set(c, "a"), locks.WithMaxWait(time.Minute))
			done <- err
		}()
		synctest.Wait()
		f.has()
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		f.has("a")
		f.unlocked()
	})
}

// The operations, and the metadata, may be those of views in namespaces.
func TestNamespaces(t *testing.T) {
	each(t, func(f *fixture) {
		t := f.t
		view := f.observer.UsingNamespace(f.root[1:] + "/space")
		set := migrations.Set{ID: "set", Migrations: []migrations.Migration{
			{view.TransactionOp().Create().WithData(nil).ForPath("/v"), f.observer.TransactionOp().SetData().ForPath(f.root, nil)},
		}}
		for _, want := range []int{1, 0} {
			if n, err := migrations.Migrate(t.Context(), view, "/l", "/m", set); err != nil || n != want {
				t.Errorf("applied %d, %v, want %d", n, err, want)
			}
		}
		if got := f.children(f.root + "/space"); !slices.Equal(got, []string{"l", "m", "v"}) {
			t.Errorf("the nodes are %q", got)
		}
	})
}

// requests counts what a client has sent.
func requests(n *suite.Network) (total int) {
	for _, op := range []jute.Op{
		jute.OpCreate2, jute.OpCreateContainer, jute.OpExists, jute.OpGetChildren, jute.OpGetChildren2, jute.OpGetData,
		jute.OpSetData, jute.OpDelete, jute.OpMulti, jute.OpSync, jute.OpRemoveWatches,
	} {
		total += n.Requests(op)
	}
	return total
}

// A migration costs one lock, one list, a read for each that was applied, and one write.
func TestRequests(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.applies(2, "a", "b")
		c, n := f.b.Client(t)
		lock := suite.Got(locks.NewInterProcessSemaphoreMutex(c, f.locks+"/set")).OK(t)
		lease := suite.Got(lock.Acquire(t.Context())).OK(t)
		suite.OK(t, lease.Release(t.Context()))
		before := requests(n)
		suite.Got(f.migrate(t.Context(), c, f.set(c, "a", "b", "c"))).OK(t)
		if got := requests(n) - before - before; got != 4 {
			t.Errorf("%d requests besides those of the lock, want 4", got)
		}
	})
}
