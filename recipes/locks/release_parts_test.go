package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// Tests of the release of a lease with several parts. For a part that is lost see
// TestMultiRelease, for everything else that may happen to a release the table in faults_test.go.

// partKinds have leases with parts.
var partKinds = []kind{twoKind, twoV2Kind, multiKinds[0]}

// All requests are under way before the first of them is answered, and it is that answer that
// never comes.
func TestReleasePartsTogether(t *testing.T) {
	eachKindVirtually(t, partKinds, func(t *testing.T, f *fixture) {
		lease := f.hold()
		all := f.network.Requests(jute.OpDelete) + f.kind.leases
		hit := f.network.On(jute.OpDelete, suite.CutAfter, func() {
			suite.Eventually(t, "the request of every part", func() bool { return f.network.Requests(jute.OpDelete) == all })
		})
		f.release(lease)
		<-hit
		f.wantNone()
	})
}

// The requests leave with the last part first.
func TestReleasePartsInReverse(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		var parts []locks.InterProcessLock
		var dirs []string
		for i := range 20 {
			dir := fmt.Sprintf("/%02d", i)
			// The lock would make a container, which the server removes soon after the release.
			suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.path+dir)).OK(t)
			parts, dirs = append(parts, e.mutexAt(dir, e.client)), append(dirs, dir)
		}
		multi := suite.Got(locks.NewInterProcessMultiLock(parts...)).OK(t)
		e.release(e.acquire(multi))
		e.wantReleasedInReverse(dirs)
	})
}

// Many parts take one round trip, as one does.
func TestReleasePartsRoundTrip(t *testing.T) {
	const latency = 50 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithLatency(latency))
		semaphore := suite.Got(locks.NewInterProcessSemaphore(server.Client(t), "/lock", 20)).OK(t)
		for _, n := range []int{1, 20} {
			lease := suite.Got(semaphore.AcquireN(t.Context(), n)).OK(t)
			start := time.Now()
			suite.OK(t, lease.Release(t.Context()))
			if elapsed := time.Since(start); elapsed != 2*latency {
				t.Errorf("the release of %d parts took %v", n, elapsed)
			}
		}
	})
}

// Who does not get an answer waits for all parts as long as for one, and is told of each.
func TestReleasePartsPending(t *testing.T) {
	const most = 300 * time.Millisecond
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for name, c := range map[string]struct{ before, want time.Duration }{
			"the context has ended":         {0, most},
			"it ends in the middle of it":   {most / 2, most / 2},
			"its end is later than the end": {2 * most, 2 * most},
		} {
			e := newEnv(t, b)
			lease := e.acquire(e.multi(e.client, locks.WithReleaseTimeout(most)))
			heal := e.network.Isolate()
			ctx, cancel := context.WithTimeout(t.Context(), c.before)
			start := time.Now()
			err := lease.Release(ctx)
			cancel()
			if elapsed := time.Since(start); elapsed != c.want {
				t.Errorf("%s: Release has waited for %v, want %v", name, elapsed, c.want)
			}
			for i, err := range parted(t, err, len(multiDirs)) {
				if !errors.Is(err, locks.ErrReleasePending) {
					t.Errorf("%s: part %d: %v", name, i, err)
				}
			}
			heal()
			e.release(lease) // waits for the outcome
		}
	})
}

// parted returns the errors of the parts, which must be so many.
func parted(t *testing.T, err error, n int) []error {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != n {
		t.Fatalf("error %v, want one of each of %d parts", err, n)
	}
	return joined.Unwrap()
}

// A client without a connection does not keep those of others from being released, whichever
// comes first.
func TestReleasePartsOfTwoClients(t *testing.T) {
	for name, cut := range map[string]int{"the first is cut off": 0, "the second is cut off": 1} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, e *env) {
				clients := []*framework.Client{e.client, e.otherClient()}
				if cut == 1 {
					slices.Reverse(clients)
				}
				multi := suite.Got(locks.NewInterProcessMultiLock(e.mutexAt("/a", clients[0]), e.mutexAt("/b", clients[1]))).OK(t)
				lease := e.acquire(multi)
				heal := e.network.Isolate()
				e.network.Cut()
				e.lost(lease.Parts()[cut], locks.LossSuspended)
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				err := lease.Release(ctx)
				suite.WantErr(t, parted(t, err, 1)[0], locks.ErrReleasePending)
				if err := lease.Parts()[1-cut].Release(ctx); err != nil {
					t.Errorf("the part of the client with a connection: %v", err)
				}
				suite.WantErr(t, lease.Parts()[cut].Release(ctx), locks.ErrReleasePending)
				heal()
				e.release(lease)
			})
		})
	}
}
