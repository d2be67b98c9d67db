package cache_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/tools/curatortest"
)

// stats returns what the server has of nodes.
func (f *fixture) stats(names ...string) (all []framework.Stat) {
	f.Helper()
	for _, name := range names {
		var stat framework.Stat
		suite.Got(f.writer.GetData().StoringStatIn(&stat).ForPath(f.Context(), f.path(name))).OK(f)
		all = append(all, stat)
	}
	return all
}

// until writes beside the cache until the servers are at a zxid.
func (f *fixture) until(zxid int64) {
	f.Helper()
	for now := int64(0); now < zxid; {
		stat := suite.Got(f.writer.SetData().ForPath(f.Context(), f.other, nil)).OK(f)
		now = stat.Mzxid
	}
}

// loseData restarts the servers without data while the cache is cut off, and writes the same nodes again
// with other data, with the same zxids.
func (f *fixture) loseData() {
	f.Helper()
	names := []string{"", "a", "a/b", "d"}
	before := f.stats(names...)
	heal := f.network.Isolate()
	f.b.Server().RestartEmpty()
	<-time.After(10 * suite.SessionTimeout)
	other, _ := f.b.Client(f.T) // in place of the client that is cut off: its session has a zxid, too
	for _, client := range []*framework.Client{f.writer, other} {
		suite.OK(f, client.BlockUntilConnected(f.Context()))
	}
	suite.Got(f.writer.Create().CreatingParentsIfNeeded().ForPath(f.Context(), f.other)).OK(f)
	f.until(before[0].Czxid - 1)
	f.write("= a=7 a/b=8 a/c=9 d=4")
	for i, now := range f.stats(names...) {
		if now.Czxid != before[i].Czxid || now.Mzxid != before[i].Mzxid {
			f.Fatalf("%q has the zxids %d and %d, and had %d and %d", names[i], now.Czxid, now.Mzxid, before[i].Czxid, before[i].Mzxid)
		}
	}
	heal()
}

// When the servers have lost their data, other nodes can have the same zxids by chance. The cache does not
// take them for what it has, whether the client notices the loss, or the servers have come to the zxid
// that it has seen last.
func TestDataLost(t *testing.T) {
	for name, later := range map[string]string{
		"noticed":     "a/b/c=1 a/b/c=2 a/b/c=3 a/b/c=4 a/b/c=5 a/b/c=6 a/b/c=7 a/b/c=8",
		"not noticed": "",
	} {
		t.Run(name, func(t *testing.T) {
			for _, opts := range [][]cache.Option{nil, {cache.WithoutData()}} {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					f := newFixture(t, b)
					suite.OK(t, f.client.BlockUntilConnected(t.Context())) // its session has a zxid, too
					f.until(20)                                            // there is room for sessions that are made again
					f.write("= a=1 a/b=2 a/b/c=3 d=4")
					f.write(later)
					f.make(cache.NewCuratorCache, opts...)
					f.start()
					settle()
					h := f.hear()
					f.loseData()
					<-time.After(10 * suite.SessionTimeout)
					suite.OK(t, f.client.BlockUntilConnected(t.Context()))
					settle()
					if opts == nil {
						f.has("= a=7 a/b=8 a/c=9 d=4")
					}
					var created []string
					for _, what := range h.take() {
						if what[0] == '+' {
							created = append(created, what)
						}
					}
					if want := []string{"+=", "+a=7", "+a/b=8", "+a/c=9", "+d=4"}; !slices.Equal(created, want) {
						t.Errorf("told %q of what there is, want %q", created, want)
					}
					if s := f.cache.Snapshot(); !s.Exact() {
						t.Error("not exact")
					}
					zxid := f.write("d=6 -a/c") // the zxids of events are those of now
					suite.OK(t, f.cache.Await(t.Context(), zxid))
					settle()
					if s := f.cache.Snapshot(); s.Zxid() < zxid || s.Zxid() > zxid+1 || s.Len() != 4 {
						t.Errorf("%d nodes at zxid %d, want those of %d", s.Len(), s.Zxid(), zxid)
					}
				})
			}
		})
	}
}

