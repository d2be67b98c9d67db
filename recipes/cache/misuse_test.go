package cache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// wantErr fails the test unless err is one of those.
func (f *fixture) wantErr(what string, err error, wants ...error) {
	f.Helper()
	for _, want := range wants {
		if !errors.Is(err, want) {
			f.Errorf("%s: %v, want %v", what, err, want)
		}
	}
}

// The life of a cache: what may be called when.
func TestLife(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		ctx := f.Context()
		var none context.Context
		f.wantErr("Await before Start", f.cache.Await(ctx, 1), framework.ErrNotStarted)
		f.wantErr("Start without a context", f.cache.Start(none), framework.ErrInvalidOption)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		f.wantErr("Start with an ended context", f.cache.Start(ended), context.Canceled)
		f.start()
		f.wantErr("Start twice", f.cache.Start(ctx), framework.ErrAlreadyStarted)
		f.wantErr("Await without a context", f.cache.Await(none, 1), framework.ErrInvalidOption)
		for range f.cache.Updates(none) {
			t.Error("an update without a context")
		}
		f.close()
		f.close()
		f.wantErr("Start after Close", f.cache.Start(ctx), framework.ErrClosed)
		f.wantErr("Await after Close", f.cache.Await(ctx, 1), framework.ErrClosed)
		f.has("= a=1 a/b=2 a/b/c=3 d=4")
		if _, stale := f.cache.Stale(); !stale {
			t.Error("a closed cache is not stale")
		}

		fresh := suite.Got(cache.NewNodeCache(f.client, f.root)).OK(t)
		f.wantErr("Close without a context", fresh.Close(none), framework.ErrInvalidOption)
		if err := fresh.Close(ended); err != nil {
			t.Error(err)
		}
		f.wantErr("Start after a first Close", fresh.Start(ctx), framework.ErrClosed)
	})
}

// nil and zero values are empty and cannot be started.
func TestNil(t *testing.T) {
	ctx := t.Context()
	for _, c := range []*cache.CuratorCache{nil, {}} {
		if err := c.Start(ctx); !errors.Is(err, framework.ErrNotStarted) {
			t.Error(err)
		}
		if err := c.Await(ctx, 1); !errors.Is(err, framework.ErrNotStarted) {
			t.Error(err)
		}
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
		for range c.Updates(ctx) {
			t.Error("an update")
		}
		for range c.All() {
			t.Error("a node")
		}
		_, found := c.Get("/")
		_, stale := c.Stale()
		if c.Snapshot().Len() != 0 || found || stale {
			t.Error("not empty")
		}
		c.Listenable().Add(func(context.Context, cache.Event) {})()
	}
	var typed *cache.Typed[int]
	for range typed.Updates(ctx) {
		t.Error("an update")
	}
	for range typed.All() {
		t.Error("a value")
	}
	if _, ok := typed.Get("/"); ok {
		t.Error("a value")
	}
	if _, ok := (cache.Snapshot{}).Get("/"); ok {
		t.Error("a node")
	}
}

// A client that is not started is an error of Start, which may be called again.
func TestClientNotStarted(t *testing.T) {
	client := suite.Got(framework.NewClient("127.0.0.1:1", retry.None())).OK(t)
	c := suite.Got(cache.NewNodeCache(client, "/a")).OK(t)
	for range 2 {
		if err := c.Start(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
			t.Error(err)
		}
	}
}

// Nodes that may not be read are left out with what is below them, and told once in the log. They
// come when they may be read and have changed, or after a reconnect. A root that may not be read is
// an error of Start.
func TestNoAuth(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		var log suite.Log
		f := newFixture(t, b, framework.WithLogger(log.Warnings()))
		f.write("a=1 a/b=2 a/b/c=3 d=4")
		acl := func(name string, perms framework.Perm) {
			t.Helper()
			suite.Got(f.writer.SetACL().ForPath(t.Context(), f.path(name), []framework.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}})).OK(t)
		}
		acl("a", framework.PermAll&^framework.PermRead)
		acl("d", framework.PermAll&^framework.PermRead)
		f.make(cache.NewCuratorCache)
		f.start()
		f.has("=")
		if _, stale := f.cache.Stale(); stale {
			t.Error("stale")
		}
		acl("a", framework.PermAll)
		acl("d", framework.PermAll)
		f.write("a=5")
		f.eventually("= a=5 a/b=2 a/b/c=3")
		f.network.Cut()
		f.eventually("= a=5 a/b=2 a/b/c=3 d=4")
		f.close()
		if n := strings.Count(log.String(), "leaves out nodes"); n != 1 {
			t.Errorf("told %d times in the log: %s", n, log.String())
		}

		acl("", framework.PermAll&^framework.PermRead)
		f.make(cache.NewCuratorCache)
		err := f.cache.Start(t.Context())
		f.wantErr("a root that may not be read", err, framework.ErrNoAuth)
		if err != nil && !strings.Contains(err.Error(), f.root) {
			t.Errorf("the error %q does not say which", err)
		}
		acl("", framework.PermAll)
		f.start()
		f.has("= a=5 a/b=2 a/b/c=3 d=4")
	})
}

