package cache_test

import (
	"context"
	"errors"
	"path"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// phase is a state of a cache: it is reading everything for the first time, follows the tree, or
// compares itself with the server after a reconnect.
type phase struct {
	name  string
	op    jute.Op // the request that is typical of it
	enter func(f *faulty)
}

var phases = []phase{
	{"loading", jute.OpGetData, func(f *faulty) { f.begin() }},
	{"following", jute.OpGetData, func(f *faulty) { f.write("a=3") }},
	{"comparing", jute.OpExists, func(f *faulty) {
		f.network.Cut()
		f.write("a=3")
	}},
}

// fault is what happens to a cache in a phase.
type fault struct {
	name   string
	inject func(f *faulty, op jute.Op) (hit <-chan struct{})
	// want is what the cache has in the end, if it goes on; "" is nothing at all.
	want string
	ends error // what Start returns, if it is under way, if the cache does not go on
}

const survives = "= a=3 b=2 b/c=5"

// late has something happen while a request is on its way.
func late(do func(f *faulty)) func(f *faulty, op jute.Op) <-chan struct{} {
	return func(f *faulty, op jute.Op) <-chan struct{} {
		return f.network.On(op, suite.Late, func() { do(f) })
	}
}

// meanwhile is late for what must not be waited for.
func meanwhile(do func(f *faulty)) func(f *faulty, op jute.Op) <-chan struct{} {
	return func(f *faulty, op jute.Op) <-chan struct{} {
		done := make(chan struct{})
		f.network.On(op, suite.CutBefore, func() {
			go func() {
				defer close(done)
				do(f)
			}()
		})
		return done
	}
}

func cut(fate suite.Fate) func(f *faulty, op jute.Op) <-chan struct{} {
	return func(f *faulty, op jute.Op) <-chan struct{} {
		f.network.On(jute.OpGetChildren2, fate, nil)
		return f.network.On(op, fate, nil)
	}
}

var faults = []fault{
	{"before send", cut(suite.CutBefore), survives, nil},
	{"reply lost", cut(suite.CutAfter), survives, nil},
	{"suspended, same session", func(f *faulty, op jute.Op) <-chan struct{} {
		return f.network.On(op, suite.CutBefore, func() { f.heal = f.network.Isolate() })
	}, survives, nil},
	{"session lost", late(func(f *faulty) { f.network.Expire(f.T) }), survives, nil},
	{"reconnect to a lagging server", func(f *faulty, op jute.Op) <-chan struct{} {
		f.network.Lag()
		return f.network.On(op, suite.CutBefore, nil)
	}, survives, nil},
	{"node deleted", late(func(f *faulty) { f.write("-b") }), "= a=3", nil},
	{"root deleted", late(func(f *faulty) { f.write("-") }), "", nil},
	{"parent deleted", late(func(f *faulty) {
		err := f.writer.Delete().DeletingChildrenIfNeeded().ForPath(f.Context(), path.Dir(f.root))
		if err != nil {
			f.Error(err)
		}
	}), "", nil},
	{"ctx ends", late(func(f *faulty) { f.cancel() }), survives, context.Canceled},
	{"Close", meanwhile(func(f *faulty) { f.close() }), "", framework.ErrClosed},
	{"Close with an ended ctx", meanwhile(func(f *faulty) {
		ended, end := context.WithCancel(f.Context())
		end()
		if err := f.cache.Close(ended); err != nil {
			f.Error(err)
		}
	}), "", framework.ErrClosed},
	{"client closed", meanwhile(func(f *faulty) { _ = f.client.Close(context.WithoutCancel(f.Context())) }), "", framework.ErrClosed},
}

// faulty is a fixture of one cell.
type faulty struct {
	*fixture
	ctx    context.Context // of Start
	cancel context.CancelFunc
	heal   func()
	result chan error // of Start
}

func (f *faulty) begin() { go func() { f.result <- f.cache.Start(f.ctx) }() }

// TestFaults is the table of faults: each of them in each phase.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, p := range phases {
		for _, c := range faults {
			t.Run(p.name+"/"+c.name, func(t *testing.T) {
				on := suite.InVirtualTime | suite.OnRealServer
				if c.ends != nil || c.name == "reconnect to a lagging server" {
					on = suite.InVirtualTime // the client alone decides what becomes of it
				}
				suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) { cell(t, b, p, c) })
			})
		}
	}
}

func cell(t *testing.T, b *suite.Backend, p phase, c fault) {
	f := &faulty{fixture: newFixture(t, b), result: make(chan error, 1)}
	f.ctx, f.cancel = context.WithCancel(t.Context())
	defer f.cancel()
	if p.op == jute.OpExists { // with one-shot watches nothing is compared
		b.NeedPersistentWatches(t, f.writer)
	}
	f.write("a=1 b=2 b/c=5")
	f.make(cache.NewCuratorCache)
	if p.name != "loading" {
		f.begin()
		if err := <-f.result; err != nil {
			t.Fatal(err)
		}
	}
	before := f.cache.Snapshot()
	text := f.text(before)
	hit := c.inject(f, p.op)
	p.enter(f)
	<-hit
	if f.heal != nil {
		f.isolated(p)
		f.heal()
	}
	switch {
	case p.name == "loading":
		err := <-f.result
		if c.ends != nil && !errors.Is(err, c.ends) || c.ends == nil && err != nil {
			t.Fatalf("Start returned %v, want %v", err, c.ends)
		}
		if c.ends != nil && f.cache.Snapshot().Len() != 0 {
			t.Error("a Start that has failed has left something")
		}
		if errors.Is(c.ends, context.Canceled) {
			f.start() // it may be called again
		}
		if c.ends == nil || c.want != "" {
			if c.want != "" {
				f.write("a=3")
			}
			f.eventually(c.want)
		}
	case errors.Is(c.ends, framework.ErrClosed):
		if now := f.text(f.cache.Snapshot()); now != text && now != survives {
			t.Errorf("the cache has %q: it can still be read", now)
		}
		if _, stale := f.cache.Stale(); !stale && c.name != "client closed" {
			t.Error("a closed cache is not stale")
		}
		if err := f.cache.Await(t.Context(), before.Zxid()+1000); !errors.Is(err, framework.ErrClosed) {
			t.Errorf("Await: %v", err)
		}
	default:
		f.eventually(c.want)
		suite.Eventually(t, "the cache is not stale", func() bool { _, stale := f.cache.Stale(); return !stale })
	}
	if f.text(before) != text {
		t.Error("a snapshot has changed")
	}
	f.close()
}

// isolated looks at a cache that is cut off.
func (f *faulty) isolated(p phase) {
	if p.name == "loading" {
		return
	}
	suite.Eventually(f.T, "the cache is stale", func() bool { _, stale := f.cache.Stale(); return stale })
	f.has("= a=1 b=2 b/c=5")
}
