package cache_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// A cache on ClickHouse Keeper, which does not know persistent watches, follows all changes with one-shot watches, also
// those that it has missed while it was reconnecting.
func TestKeeper(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 a/b=2 a/b/c=3 d=4")
		f.make(cache.NewCuratorCache)
		f.start()
		f.eventually("= a=1 a/b=2 a/b/c=3 d=4")
		if f.cache.Snapshot().Exact() {
			t.Error("a snapshot is exact")
		}
		f.write("a/b=5 e=6 -d")
		f.eventually("= a=1 a/b=5 a/b/c=3 e=6")
		b.Server().DisconnectSession(f.client.SessionID())
		f.write("a/b=7 -e g=8")
		f.eventually("= a=1 a/b=7 a/b/c=3 g=8")
		session := f.client.SessionID()
		f.write("-a h=9")
		f.eventually("= g=8 h=9")
		time.Sleep(suite.SessionTimeout)
		synctest.Wait()
		if f.client.SessionID() != session {
			t.Error("the cache goes on ending sessions")
		}
	})
}
