package cache_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// A selector decides which nodes are in the cache and which are read; those that lead to a node
// which is in the cache are, too.
func TestSelector(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 a/x=2 a/secret/x=3 b/c=4 b/c/x=5 d=6")
		f.make(cache.NewCuratorCache, cache.WithSelector(func(path string) (accept, descend bool) {
			return strings.HasSuffix(path, "x"), !strings.HasSuffix(path, "secret")
		}))
		var told []string
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { told = append(told, f.record(e)) })
		reads := f.sent(f.start)
		f.has("= a=1 a/x=2 b= b/c=4 b/c/x=5")
		if reads["getData"] != 7 { // not what is below secret, nor secret itself
			t.Errorf("%v", reads)
		}
		told = nil
		f.write("d/x=7")
		settle()
		f.write("a/secret/y=8 -b/c/x -d/x")
		settle()
		f.has("= a=1 a/x=2")
		if want := []string{"+d=6", "+d/x=7", "-b/c/x=5", "-b/c=4", "-b=", "-d/x=7", "-d=6"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// Without data the cache notices every change; listeners and typed views are given the data.
func TestWithoutData(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		var told []string
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { told = append(told, f.record(e)) })
		f.start()
		f.write("a=5")
		settle()
		f.has("= a= a/b= a/b/c= d=")
		if want := []string{"+=", "+a=1", "+a/b=2", "+a/b/c=3", "+d=4", "!", "a=>5"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if node, _ := f.cache.Get(f.path("a")); node.Stat.DataLength != 1 || node.Stat.Version != 1 {
			t.Errorf("the Stat is %+v", node.Stat)
		}
	}, cache.WithoutData())
}

// Compressed data is decompressed, and a node with other data is left out until it has some.
func TestCompressedData(t *testing.T) {
	for name, prepare := range map[string]func(f *fixture){
		"persistent watches": func(*fixture) {},
		"one-shot watches":   func(f *fixture) { f.network.Old(); f.network.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				var log suite.Log
				f := newFixture(t, b, framework.WithLogger(log.Warnings()))
				prepare(f)
				compressed := func(name, data string) {
					t.Helper()
					_ = suite.Got(f.writer.Create().OrSetData().CreatingParentsIfNeeded().Compressed().WithData([]byte(data)).ForPath(t.Context(), f.path(name))).OK(t)
				}
				compressed("", "root")
				compressed("a", "1")
				compressed("a/b", "2")
				f.write("c=plain e=plain")
				f.make(cache.NewCuratorCache, cache.WithCompressedData())
				f.start()
				f.has("=root a=1 a/b=2")
				for _, data := range []string{"3", "5"} {
					f.write("a=plain c=plain")
					f.eventually("=root")
					f.write("a=plain-too")
					compressed("a", data)
					compressed("c", "4")
					f.eventually("=root a=" + data + " a/b=2 c=4")
				}
				told := func() int { return strings.Count(log.String(), "leaves out nodes") }
				suite.Eventually(t, "the warning", func() bool { return told() > 0 })
				if n := told(); n != 1 {
					t.Errorf("told %d times in the log: %s", n, log.String())
				}
				f.close()
			})
		})
	}
}

// Options that make no sense are refused by the constructors, and so are paths and clients.
func TestRefused(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		for name, c := range map[string]struct {
			client *framework.Client
			path   string
			opt    cache.Option
			want   error
			text   string
		}{
			"nil client":   {nil, "/a", nil, framework.ErrNotStarted, ""},
			"path":         {client, "a", cache.WithoutData(), framework.ErrInvalidPath, `"a"`},
			"no path":      {client, "", cache.WithoutData(), framework.ErrInvalidPath, ""},
			"nil option":   {client, "/a", nil, framework.ErrInvalidOption, "option 1 of 1 is nil"},
			"lag":          {client, "/a", cache.WithMaxLag(-time.Second), framework.ErrInvalidOption, "WithMaxLag(-1s)"},
			"selector":     {client, "/a", cache.WithSelector(nil), framework.ErrInvalidOption, "WithSelector"},
			"no name":      {client, "/a", cache.WithName(""), framework.ErrInvalidOption, "WithName"},
			"long name":    {client, "/a", cache.WithName(strings.Repeat("x", 129)), framework.ErrInvalidOption, "WithName"},
			"name of many": {client, "/a", cache.WithName("a\nb"), framework.ErrInvalidOption, "WithName"},
		} {
			for _, make := range []kind{cache.NewCuratorCache, cache.NewNodeCache, cache.NewPathChildrenCache} {
				if _, err := make(c.client, c.path, c.opt); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if _, err := cache.NewTyped(nil, number); !errors.Is(err, framework.ErrInvalidOption) {
			t.Error(err)
		}
		c := suite.Got(cache.NewNodeCache(client, "/a")).OK(t)
		if _, err := cache.NewTyped[int](c, nil); !errors.Is(err, framework.ErrInvalidOption) {
			t.Error(err)
		}
	})
}

