package interop_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// cachePair is a cache of each language, of the same tree.
type cachePair struct {
	*env
	peer string // of Java
	goes *cache.CuratorCache

	mu   sync.Mutex
	told []string // by ours, as Java's are
}

func newCachePair(t *testing.T) *cachePair {
	p := &cachePair{env: newEnv(t)}
	p.peer = strings.ReplaceAll(p.path, "/", "_")
	client, _ := p.b.Client(t)
	var err error
	if p.goes, err = cache.NewCuratorCache(client, p.path); err != nil {
		t.Fatal(err)
	}
	p.goes.Listenable().Add(func(_ context.Context, e cache.Event) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.Type != cache.Initialized {
			p.told = append(p.told, fmt.Sprintf("%v %s %s>%s", e.Type, e.Path, e.Old.Data, e.New.Data))
		}
	})
	t.Cleanup(func() {
		if err := p.goes.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		p.java("cacheClose")
	})
	return p
}

// java has Java do something with the cache, or with the node of the cache's path and name.
func (p *cachePair) java(command string, words ...any) string {
	p.t.Helper()
	return p.wait(p.jvm.request(p.peer, append([]any{command, p.path}, words...)...))
}

func (p *cachePair) node(command, name string, data ...any) {
	p.t.Helper()
	p.wait(p.jvm.request(p.peer, append([]any{command, p.path + name}, data...)...))
}

func (p *cachePair) start() {
	p.t.Helper()
	if err := p.goes.Start(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.java("cacheStart")
}

// contents returns what our cache has, as Java's has it.
func (p *cachePair) contents() string {
	var all []string
	for path, node := range p.goes.All() {
		all = append(all, path+"="+string(node.Data))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// agree waits until both caches have the same, and that is want.
func (p *cachePair) agree(want string) {
	p.t.Helper()
	suite.Eventually(p.t, "both caches to have "+want, func() bool { return p.contents() == want && p.java("cacheContents") == want })
}

// events returns what the listeners of each cache were told since the last call, which is at least
// n events. They are told a moment later than the contents change.
func (p *cachePair) events(n int) (ours, javas []string) {
	p.t.Helper()
	suite.Eventually(p.t, fmt.Sprint("both caches to tell of ", n), func() bool {
		if text := p.java("cacheEvents"); text != "" {
			javas = append(javas, strings.Split(text, ";")...)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.told) >= n && len(javas) >= n
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	ours, p.told = p.told, nil
	return ours, javas
}

// A cache of each language beside each other, while a client of each writes: they have the same,
// and are told of the same changes.
func TestCacheBesideJava(t *testing.T) {
	t.Parallel()
	p := newCachePair(t)
	tree := map[string]string{"": "0", "/a": "1", "/a/b": "2"}
	for _, name := range []string{"", "/a", "/a/b"} {
		p.node("nodePut", name, tree[name])
	}
	p.start()
	want := func() string {
		var all []string
		for name, data := range tree {
			all = append(all, p.path+name+"="+data)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	p.agree(want())
	ours, javas := p.events(3)
	slices.Sort(ours) // Java's come as its reads are answered
	slices.Sort(javas)
	if !slices.Equal(ours, javas) || len(ours) != 3 {
		t.Errorf("of the load we were told %q, Java %q", ours, javas)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		n := p.change(r, tree, i)
		p.agree(want())
		if ours, javas = p.events(n); !slices.Equal(ours, javas) {
			t.Fatalf("change %d: we were told %q, Java %q", i, ours, javas)
		}
	}
}

// change makes one random change, by a client of one of the languages, and returns how many events
// there are of it.
func (p *cachePair) change(r *rand.Rand, tree map[string]string, i int) (events int) {
	p.t.Helper()
	ctx, data := p.t.Context(), fmt.Sprint("x", i)
	name := "/" + string("abc"[r.IntN(3)])
	if _, there := tree[name]; there && r.IntN(2) == 0 {
		name += "/" + string("bc"[r.IntN(2)])
	}
	_, there := tree[name]
	children := 0
	for other := range tree {
		if strings.HasPrefix(other, name+"/") {
			children++
		}
	}
	var err error
	events = 1
	switch byJava, leaf, draw := r.IntN(2) == 0, there && children == 0, r.IntN(9); {
	case leaf && draw < 3:
		if delete(tree, name); byJava {
			p.node("nodeDelete", name)
		} else {
			err = p.observer.Delete().ForPath(ctx, p.path+name)
		}
	case leaf && draw < 5:
		tree[name] = data
		p.node("nodeReplace", name, data)
		events = 2
	default:
		if tree[name] = data; byJava {
			p.node("nodePut", name, data)
		} else {
			_, err = p.observer.Create().OrSetData().WithData([]byte(data)).ForPath(ctx, p.path+name)
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return events
}

// Our cache follows a writer in Java that does not wait for it, and its exact snapshots have all or
// nothing of a transaction.
func TestCacheFollowsJava(t *testing.T) {
	t.Parallel()
	p := newCachePair(t)
	p.node("nodePut", "/a", "0")
	p.start()
	var last *answer
	for i := range 200 {
		p.jvm.request(p.peer, "nodePut", p.path+"/a", i)
		p.jvm.request(p.peer, "nodeReplace", p.path+"/a", i)
		last = p.jvm.request(p.peer, "nodePut", fmt.Sprintf("%s/b%d", p.path, i%10), i)
	}
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		for u := range p.goes.Updates(ctx) {
			if _, ok := u.Snapshot.Get(p.path + "/a"); !ok && u.Snapshot.Exact() {
				t.Error("a node that is replaced in a transaction is missing from an exact snapshot")
			}
		}
	}()
	p.wait(last)
	suite.Eventually(t, "both caches to have the same", func() bool { return p.contents() == p.java("cacheContents") })
	cancel()
	<-done
	if n := p.goes.Snapshot().Len(); n != 12 {
		t.Errorf("%d nodes", n)
	}
}