// More children than a reply can carry are an error of Start that says so.
func TestTooWide(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, framework.WithMaxReply(1<<20))
		f.write("a=1")
		f.createMany("a/"+strings.Repeat("x", 1000), 1100, 200)
		f.make(cache.NewCuratorCache)
		err := f.cache.Start(t.Context())
		f.wantErr("too wide", err, framework.ErrTooLarge)
		var op *framework.OpError
		if !errors.As(err, &op) || op.Path != f.path("a") {
			t.Errorf("the error %q does not say where", err)
		}
	})
}

// A read that fails for a reason that may pass is tried again, with pauses. Meanwhile the cache is
// stale, and follows everything else. The log has a line at the beginning and one at the end.
func TestReadFails(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		f.b.Server().Inject(curatortest.Rule{Op: "getData", Path: f.path("a"), Times: 5, Do: curatortest.Fail(zkconn.ErrOperationTimeout)})
		start := time.Now()
		f.write("a=5")
		f.write("d=6")
		time.Sleep(time.Second)
		if since, stale := f.cache.Stale(); !stale || since.Before(start) || since.Sub(start) > time.Second {
			t.Errorf("stale %t since %v", stale, since)
		}
		f.has("= a=1 a/b=2 a/b/c=3 d=6")
		f.eventually("= a=5 a/b=2 a/b/c=3 d=6")
		if took := time.Since(start); took < time.Second || took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		settle()
		if _, stale := f.cache.Stale(); stale {
			t.Error("still stale")
		}
	})
}

// Start fails when the client's retry policy has given up, and when the server always hangs up.
func TestStartGivesUp(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		heal := f.network.Isolate()
		f.wantErr("isolated", f.cache.Start(f.Context()), framework.ErrConnectionLoss)
		heal()
		f.network.Cut()
		for range 20 {
			f.network.On(jute.OpGetData, suite.CutBefore, nil)
		}
		f.wantErr("cut again and again", f.cache.Start(f.Context()), framework.ErrConnectionLoss)
		for f.cache.Start(f.Context()) != nil {
		}
		f.has("= a=1 a/b=2 a/b/c=3 d=4")
	})
}

// A server without persistent watches is served by one-shot watches, which is told once in the log.
// No snapshot is exact then.
func TestOldServer(t *testing.T) {
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				var log suite.Log
				f := newFixture(t, b, framework.WithLogger(log.Warnings()))
				f.network.Old()
				f.network.Cut()
				f.make(c.make)
				f.start()
				f.has("")
				for range 2 {
					f.write("=0 a=1 a/b=2 a/b/c=3 d=5 d=4 =")
					f.eventually(c.want)
					f.network.Cut()
					f.write("=7 -d d=4 -a/b a/b/c=3 a/b=2 =")
					f.eventually(c.want)
					if f.cache.Snapshot().Exact() {
						t.Error("an exact snapshot")
					}
					f.write("-")
					f.eventually("")
				}
				f.close()
				if n := strings.Count(log.String(), "no persistent watches"); n != 1 {
					t.Errorf("told %d times in the log: %s", n, log.String())
				}
			})
		})
	}
}

// A panic of the user's decoder in Start leaves nothing behind, and the cache can be started again.
func TestPanicInStart(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 b=2")
		f.make(cache.NewCuratorCache)
		broken := true
		decode := func(node cache.ChildData) (string, error) {
			if broken && node.Path == f.path("b") {
				panic("boom")
			}
			return string(node.Data), nil
		}
		view := suite.Got(cache.NewTyped(f.cache, decode)).OK(t)
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Errorf("the panic has become %v", r)
				}
			}()
			t.Errorf("Start returned %v", f.cache.Start(t.Context()))
		}()
		if n := b.WatchesLeft(); n > 0 {
			t.Errorf("%d watches are left", n)
		}
		broken = false
		if _, err := cache.NewTyped(f.cache, decode); err != nil {
			t.Error(err)
		}
		f.write("-a")
		f.start()
		if _, there := view.Get(f.path("a")); there {
			t.Error("a node that was deleted since is in the view")
		}
		f.close()
	})
}
