package cache_test

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/state"
)

// Many caches of one client go on after two and three cuts in a row: each has requests under way, and
// some that no connection has taken.
func TestCuts(t *testing.T) {
	t.Parallel()
	const caches, nodes = 10, 200
	suite.EachOf(t, suite.OnEmbeddedServer|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("=")
		f.createMany("", nodes, nodes)
		var all []*cache.CuratorCache
		for range caches {
			f.make(cache.NewCuratorCache)
			f.start()
			all = append(all, f.cache)
		}
		for _, cuts := range []int{2, 3} {
			for range cuts {
				f.network.Cut()
				suite.Eventually(t, "a cache is stale", func() bool { _, stale := all[0].Stale(); return stale })
				// While the caches compare themselves with the servers the next cut comes.
				suite.OK(t, f.client.BlockUntilConnected(t.Context()))
				<-time.After(100 * time.Millisecond) // the caches have thousands of requests under way
			}
			zxid := f.write("000123=" + time.Now().String())
			for i, c := range all {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if err := c.Await(ctx, zxid); err != nil {
					t.Fatalf("after %d cuts cache %d is stale: %v", cuts, i, err)
				}
				cancel()
			}
		}
	})
}

// A connection that ends while a cache compares itself with the servers adds no reads to the next
// comparison: else each cut makes the next one more probable, and a busy cache never ends.
func TestCutsWhileComparing(t *testing.T) {
	const nodes = 3000
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.createMany("n", nodes, 1000)
		f.start()
		sent := f.sent(func() {
			f.network.Cut()
			for range 5 {
				<-f.network.On(jute.OpExists, suite.CutBefore, nil)
			}
			suite.Eventually(t, "the cache is compared", func() bool { _, stale := f.cache.Stale(); return !stale })
		})
		if n := sent["exists"]; n < nodes || n > nodes+1000 {
			t.Errorf("%d nodes were looked at for %d", n, nodes)
		}
	})
}

// When the client has as many requests waiting as it keeps, a cache waits before it asks again.
func TestCrowdedClient(t *testing.T) {
	t.Parallel()
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		conn := suite.Got(zkclient.Of(f.client).Conn()).OK(f)
		send := func() (queued bool) {
			_, queued = conn.Start(0, nil, &zkconn.Call{Op: jute.OpSync, Req: &jute.PathRequest{Path: "/"}, Res: &jute.SyncResponse{}})
			return queued
		}
		blocked, release := make(chan struct{}), make(chan struct{})
		f.network.On(jute.OpSync, suite.Late, func() {
			close(blocked)
			<-release
		})
		send()
		<-blocked // nothing is written now, but events come in
		for send() {
		}
		f.write("-d")
		settle() // it would not return if the cache asked again and again
		close(release)
		f.eventually("= a=1 a/b=2 a/b/c=3")
		suite.Eventually(f.T, "an exact snapshot", func() bool { return f.cache.Snapshot().Exact() })
	})
}

// slowConn is a connection on which an answer of usual size takes half a millisecond.
type slowConn struct{ net.Conn }

func (c slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	<-time.After(time.Duration(n) * 500 * time.Microsecond / 88)
	return n, err
}

// Many caches on a slow connection do not fill it so much that the client gives it up, because the answers
// that prove the session come too late, and again when they compare themselves on the next connection.
func TestManyCachesOnASlowConnection(t *testing.T) {
	const caches, nodes = 30, 500
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("=")
		f.createMany("", nodes, nodes)
		f.client, _ = b.Client(t, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := b.Server().DialContext(ctx, network, address)
			return slowConn{conn}, err
		}))
		var cuts atomic.Int32
		f.client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
			if s == state.Suspended {
				cuts.Add(1)
			}
		})
		var all []*cache.CuratorCache
		for range caches {
			f.make(cache.NewCuratorCache)
			f.start()
			all = append(all, f.cache)
		}
		b.Server().Disconnect()
		suite.Eventually(t, "a cache is stale", func() bool { _, stale := all[0].Stale(); return stale })
		suite.Eventually(t, "the caches are compared", func() bool {
			return !slices.ContainsFunc(all, func(c *cache.CuratorCache) bool { _, stale := c.Stale(); return stale })
		})
		if n := cuts.Load(); n != 1 {
			t.Errorf("the connection has ended %d times", n)
		}
	})
}
