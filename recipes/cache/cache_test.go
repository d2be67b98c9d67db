package cache_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// virtual runs test in virtual time with a cache that is not started, of a tree.
func virtual(t *testing.T, kind kind, test func(f *fixture), opts ...cache.Option) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 a/b=2 a/b/c=3 d=4")
		f.make(kind, opts...)
		synctest.Wait()
		test(f)
	})
}

// settle waits until everything that can happen has happened.
func settle() { synctest.Wait() }

// A cache follows changes of all kinds, and its snapshots do not change.
func TestFollows(t *testing.T) {
	each(t, func(f *fixture) {
		before := f.cache.Snapshot()
		f.has("= a=1 a/b=2 a/b/c=3 d=4")
		f.write("a/b=5 e=6 -d")
		f.eventually("= a=1 a/b=5 a/b/c=3 e=6")
		f.write("-a")
		f.eventually("= e=6")
		if got := f.text(before); got != "= a=1 a/b=2 a/b/c=3 d=4" {
			f.Errorf("a snapshot has become %q", got)
		}
	})
}

// What the ways to read a cache give.
func TestReading(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		if s := f.cache.Snapshot(); s.Len() != 0 || s.Zxid() != 0 || s.Exact() || len(maps.Collect(f.cache.All())) != 0 {
			t.Error("a cache is not empty before Start")
		}
		f.start()
		s := f.cache.Snapshot()
		if s.Len() != 5 || !s.Exact() || s.Zxid() == 0 {
			t.Errorf("Len %d, Exact %t, Zxid %d", s.Len(), s.Exact(), s.Zxid())
		}
		var stat framework.Stat
		data := suite.Got(f.writer.GetData().StoringStatIn(&stat).ForPath(f.Context(), f.path("a/b"))).OK(t)
		if node, ok := f.cache.Get(f.path("a/b")); !ok || node.Path != f.path("a/b") || node.Stat != stat || string(node.Data) != string(data) {
			t.Errorf("got %+v, want %+v", node, stat)
		}
		for _, missing := range []string{"", "/", f.path("x"), f.path("a/x"), f.path("a/b/c/d"), f.path("a") + "/", f.other} {
			if _, ok := f.cache.Get(missing); ok {
				t.Errorf("there is a node at %q", missing)
			}
		}
		names := func(path string) (names string) {
			for name, node := range f.cache.Children(path) {
				names += name + "=" + string(node.Data) + " "
			}
			return names
		}
		if root, leaf, none := names(f.root), names(f.path("d")), names(f.path("x")); root != "a=1 d=4 " || leaf+none != "" {
			t.Errorf("children %q, %q, %q", root, leaf, none)
		}
		for range f.cache.All() {
			break // is fine
		}
		for range f.cache.Children(f.root) {
			break
		}
	})
}

// kinds are the caches, with what they have of the same tree.
var kinds = map[string]struct {
	make kind
	want string
}{
	"CuratorCache":      {cache.NewCuratorCache, "= a=1 a/b=2 a/b/c=3 d=4"},
	"NodeCache":         {cache.NewNodeCache, "="},
	"PathChildrenCache": {cache.NewPathChildrenCache, "a=1 d=4"},
}

// Each kind has its nodes and no others. Its root may be missing, and come and go. Changes beside
// its nodes are not told. Listeners hear of Initialized once, also if there is no node.
func TestKinds(t *testing.T) {
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b)
				f.make(c.make)
				told := make(chan string, 100)
				f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { told <- f.record(e) })
				f.start()
				f.has("")
				if first := <-told; first != "!" {
					t.Errorf("told %q first", first)
				}
				for range 2 {
					f.write("a=1 a/b=2 a/b/c=3 d=4")
					f.eventually(c.want)
					f.write("-")
					f.eventually("")
				}
				f.write("a=1 a/b=2 a/b/c=3 d=4")
				f.eventually(c.want)
				f.close()
				close(told)
				created, deleted := 0, 0
				for e := range told {
					switch e[0] {
					case '+':
						created++
					case '-':
						deleted++
					default:
						t.Errorf("told %q", e)
					}
				}
				if n := len(strings.Fields(c.want)); created != 3*n || deleted != 2*n {
					t.Errorf("told of %d nodes created and %d deleted, of %d", created, deleted, n)
				}
			})
		})
	}
}

// Exists tells a node without children from no node, also the one whose children a cache has.
func TestExists(t *testing.T) {
	for name, c := range kinds {
		virtual(t, c.make, func(f *fixture) {
			exists := func(name string, want bool) {
				t.Helper()
				if got := f.cache.Snapshot().Exists(f.path(name)); got != want {
					t.Errorf("%q exists: %t, want %t", name, got, want)
				}
			}
			exists("", false)
			f.start()
			exists("", true)
			exists("a", name != "NodeCache")
			exists("a/b", name == "CuratorCache")
			exists("x", false)
			f.write("-a -d")
			settle()
			exists("", true)
			exists("a", false)
			f.write("-")
			settle()
			exists("", false)
			if new(cache.CuratorCache).Snapshot().Exists(f.root) {
				t.Error("a node in no cache")
			}
		})
	}
}

