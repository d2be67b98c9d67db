package cache_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestLaggingFollower has the cache at followers of a real ensemble, one of which lags behind its
// leader, and moves it between them, while a client of the leader writes. All holds that holds for
// TestRandomHistories: every exact snapshot is the tree that there was at its zxid.
func TestLaggingFollower(t *testing.T) {
	t.Parallel()
	e := curatortest.RealEnsemble(t, 3, curatortest.WithTickTime(suite.Tick), curatortest.WithSessionTimeouts(suite.SessionTimeout, suite.LongSession))
	leader := e.Leader()
	var followers []*curatortest.Member
	for _, m := range e.Members() {
		if m != leader {
			followers = append(followers, m)
		}
	}
	f := &fixture{T: t, root: "/root", other: "/other"}
	f.writer = curatortest.NewClient(t, leader.ConnectString())
	f.client = curatortest.NewClient(t, followers[0].ConnectString()+","+followers[1].ConnectString(),
		framework.WithSessionTimeout(suite.LongSession))
	suite.Got(f.writer.Create().ForPath(t.Context(), f.other)).OK(t)
	f.make(cache.NewCuratorCache)
	h, r := newHistory(f), rand.New(rand.NewPCG(1, 2))
	for range 50 {
		h.step(r)
	}
	followers[0].From(leader).Quorum().Delay(100 * time.Millisecond)
	w := follow(t.Context(), h, 50*time.Millisecond, func(string) bool { return true })
	f.start()
	suspended := make(chan struct{}, 100)
	defer f.client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s == state.Suspended {
			suspended <- struct{}{}
		}
	})()
	for range 4 {
		for range 60 {
			h.step(r)
		}
		heal := e.MemberOf(f.client).Clients(curatortest.Both).Reset()
		<-suspended
		h.step(r)
		suite.Eventually(t, "the cache to be back", func() bool { _, stale := f.cache.Stale(); return !stale })
		heal()
	}
	suite.OK(t, f.cache.Await(t.Context(), h.last()))
	suite.Eventually(t, "the slow loop to have caught up", func() bool { return w.caughtUp() })
	w.check()
	if err := f.cache.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	w.group.Wait()
	t.Logf("%d snapshots, %d of them exact", len(w.seen), w.replay.checked)
}
