package leadershipnil

import (
	"context"

	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func leadsNow(latch *leader.LeaderLatch) bool { return latch.Leadership().Err() == nil }

func both(ctx context.Context, latch *leader.LeaderLatch) error {
	if lease := latch.Leadership(); lease != nil && lease.Err() == nil {
		return purge(lease.Bind(ctx), lease.Token())
	}
	return nil
}

// The context ends with the lease.
func bound(ctx context.Context, latch *leader.LeaderLatch) error {
	lease := latch.Leadership()
	if lease == nil {
		return nil
	}
	return purge(lease.Bind(ctx), lease.Token())
}

// The lease is not that of an election.
func acquired(lease *locks.Lease) bool { return lease != nil }
