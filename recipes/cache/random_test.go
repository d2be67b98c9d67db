package cache_test

import (
	"context"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/cache"
)

var (
	seeds     = flag.Int("seeds", 8, "random histories of TestRandomHistories")
	firstSeed = flag.Uint64("seed", 1, "the first one")
)

// follower is everything that follows one cache, each with a copy of its own.
type follower struct {
	h       *history
	wants   func(path string) bool
	updates contents // by a loop
	slow    contents // by a loop that takes long
	told    contents // by a listener
	typed   map[string]string
	mu      sync.Mutex
	group   sync.WaitGroup
	replay  *replay
	seen    []cache.Snapshot
}

var errOdd = errors.New("ends in 7")

// decodeOdd is a decoder that fails for some data and skips other.
func decodeOdd(node cache.ChildData) (string, error) {
	switch {
	case strings.HasSuffix(string(node.Data), "7"):
		return "", errOdd
	case strings.HasSuffix(string(node.Data), "3"):
		return "", cache.ErrSkip
	default:
		return string(node.Data), nil
	}
}

// follow begins to follow a cache, which is not started yet. The slow loop takes a pause after each update.
func follow(ctx context.Context, h *history, pause time.Duration, wants func(path string) bool) *follower {
	w := &follower{h: h, wants: wants, updates: contents{}, slow: contents{}, told: contents{}, typed: map[string]string{}, replay: h.replay()}
	apply := func(to contents, events []cache.Event) {
		for _, e := range events {
			if err := errors.Join(to.fits(e, h.f.root), to.apply(e)); err != nil {
				h.f.Error(err)
			}
		}
	}
	w.group.Go(func() {
		for u := range h.f.cache.Updates(ctx) {
			w.mu.Lock()
			apply(w.updates, u.Events)
			w.seen = append(w.seen, u.Snapshot)
			w.mu.Unlock()
		}
	})
	w.group.Go(func() {
		for u := range h.f.cache.Updates(ctx) {
			w.mu.Lock()
			apply(w.slow, u.Events)
			w.mu.Unlock()
			_ = wait.For(ctx, pause)
		}
	})
	h.f.cache.Listenable().Add(func(_ context.Context, e cache.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		apply(w.told, []cache.Event{e})
	})
	typed := suite.Got(cache.NewTyped(h.f.cache, decodeOdd)).OK(h.f)
	w.group.Go(func() {
		for events := range typed.Updates(ctx) {
			w.mu.Lock()
			for _, e := range events {
				before, there := w.typed[e.Path]
				if there != (e.Type != cache.NodeCreated) || there && before != e.Old.Value {
					h.f.Errorf("%v of %s, which was %q", e.Type, e.Path, before)
				}
				if w.typed[e.Path] = e.New.Value; e.Type == cache.NodeDeleted {
					delete(w.typed, e.Path)
				}
			}
			w.mu.Unlock()
		}
	})
	return w
}

// caughtUp tells whether all copies have as many nodes as there are, and what was written last.
func (w *follower) caughtUp() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range []contents{w.updates, w.slow, w.told} {
		for path, node := range w.h.now {
			if got := c[path]; got.Stat.Mzxid != node.mzxid {
				return false
			}
		}
		if len(c) != len(w.h.now) {
			return false
		}
	}
	return maps.Equal(w.typed, w.wantTyped())
}

// wantTyped is what the typed view has in the end.
func (w *follower) wantTyped() map[string]string {
	typed := map[string]string{}
	for path, node := range w.h.now {
		if value, err := decodeOdd(cache.ChildData{Data: []byte(node.data)}); err == nil && w.wants(path) {
			typed[path] = value
		}
	}
	return typed
}

