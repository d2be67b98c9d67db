package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// A lease that was lost before its client closed its session is not in doubt any more: its node went with
// the session, and others may have been let in since.
func TestReleaseOfALostLeaseAfterClose(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		suite.OK(t, e.client.BlockUntilConnected(t.Context()))
		suite.OK(t, e.client.Close(t.Context()))
		err := lease.Release(t.Context())
		if !errors.Is(err, locks.ErrLockLost) || errors.Is(err, locks.ErrReleasePending) {
			t.Errorf("Release: %v", err)
		}
		e.untilNodes(0)
	})
}

// A release whose delete goes on until the client is closed is confirmed by the end of the session, and by
// nothing else.
func TestReleaseThatCloseEnds(t *testing.T) {
	for name, confirmed := range map[string]bool{"closed": true, "left": false} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			client := s.Client(t)
			lease := take(t, virtualMutex(t)(client))
			s.Inject(curatortest.Rule{Op: "delete", Times: 1000, Do: curatortest.Fail(framework.ErrReconfigInProgress)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			suite.WantErr(t, lease.Release(ctx), locks.ErrReleasePending)
			suite.WantErr(t, lease.Release(ctx), locks.ErrReleasePending) // it is not waited for again
			if !confirmed {
				s.Refuse()
				s.Disconnect()
				synctest.Wait()
			}
			_ = client.Close(ctx) // ctx has ended: the delete is not waited for
			switch err := lease.Release(t.Context()); {
			case confirmed && err != nil:
				t.Errorf("Release after Close has closed the session: %v", err)
			case !confirmed:
				suite.WantErr(t, err, locks.ErrReleasePending)
			}
			if left := s.Children("/lock"); confirmed && len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}