// Without data, a listener that comes during the load gets its events with the data, also of nodes
// that were read before.
func TestWithoutDataLateListener(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("=0 a=1 a/b=2 a/b/c=3 d=4")
		f.make(cache.NewCuratorCache, cache.WithoutData())
		var told []string
		listen := func() (remove func()) {
			return f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { told = append(told, f.record(e)) })
		}
		hit := f.network.On(jute.OpGetChildren2, suite.Late, func() { listen() }) // the root has been read
		f.start()
		<-hit
		settle()
		if want := []string{"+=0", "+a=1", "+a/b=2", "+a/b/c=3", "+d=4", "!"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		f.has("= a= a/b= a/b/c= d=")
	})
}

// Without data, parents that appear with the first accepted node below them have their data in
// events and in views, although they were read long before.
func TestWithoutDataParents(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("=0 a=1 a/b=2")
		for _, opts := range [][]cache.Option{{cache.WithoutData()}, nil} {
			f.make(cache.NewCuratorCache, append(opts, cache.WithSelector(func(path string) (accept, descend bool) {
				return strings.HasSuffix(path, "x"), true
			}))...)
			typed := suite.Got(cache.NewTyped(f.cache, number)).OK(t)
			var told []string
			f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { told = append(told, f.record(e)) })
			f.start()
			f.write("a/b/x=3")
			settle()
			f.write("a/x=4")
			settle()
			if want := []string{"!", "+=0", "+a=1", "+a/b=2", "+a/b/x=3", "+a/x=4"}; !slices.Equal(told, want) {
				t.Errorf("told %q, want %q", told, want)
			}
			for name, want := range map[string]int{"a": 1, "a/b": 2, "a/b/x": 3, "a/x": 4} {
				if node, ok := typed.Get(f.path(name)); !ok || node.Value != want {
					t.Errorf("%s is decoded as %+v, %t, want %d", name, node, ok, want)
				}
			}
			f.close()
			f.write("-a/b/x -a/x")
		}
	})
}

// With one-shot watches a node whose data cannot be decompressed is watched, and its children are not.
func TestLeftOutWatches(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.network.Old()
		f.network.Cut()
		f.make(cache.NewCuratorCache, cache.WithCompressedData())
		// The root is made while a watch is set on its absence, and written again before it is read, which sets none.
		f.network.On(jute.OpExists, suite.Late, nil) // it looks for a connection
		f.network.On(jute.OpExists, suite.Late, func() {
			settle() // the server has answered the getData that was sent with it
			f.write("=plain")
			f.network.On(jute.OpGetData, suite.Late, func() { f.write("=too") })
		})
		f.start()
		settle()
		suite.Got(f.writer.SetData().Compressed().ForPath(t.Context(), f.root, []byte("root"))).OK(t)
		f.eventually("=root")
		suite.Got(f.writer.Transaction().ForOperations(t.Context(),
			f.writer.TransactionOp().SetData().ForPath(f.root, []byte("plain")),
			f.writer.TransactionOp().Create().ForPath(f.path("a")))).OK(t)
		f.eventually("")
		if sent := f.sent(func() { f.write("b=1 c=2") }); len(sent) > 0 {
			t.Errorf("for children of a node that is left out: %v", sent)
		}
		f.close()
	})
}
