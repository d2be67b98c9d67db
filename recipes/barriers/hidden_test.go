package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// Where exists needs the permission to read, a barrier whose node may not be read says so. An older server shows that it
// is closed, and tells nothing of its end.
func TestHiddenBarrier(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		path := b.Path("barrier")
		closed := suite.Got(barriers.NewDistributedBarrier(client, path)).OK(t)
		suite.Got(client.Create().CreatingParentsIfNeeded().WithACL(framework.WorldACL(framework.PermWrite)).ForPath(t.Context(), path)).OK(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := closed.Wait(ctx); b.ExistsNeedsRead(t) {
			suite.WantErr(t, err, framework.ErrNoAuth)
		} else {
			suite.WantErr(t, err, barriers.ErrNotPassed, context.DeadlineExceeded)
		}
		suite.OK(t, closed.Remove(t.Context()))
		suite.OK(t, closed.Wait(t.Context()))
	})
}

// Whether a "ready" that may not be read is of an open round cannot be found out: Enter fails, and leaves nothing behind.
func TestHiddenReady(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		path := b.Path("double")
		suite.Got(client.Create().CreatingParentsIfNeeded().WithACL(framework.WorldACL(framework.PermWrite)).
			ForPath(t.Context(), path+"/"+layout.ReadyName)).OK(t)
		double := suite.Got(barriers.NewDistributedDoubleBarrier(client, path, 1)).OK(t)
		err := double.Enter(t.Context())
		if !b.ExistsNeedsRead(t) {
			suite.OK(t, err) // it is left of a round whose members are dead
			suite.OK(t, double.Leave(t.Context()))
			return
		}
		suite.WantErr(t, err, framework.ErrNoAuth)
		suite.Eventually(t, "no node of the member", func() bool {
			return len(suite.Got(client.GetChildren().ForPath(t.Context(), path)).OK(t)) == 1
		})
	})
}
