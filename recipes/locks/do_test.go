package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// Do's caller is told of a loss also when the server does not answer to the release in time:
// of a lease's own, if the work has failed, and of a part's, whatever the others come to.
func TestDoUnconfirmed(t *testing.T) {
	failed := errors.New("failed")
	short := locks.WithReleaseTimeout(50 * time.Millisecond)
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for _, work := range []error{nil, failed} {
			e := newEnv(t, b)
			ctx, cancel := context.WithCancel(t.Context())
			var lease *locks.Lease
			var heal func()
			err := locks.Do(ctx, e.lock(e.client, short), func(_ context.Context, l *locks.Lease) error {
				lease, heal = l, e.network.Isolate()
				e.network.Cut()
				e.lost(l, locks.LossSuspended)
				cancel()
				return work
			})
			heal()
			if errors.Is(err, locks.ErrReleasePending) || !errors.Is(err, work) || errors.Is(err, locks.ErrLockLost) != (work != nil) {
				t.Errorf("work that returns %v: %v", work, err)
			}
			e.release(lease) // waits for the outcome

			e = newEnv(t, b)
			multi := suite.Got(locks.NewInterProcessMultiLock(e.mutexAt("/a", e.otherClient(), short), e.mutexAt("/b", e.client, short))).OK(t)
			ctx, cancel = context.WithCancel(t.Context())
			err = locks.Do(ctx, multi, func(_ context.Context, l *locks.Lease) error {
				lease, heal = l, e.network.Isolate()
				lost := l.Parts()[0]
				e.delete(lost.Path())
				e.lost(lost, locks.LossNodeDeleted)
				cancel()
				return work
			})
			heal()
			if errors.Is(err, locks.ErrReleasePending) || !errors.Is(err, locks.ErrLockLost) || work != nil && !errors.Is(err, work) {
				t.Errorf("work that returns %v, with a part lost: %v", work, err)
			}
			suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		}
	})
}
