package cache_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// Many caches of one client go on after two and three cuts in a row: each has requests under way, and
// some that no connection has taken.
func TestCuts(t *testing.T) {
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
				if err := f.client.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
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