// Caches of the root of the server and of a namespace have the client's paths.
func TestPaths(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 a/b=2")
		space := f.client.UsingNamespace(strings.TrimPrefix(f.root, "/"))
		for _, c := range []struct {
			client *framework.Client
			root   string
			want   []string
		}{
			{space, "/", []string{"/", "/a", "/a/b", "/c"}},
			{space, "/a", []string{"/a", "/a/b"}},
			{f.client.UsingNamespace(""), "/", nil},
		} {
			all := suite.Got(cache.NewCuratorCache(c.client, c.root)).OK(t)
			suite.OK(t, all.Start(t.Context()))
			zxid := f.write("c=3")
			suite.OK(t, all.Await(t.Context(), zxid))
			got := slices.Collect(maps.Keys(maps.Collect(all.All())))
			slices.Sort(got)
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.root, got, c.want)
			}
			if _, ok := all.Get(f.path("a/b")); c.want == nil && (!ok || !slices.Contains(got, "/zookeeper")) {
				t.Errorf("the cache of everything has %q", got)
			}
			suite.OK(t, all.Close(t.Context()))
		}
	})
}

// sent returns how many requests of the cache are sent while do runs and until all is quiet.
func (f *fixture) sent(do func()) map[string]int {
	ops := []jute.Op{jute.OpGetData, jute.OpExists, jute.OpGetChildren2, jute.OpAddWatch, jute.OpSetWatches2, jute.OpSync}
	before := map[jute.Op]int{}
	for _, op := range ops {
		before[op] = f.network.Requests(op)
	}
	do()
	settle()
	sent := map[string]int{}
	for _, op := range ops {
		if n := f.network.Requests(op) - before[op]; n > 0 {
			sent[jute.OpName(op)] = n
		}
	}
	return sent
}

// What a cache asks the server for.
func TestRequests(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		want := func(what string, got, want map[string]int) {
			t.Helper()
			if !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		want("a load reads 5 nodes and lists 3", f.sent(f.start), map[string]int{"addWatch": 1, "getData": 5, "getChildren2": 3})
		want("a change is one read", f.sent(func() { f.write("a=5") }), map[string]int{"getData": 1})
		want("a leaf that comes is one read", f.sent(func() { f.write("e=5") }), map[string]int{"getData": 1})
		want("a leaf that goes is one probe", f.sent(func() { f.write("-e") }), map[string]int{"exists": 1})
		want("a reconnect is one exists for each node", f.sent(func() {
			f.network.Cut()
			time.Sleep(time.Second)
		}), map[string]int{"sync": 1, "setWatches2": 1, "exists": 5})
		want("what has changed meanwhile is read", f.sent(func() {
			heal := f.network.Isolate()
			f.write("a=7 d/x=1")
			heal()
			time.Sleep(time.Second)
		}), map[string]int{"sync": 1, "setWatches2": 1, "exists": 5, "getData": 2, "getChildren2": 1})
		f.has("= a=7 a/b=2 a/b/c=3 d=4 d/x=1")
		want("Await of what is known", f.sent(func() {
			if err := f.cache.Await(f.Context(), f.cache.Snapshot().Zxid()); err != nil {
				t.Error(err)
			}
		}), map[string]int{})
	})
}

// A node that was deleted and made again is told by two events, also if that was during an outage
// and its version is the same.
func TestRecreated(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		var told []string
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { told = append(told, f.record(e)) })
		heal := f.network.Isolate()
		f.write("-d d=4 -a a=1 a/b=2")
		heal()
		time.Sleep(time.Second)
		settle()
		if want := []string{"-a/b/c=3", "-a/b=2", "-a=1", "-d=4", "+d=4", "+a=1", "+a/b=2"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		told = nil
		op := f.writer.TransactionOp()
		_ = suite.Got(f.writer.Transaction().ForOperations(f.Context(), op.Delete().ForPath(f.path("d")), op.Create().WithData([]byte("4")).ForPath(f.path("d")))).OK(t)
		settle()
		if want := []string{"-d=4", "+d=4"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// A cache is stale from the end of the connection until it has been compared with the server.
func TestStale(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		if _, stale := f.cache.Stale(); stale {
			t.Error("stale before Start")
		}
		f.start()
		if _, stale := f.cache.Stale(); stale {
			t.Error("stale after Start")
		}
		start := time.Now()
		heal := f.network.Isolate()
		time.Sleep(10 * time.Second)
		since, stale := f.cache.Stale()
		if lost := since.Sub(start); !stale || lost < time.Second || lost > suite.SessionTimeout {
			t.Errorf("stale %t, since %v after the isolation", stale, since.Sub(start))
		}
		compared := f.network.On(jute.OpExists, suite.Late, func() {
			if again, stale := f.cache.Stale(); !stale || again != since {
				t.Errorf("stale %t since %v before the cache has been compared", stale, again)
			}
		})
		heal()
		<-compared
		time.Sleep(time.Second)
		if _, stale := f.cache.Stale(); stale {
			t.Error("stale after the comparison")
		}
	})
}
