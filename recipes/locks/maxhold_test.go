package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// A lease that has ended out of caution keeps the lock until its release, and WithMaxHold
// takes that from a holder that never does.
func TestMaxHoldAfterAnotherLoss(t *testing.T) {
	const most = time.Minute
	for name, c := range map[string]struct {
		lose func(s *curatortest.Server, holder *queued)
		want locks.LossReason
	}{
		"suspended": {func(s *curatortest.Server, holder *queued) {
			s.DisconnectSession(holder.client.SessionID())
		}, locks.LossSuspended},
		"revoked": {func(_ *curatortest.Server, holder *queued) {
			suite.OK(holder.t, locks.AttemptRevoke(holder.t.Context(), holder.client, holder.lease.Path()))
		}, locks.LossRevoked},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			holder := enqueue(t, s, virtualMutex(t, locks.WithMaxHold(most), locks.WithRevocable(nil)))
			next := enqueue(t, s, virtualMutex(t))
			c.lose(s, holder)
			<-holder.lease.Context().Done()
			wantLoss(t, holder.lease.Err(), c.want)
			time.Sleep(most / 2)
			if next.in() {
				t.Fatal("let in beside who may release still")
			}
			time.Sleep(most)
			if !next.in() {
				t.Fatal("the lock is kept by who never releases it")
			}
			suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
			next.release()
			synctest.Wait()
			if n := s.Watches(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	}
}
