package leader_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// A leader's term ends when its client reconnects to ClickHouse Keeper, which keeps the old session's node. The old leader
// deletes it, and stands again behind the rival.
func TestKeeperEndsTerms(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, second := e.joined("first", sessionPolicy), e.joined("second", sessionPolicy)
		lease := first.leads()
		cut := time.Now()
		b.Server().DisconnectSession(first.client.SessionID())
		lost(t, lease, locks.LossSessionExpired)
		if took := time.Since(cut); took > time.Second {
			t.Errorf("the term has ended %v after the connection", took)
		}
		next := second.leads()
		if next.Token() <= lease.Token() {
			t.Errorf("token %d after %d", next.Token(), lease.Token())
		}
		e.untilNodes(2) // the first one stands again
		suite.OK(t, next.Release(t.Context()))
		first.leads()
		synctest.Wait()
		first.close()
		second.close()
	})
}
