// Package leadershipnil has leaders that may have been deposed.
package leadershipnil

import (
	"context"

	"github.com/go-curator/curator/recipes/leader"
)

func leads(latch *leader.LeaderLatch) bool {
	return latch.Leadership() != nil // want `a lease that is not nil may have ended: compare latch.Leadership\(\).Err\(\) with nil, which works for a nil lease, too`
}

func follows(selector *leader.LeaderSelector) bool {
	return nil == selector.Leadership() // want `compare selector.Leadership\(\).Err\(\) with nil`
}

func kept(ctx context.Context, latch *leader.LeaderLatch) error {
	lease := latch.Leadership()
	if lease == nil { // want `compare lease.Err\(\) with nil`
		return nil
	}
	return purge(ctx, lease.Token())
}

func inCondition(ctx context.Context, latch *leader.LeaderLatch) error {
	if lease := latch.Leadership(); lease != nil { // want `compare lease.Err\(\) with nil`
		return purge(ctx, lease.Token())
	}
	return nil
}

func purge(context.Context, int64) error { return nil }
