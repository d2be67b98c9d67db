package cache_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// fixture is a cache of the tree at root, the client that it has, and another that writes.
type fixture struct {
	*testing.T
	b       *suite.Backend
	root    string // of the cache
	other   string // a node beside it
	client  *framework.Client
	network *suite.Network
	writer  *framework.Client
	cache   *cache.CuratorCache
}

// kind makes a cache.
type kind func(client *framework.Client, path string, opts ...cache.Option) (*cache.CuratorCache, error)

// newFixture returns a fixture without a cache, whose root does not exist.
func newFixture(t *testing.T, b *suite.Backend, opts ...framework.Option) *fixture {
	f := &fixture{T: t, b: b, root: b.Path("root"), other: b.Path("other")}
	f.client, f.network = b.Client(t, opts...)
	f.writer, _ = b.Client(t)
	suite.Got(f.writer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), f.other)).OK(t)
	return f
}

// each runs test with a cache that is started, in virtual time and on a real server.
func each(t *testing.T, test func(f *fixture)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 a/b=2 a/b/c=3 d=4")
		f.make(cache.NewCuratorCache)
		f.start()
		test(f)
	})
}

// make makes the cache, which is closed at the end of the test.
func (f *fixture) make(kind kind, opts ...cache.Option) {
	f.Helper()
	c := suite.Got(kind(f.client, f.root, opts...)).OK(f)
	f.cache = c
	f.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(f.Context())); err != nil {
			f.Error(err)
		}
	})
}

func (f *fixture) start() {
	f.Helper()
	suite.OK(f, f.cache.Start(f.Context()))
}

// close closes the cache: nothing is left then.
func (f *fixture) close() {
	f.Helper()
	if err := f.cache.Close(context.WithoutCancel(f.Context())); err != nil {
		f.Error(err)
	}
	suite.Eventually(f.T, "no watch is left at the server", func() bool { return f.b == nil || f.b.WatchesLeft() == 0 })
}

// path returns the path of a node below the root; "" is the root.
func (f *fixture) path(name string) string { return strings.TrimSuffix(f.root+"/"+name, "/") }

// write makes changes, "x=1" creates or sets a node, "-x" deletes it with what is below it. It
// returns the zxid of the last.
func (f *fixture) write(changes string) (zxid int64) {
	f.Helper()
	for change := range strings.FieldsSeq(changes) {
		if name, ok := strings.CutPrefix(change, "-"); ok {
			suite.OK(f, f.writer.Delete().DeletingChildrenIfNeeded().ForPath(f.Context(), f.path(name)))
			continue
		}
		name, data, _ := strings.Cut(change, "=")
		var stat framework.Stat
		_, err := f.writer.Create().OrSetData().CreatingParentsIfNeeded().WithData([]byte(data)).StoringStatIn(&stat).
			ForPath(f.Context(), f.path(name))
		if err != nil {
			f.Fatal(err)
		}
		zxid = stat.Mzxid
	}
	return zxid
}

// createMany creates nodes whose names begin with prefix, several in each transaction.
func (f *fixture) createMany(prefix string, n, several int) {
	f.Helper()
	for i := 0; i < n; {
		var ops []framework.Op
		for ; i < n && len(ops) < several; i++ {
			ops = append(ops, f.writer.TransactionOp().Create().WithData([]byte("x")).ForPath(f.path(fmt.Sprintf("%s%06d", prefix, i))))
		}
		suite.Got(f.writer.Transaction().ForOperations(f.Context(), ops...)).OK(f)
	}
}

// text returns the contents of a snapshot as write has them.
func (f *fixture) text(s cache.Snapshot) string {
	var all []string
	for path, node := range s.All() {
		name := strings.TrimPrefix(strings.TrimPrefix(path, f.root), "/")
		all = append(all, name+"="+string(node.Data))
	}
	return strings.Join(all, " ")
}

// eventually waits until the contents are as told.
func (f *fixture) eventually(want string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), 20*time.Second)
	defer cancel()
	got := ""
	for update := range f.cache.Updates(ctx) {
		if got = f.text(update.Snapshot); got == want {
			return
		}
	}
	f.Fatalf("the cache has %q, want %q", got, want)
}

// has fails the test unless the contents are as told now.
func (f *fixture) has(want string) {
	f.Helper()
	if got := f.text(f.cache.Snapshot()); got != want {
		f.Errorf("the cache has %q, want %q", got, want)
	}
}

// record is what is told of a cache, as text: "+x=1", "x=1>2", "-x=2", "!" when initialized.
func (f *fixture) record(e cache.Event) string {
	name := strings.TrimPrefix(strings.TrimPrefix(e.Path, f.root), "/")
	switch e.Type {
	case cache.NodeCreated:
		return fmt.Sprintf("+%s=%s", name, e.New.Data)
	case cache.NodeChanged:
		return fmt.Sprintf("%s=%s>%s", name, e.Old.Data, e.New.Data)
	case cache.NodeDeleted:
		return fmt.Sprintf("-%s=%s", name, e.Old.Data)
	case cache.NodeUnreadable:
		return fmt.Sprintf("unreadable %s=%s", name, e.Old.Data)
	case cache.NodeReadable:
		return fmt.Sprintf("readable %s=%s", name, e.New.Data)
	default:
		return "!"
	}
}

// contents are nodes by path.
type contents map[string]cache.ChildData

func contentsOf(s cache.Snapshot) contents { return maps.Collect(s.All()) }

// apply applies an event, which must fit.
func (c contents) apply(e cache.Event) error {
	before, there := c[e.Path]
	switch {
	case e.Type == cache.Initialized, e.Type == cache.NodeUnreadable, e.Type == cache.NodeReadable:
		return nil
	case there != (e.Type != cache.NodeCreated), there && !same(before, e.Old):
		return fmt.Errorf("%v of %s, which was there %t as %v", e, e.Path, there, before)
	case e.Type == cache.NodeDeleted:
		delete(c, e.Path)
	default:
		c[e.Path] = e.New
	}
	return nil
}

// fits returns an error if an event comes at a wrong place: a node is created behind its parent, and
// deleted behind its children.
func (c contents) fits(e cache.Event, root string) error {
	switch {
	case e.Type == cache.NodeCreated && e.Path != root && path.Dir(e.Path) != root: // which may not be in the cache
		if _, ok := c[path.Dir(e.Path)]; !ok {
			return fmt.Errorf("%s is created without its parent", e.Path)
		}
	case e.Type == cache.NodeDeleted:
		for other := range c {
			if strings.HasPrefix(other, e.Path+"/") {
				return fmt.Errorf("%s is deleted before %s", e.Path, other)
			}
		}
	}
	return nil
}

// same compares what is followed of a node.
func same(a, b cache.ChildData) bool {
	return a.Stat.Czxid == b.Stat.Czxid && a.Stat.Mzxid == b.Stat.Mzxid && a.Stat.Version == b.Stat.Version && slices.Equal(a.Data, b.Data)
}
