package cache_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// number decodes a node whose data is a number; the one without data is a mere parent.
func number(node cache.ChildData) (int, error) {
	if len(node.Data) == 0 {
		return 0, cache.ErrSkip
	}
	return strconv.Atoi(string(node.Data))
}

// A typed view has the values of one snapshot. Failures to decode come and go with the data.
func TestTyped(t *testing.T) {
	for _, opts := range [][]cache.Option{nil, {cache.WithoutData()}} {
		virtual(t, cache.NewCuratorCache, func(f *fixture) {
			typed := suite.Got(cache.NewTyped(f.cache, number)).OK(t)
			want := func(values string, failed ...string) {
				t.Helper()
				settle()
				var got, names []string
				for path, node := range typed.All() {
					got = append(got, fmt.Sprintf("%s=%d", path[len(f.root)+1:], node.Value))
					if again, ok := typed.Get(path); !ok || again != node {
						t.Errorf("Get(%q) is %v", path, again)
					}
				}
				for path, err := range typed.Failed() {
					if !errors.Is(err, strconv.ErrSyntax) {
						t.Error(err)
					}
					names = append(names, path[len(f.root)+1:])
				}
				if fmt.Sprint(got) != values || !slices.Equal(names, failed) {
					t.Errorf("values %v, failed %q; want %s, %q", got, names, values, failed)
				}
			}
			want("[]")
			f.start()
			if _, err := cache.NewTyped(f.cache, number); !errors.Is(err, framework.ErrAlreadyStarted) {
				t.Errorf("a view of a cache that was started: %v", err)
			}
			want("[a=1 a/b=2 a/b/c=3 d=4]")
			f.write("a=x d=y")
			want("[a/b=2 a/b/c=3]", "a", "d")
			f.write("a=5")
			want("[a=5 a/b=2 a/b/c=3]", "d")
			f.write("-d a= e=7")
			want("[a/b=2 a/b/c=3 e=7]")
			for name, node := range typed.Children(f.root) {
				if name != "e" || node.Value != 7 {
					t.Errorf("the child %s=%v", name, node)
				}
			}
			if _, ok := typed.Get(f.path("a")); ok {
				t.Error("a node without a value")
			}
		}, opts...)
	}
}

// The updates of a typed view: what loses its value is deleted, what has got one is created.
func TestTypedUpdates(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		typed := suite.Got(cache.NewTyped(f.cache, number)).OK(t)
		done := make(chan struct{})
		var got []string
		go func() {
			defer close(done)
			for events := range typed.Updates(f.Context()) {
				for _, e := range events {
					got = append(got, fmt.Sprintf("%v %s %d %d", e.Type, e.Path[len(f.root)+1:], e.Old.Value, e.New.Value))
				}
			}
		}()
		f.write("-a")
		f.start()
		for _, change := range []string{"e=x", "d=x", "d=5", "d=6", "-d"} {
			f.write(change)
			settle()
		}
		f.close()
		<-done
		want := []string{"NODE_CREATED d 0 4", "NODE_DELETED d 4 0", "NODE_CREATED d 0 5", "NODE_CHANGED d 5 6", "NODE_DELETED d 6 0"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Each node is decoded once for each change, also in a cache without its root.
func TestTypedDecodesOnce(t *testing.T) {
	virtual(t, cache.NewPathChildrenCache, func(f *fixture) {
		decoded := map[string]int{}
		typed, err := cache.NewTyped(f.cache, func(node cache.ChildData) (int, error) {
			decoded[node.Path[len(f.root):]]++
			return number(node)
		})
		if err != nil {
			t.Fatal(err)
		}
		f.start()
		f.write("a=5 a/b=6 =7")
		settle()
		f.network.Cut()
		settle()
		if fmt.Sprint(decoded) != "map[/a:2 /d:1]" {
			t.Errorf("decoded %v", decoded)
		}
		if node, ok := typed.Get(f.path("a")); !ok || node.Value != 5 || node.Stat.Version != 1 {
			t.Errorf("a is %v", node)
		}
	})
}
