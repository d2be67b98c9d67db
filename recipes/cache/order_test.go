package cache_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// recorder has what a listener, a loop over Updates and the loop of a typed view are told after a load.
type recorder struct {
	f     *fixture
	mu    sync.Mutex
	told  map[string][]string
	group sync.WaitGroup
}

// record begins to record, of a cache that is not started.
func record(f *fixture) *recorder {
	r := &recorder{f: f, told: map[string][]string{}}
	f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { r.add("listener", f.record(e)) })
	typed := suite.Got(cache.NewTyped(f.cache, func(node cache.ChildData) (cache.ChildData, error) { return node, nil })).OK(f)
	r.group.Go(func() {
		for u := range f.cache.Updates(f.Context()) {
			for _, e := range u.Events {
				r.add("Updates", f.record(e))
			}
		}
	})
	r.group.Go(func() {
		for events := range typed.Updates(f.Context()) {
			for _, e := range events {
				r.add("Typed", f.record(cache.Event{Type: e.Type, Path: e.Path, Old: e.Old.Value, New: e.New.Value}))
			}
		}
	})
	return r
}

func (r *recorder) add(who, what string) {
	if what == "!" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[who] = append(r.told[who], what)
}

// want waits until everybody was told as much as is wanted since the last call, and compares it.
func (r *recorder) want(want ...string) {
	r.f.Helper()
	for _, who := range []string{"listener", "Updates", "Typed"} {
		var got []string
		suite.Eventually(r.f.T, "all events of the "+who, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			got = slices.Clone(r.told[who])
			return len(got) >= len(want)
		})
		if !slices.Equal(got, want) {
			r.f.Errorf("%s: told %q, want %q", who, got, want)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.told)
}

// ordering runs test with a cache that is started and has been told of.
func ordering(t *testing.T, test func(f *fixture, r *recorder)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("= d=4 a=1 a/b=2")
		f.make(cache.NewCuratorCache, cache.WithMaxLag(1<<40))
		r := record(f)
		f.start()
		r.want("+=", "+d=4", "+a=1", "+a/b=2")
		test(f, r)
		f.close()
		r.group.Wait()
	})
}

// together makes changes while the read that the first one causes is held back, so the cache shows
// all of them in one version.
func (f *fixture) together(first string, others func()) {
	f.Helper()
	hit := f.network.On(jute.OpGetData, suite.Late, others)
	f.write(first)
	<-hit
}

// Changes that are shown in one version are told in the order in which they were made, deletions
// among them.
func TestEventsInOrderOfChanges(t *testing.T) {
	ordering(t, func(f *fixture, r *recorder) {
		f.together("z=1", func() { f.write("y=2 -d a=5 ready=6 x=7") })
		r.want("+z=1", "+y=2", "-d=4", "a=1>5", "+ready=6", "+x=7")
		f.together("x=8", func() { f.write("-ready a=9 -a a=1 -y -a") })
		r.want("x=7>8", "-ready=6", "-a/b=2", "-a=5", "-y=2")
		f.together("z=2", func() { f.write("p=1 p/q=2 -x p/r=3 p=4 -z w=5") })
		r.want("+p=4", "+p/q=2", "-x=8", "+p/r=3", "-z=1", "+w=5")
	})
}

// Deletions during an outage, which nobody tells, come first, and the other changes in their order.
func TestEventsInOrderAfterAnOutage(t *testing.T) {
	ordering(t, func(f *fixture, r *recorder) {
		heal := f.network.Isolate()
		f.write("z=1 y=2 a=5 -d d=6 x=7 -a/b ready=8")
		heal()
		r.want("-a/b=2", "-d=4", "+z=1", "+y=2", "a=1>5", "+d=6", "+x=7", "+ready=8")
	})
}

// The changes of one transaction come in the order of paths, its deletions first.
func TestEventsOfATransaction(t *testing.T) {
	ordering(t, func(f *fixture, r *recorder) {
		op := f.writer.TransactionOp()
		create := func(name string) framework.Op { return op.Create().WithData([]byte("n")).ForPath(f.path(name)) }
		f.together("z=1", func() {
			_, err := f.writer.Transaction().ForOperations(f.Context(), create("y"), op.Delete().ForPath(f.path("a/b")), create("x"),
				op.Delete().ForPath(f.path("a")), create("a"), create("a/c"), op.SetData().ForPath(f.path("d"), []byte("5")))
			if err != nil {
				f.Error(err)
			}
			f.write("w=2")
		})
		r.want("+z=1", "-a/b=2", "-a=1", "+a=n", "+a/c=n", "d=4>5", "+x=n", "+y=n", "+w=2")
	})
}

// A slow loop gets the changes of several versions in their order, also the deletions.
func TestSlowLoopInOrder(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		next := make(chan struct{})
		var got []string
		var group sync.WaitGroup
		group.Go(func() {
			for u := range f.cache.Updates(f.Context()) {
				got = nil
				for _, e := range u.Events {
					got = append(got, f.record(e))
				}
				<-next
			}
		})
		settle()
		for _, change := range []string{"y=1", "-d", "x=2", "-a/b/c", "d=5", "a=3", "-d", "-x", "w=4", "d=6", "-a/b"} {
			f.write(change)
			settle()
		}
		next <- struct{}{}
		settle()
		want := []string{"+y=1", "-d=4", "-a/b/c=3", "a=1>3", "+w=4", "+d=6", "-a/b=2"}
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		f.close()
		close(next)
		group.Wait()
	})
}
