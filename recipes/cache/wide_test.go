package cache_test

import (
	"flag"
	"runtime"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

var wide = flag.Int("wide", 5_000, "children of TestWide; 70,000 were tried")

// A node with very many children is loaded and followed. A node costs little memory besides its path
// and data, and Get allocates nothing.
func TestWide(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.client = b.Server().Client(t) // a suite.Network remembers what it has read
		f.write("=")
		f.createMany("", *wide, 2000)
		f.make(cache.NewCuratorCache)
		before := heap()
		f.start()
		each := (heap() - before) / *wide
		path := len(f.path("000000"))
		t.Logf("%d bytes for each node, of which %d are its path", each, path)
		if each > 250+path+8 { // 8 for the data, which is a byte
			t.Errorf("%d bytes for each node, with a path of %d", each, path)
		}
		if n := f.cache.Snapshot().Len(); n != *wide+1 {
			t.Errorf("%d nodes, want %d", n, *wide+1)
		}
		if n := testing.AllocsPerRun(100, func() { f.cache.Get(f.root + "/000123") }); n > 1 { // the path
			t.Errorf("%v allocations for Get", n)
		}
		for range 3 {
			f.write("000123=5 new=1 -000100 000100=1 -new")
		}
		zxid := f.write("000123=6")
		suite.OK(t, f.cache.Await(t.Context(), zxid))
		if node, _ := f.cache.Get(f.path("000123")); string(node.Data) != "6" || f.cache.Snapshot().Len() != *wide+1 {
			t.Errorf("%q, %d nodes", node.Data, f.cache.Snapshot().Len())
		}
		b.Server().Disconnect()
		suite.Eventually(t, "the cache is stale", func() bool { _, stale := f.cache.Stale(); return stale })
		suite.Eventually(t, "the cache is compared", func() bool { _, stale := f.cache.Stale(); return !stale })
		last := ""
		for name := range f.cache.Children(f.root) {
			if strings.Compare(last, name) >= 0 {
				t.Fatalf("%s behind %s", name, last)
			}
			last = name
		}
	})
}

// heap returns the size of what lives.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