// check compares all copies with the tree, when all is quiet.
func (w *follower) check() {
	f := w.h.f
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.h.now
	compareTree(f, "the cache", contentsOf(f.cache.Snapshot()), now, w.wants)
	compareTree(f, "by updates", w.updates, now, w.wants)
	compareTree(f, "by slow updates", w.slow, now, w.wants)
	compareTree(f, "by a listener", w.told, now, w.wants)
	if want := w.wantTyped(); !maps.Equal(want, w.typed) {
		f.Errorf("the typed view has %v, want %v", w.typed, want)
	}
	for _, s := range w.seen {
		w.replay.check(s, w.wants)
	}
}

// faults makes random faults on the network of the cache until ctx ends.
func (f *fixture) faults(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		_ = wait.For(ctx, time.Duration(r.IntN(400))*time.Millisecond)
		switch r.IntN(6) {
		case 0:
			f.network.Cut()
		case 1:
			f.network.Expire(f.T)
		case 2:
			heal := f.network.Isolate()
			_ = wait.For(ctx, time.Duration(r.IntN(4000))*time.Millisecond)
			heal()
		default:
			op := []jute.Op{jute.OpGetData, jute.OpExists, jute.OpGetChildren2, jute.OpSetWatches2, jute.OpAddWatch}[r.IntN(5)]
			f.network.On(op, suite.Fate(1+r.IntN(2)), nil)
		}
	}
}

// TestRandomHistories has a writer make random transactions while the connections and sessions of
// the cache end. Every exact snapshot is the tree that the server had at its zxid. When all is
// quiet the cache has the tree, and so have a map by its updates, one by updates that are taken
// slowly, one by a listener, and a typed view.
func TestRandomHistories(t *testing.T) {
	exact, all := 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*seeds); seed++ {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			r := rand.New(rand.NewPCG(seed, 0))
			f := newFixture(t, b)
			h := newHistory(f)
			wants := f.makeRandom(r, seed)
			writer := rand.New(rand.NewPCG(seed, 1))
			for range r.IntN(50) {
				h.step(writer)
			}
			w := follow(t.Context(), h, time.Duration(r.IntN(200))*time.Millisecond, wants)
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() { f.faults(ctx, rand.New(rand.NewPCG(seed, 2))) })
			busy := time.Duration(1+r.IntN(20)) * time.Millisecond
			group.Go(func() {
				for range 400 {
					h.step(writer)
					time.Sleep(time.Duration(writer.Int64N(int64(busy))))
				}
				stop()
			})
			for {
				err := f.cache.Start(t.Context())
				if err == nil {
					break
				}
				if !errors.Is(err, framework.ErrConnectionLoss) && !errors.Is(err, framework.ErrSessionExpired) {
					t.Fatal(err)
				}
			}
			<-ctx.Done()
			group.Wait()
			time.Sleep(10 * time.Second)
			suite.OK(t, f.cache.Await(t.Context(), h.last()))
			time.Sleep(time.Second) // the slow loop
			synctest.Wait()
			w.check()
			f.close()
			w.group.Wait()
			exact += w.replay.checked
			all += len(w.seen)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
	t.Logf("%d snapshots, %d of them exact", all, exact)
}

// makeRandom makes one of the caches, with random options. wants tells which nodes it has.
func (f *fixture) makeRandom(r *rand.Rand, seed uint64) (wants func(path string) bool) {
	lag := []time.Duration{0, 5 * time.Millisecond, 100 * time.Millisecond, 10 * time.Second}[r.IntN(4)]
	opts := []cache.Option{cache.WithMaxLag(lag)}
	if seed%4 == 3 {
		f.network.Old()
		f.network.Cut()
	}
	depth := func(path string) int { return strings.Count(strings.TrimPrefix(path, f.root), "/") }
	switch r.IntN(5) {
	case 0:
		f.make(cache.NewNodeCache, opts...)
		return func(path string) bool { return path == f.root }
	case 1:
		f.make(cache.NewPathChildrenCache, opts...)
		return func(path string) bool { return depth(path) == 1 }
	}
	f.make(cache.NewCuratorCache, opts...)
	return func(string) bool { return true }
}