// Await does not take what is shown from before the servers lost their data for what was written since.
func TestAwaitAfterDataLost(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		for range 50 {
			f.write("d=5")
		}
		settle()
		f.b.Server().RestartEmpty()
		<-time.After(10 * suite.SessionTimeout) // both clients have noticed
		f.write("=")
		settle()
		f.has("=")
		if zxid, last := f.cache.Snapshot().Zxid(), f.client.LastZxid(); zxid > last {
			f.Errorf("the zxid is %d, and the servers have %d", zxid, last)
		}
		for range 50 {
			f.write("=7")
		}
		settle()
		heal := f.network.Isolate()
		f.b.Server().RestartEmpty()
		<-time.After(10 * suite.SessionTimeout)
		zxid := f.write("=8")
		var early error
		hit := f.network.On(jute.OpExists, suite.Late, func() { // the cache begins to compare itself
			// Not long: the client gives a connection up that is silent for some 0.7 s, and compares on the next.
			ctx, cancel := context.WithTimeout(f.Context(), suite.SessionTimeout/8)
			defer cancel()
			early = f.cache.Await(ctx, zxid)
		})
		heal()
		<-hit
		if !errors.Is(early, context.DeadlineExceeded) {
			f.Errorf("before the cache was compared, Await returned %v", early)
		}
		suite.OK(f, f.cache.Await(f.Context(), zxid))
		f.has("=8")
		suite.OK(f, f.cache.Await(f.Context(), f.write("=9")))
		f.has("=9")
	})
}

// After a restart on an older snapshot the cache has what the servers have: nodes that are as they were cause
// no events, and one that was changed twice in different ways, with the same zxid, is no exception.
func TestRestoredSnapshot(t *testing.T) {
	suite.Twins(t, func(t *testing.T, first, second *suite.Backend, restore func()) {
		f, older := newFixture(t, first), newFixture(t, second)
		settle() // all clients are connected
		f.write("= a=1 a/b=2 a/b/c=3 d=4 x=5 x/y=6")
		older.write("= a=1 a/b=2 a/b/c=3 d=4 x=5 x/y=6")
		f.make(cache.NewCuratorCache)
		f.start()
		h := f.hear()
		f.write("a/b=10 a/lost=11 -d -x e=12 a/b/c=13 a/b/c=14")
		for range 30 {
			f.write("e=13")
		}
		settle()
		f.has("= a=1 a/b=10 a/b/c=14 a/lost=11 e=13")
		h.take()
		before := f.stats("a/b")[0]
		restore()
		<-time.After(time.Second)
		older.write("a/b=20 a/found=21")
		if now := older.stats("a/b")[0]; now.Czxid != before.Czxid || now.Mzxid != before.Mzxid || now.Ctime != before.Ctime {
			t.Fatalf("a/b is %+v, and was %+v", now, before)
		}
		suite.Eventually(t, "the cache is compared", func() bool { _, stale := f.cache.Stale(); return !stale })
		settle()
		f.has("= a=1 a/b=20 a/b/c=3 a/found=21 d=4 x=5 x/y=6")
		told := h.take()
		slices.Sort(told)
		if want := []string{"+a/found=21", "+d=4", "+x/y=6", "+x=5", "-a/lost=11", "-e=13", "a/b/c=14>3", "a/b=10>20"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if !f.cache.Snapshot().Exact() {
			t.Error("not exact")
		}
	})
}

// On a real server, whose files are those of an earlier time, and then gone.
func TestDataLostOnRealServer(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.OnRealServer, func(t *testing.T, _ *suite.Backend) { dataLostOnRealServer(t) })
}

func dataLostOnRealServer(t *testing.T) {
	server := curatortest.Real(t, curatortest.WithTickTime(suite.Tick)) // of its own, which it may break
	f := &fixture{T: t, root: "/root"}
	f.client = server.Client(t, framework.WithSessionTimeout(suite.SessionTimeout))
	f.writer = server.Client(t, framework.WithSessionTimeout(suite.SessionTimeout))
	f.write("= a=1 a/b=2 a/b/c=3 d=4")
	member := server.Members()[0]
	member.Stop()
	saved := t.TempDir()
	suite.OK(t, os.CopyFS(saved, os.DirFS(member.DataDir())))
	member.Start()
	f.make(cache.NewCuratorCache)
	f.start()
	f.write("a/b=10 -d e=12")
	for range 30 {
		f.write("e=13")
	}
	f.eventually("= a=1 a/b=10 a/b/c=3 e=13")

	restore := func(from string) {
		t.Helper()
		member.Stop()
		suite.OK(t, os.RemoveAll(member.DataDir()))
		suite.OK(t, os.CopyFS(member.DataDir(), os.DirFS(from)))
		member.Start()
	}
	restore(saved)
	f.eventually("= a=1 a/b=2 a/b/c=3 d=4")
	zxid := f.write("d=20")
	suite.OK(t, f.cache.Await(t.Context(), zxid))
	f.has("= a=1 a/b=2 a/b/c=3 d=20")

	restore(t.TempDir())
	f.eventually("")
	suite.OK(t, f.cache.Await(t.Context(), f.write("= a=30")))
	f.has("= a=30")
}
