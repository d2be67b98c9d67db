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

// partsEnv is a semaphore of either kind with three leases, of which another client has one.
type partsEnv struct {
	*leasedEnv
	dir   string // of the leases, below the path
	mine  counted
	other counted
	one   *locks.Lease // other's
}

func onParts(t *testing.T, test func(e *partsEnv)) {
	const most = 3
	for kind, dir := range map[string]string{"plain": "", "v2": "/leases"} {
		t.Run(kind, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := &partsEnv{leasedEnv: &leasedEnv{env: newEnv(t, b, sessionPolicy), most: most}, dir: dir}
				client, _ := b.Client(t)
				e.mine, e.other = e.openKind(e.client), e.openKind(client)
				e.release(e.acquire(e.mine)) // the parents are there
				e.one = e.acquire(e.other)
				test(e)
				e.release(e.one)
				all := suite.Got(e.mine.AcquireN(e.soon(), most)).OK(t) // no capacity is lost
				e.release(all)
				e.leases(0)
			})
		})
	}
}

func (e *partsEnv) openKind(client *framework.Client) counted {
	if e.dir != "" {
		return e.open(client)
	}
	return suite.Got(locks.NewInterProcessSemaphore(client, e.path, e.most)).OK(e.t)
}

// names returns the nodes of the leases.
func (e *partsEnv) names() []string {
	if e.dir != "" {
		return e.below("leases")
	}
	return e.nodes()
}

func (e *partsEnv) leases(n int) {
	e.t.Helper()
	if names := e.names(); len(names) != n {
		e.t.Fatalf("nodes %q, want %d", names, n)
	}
}

// all starts to acquire all leases, and waits until it waits for the last one: the plain
// kind watches the nodes ahead then, and the other one at the mutex, once at each
// lease that it made, and once more.
func (e *partsEnv) all(ctx context.Context) *acquisition {
	e.t.Helper()
	op, looks := jute.OpSetWatches, 1
	if e.dir != "" {
		op, looks = jute.OpGetChildren2, 1+e.most+1
	}
	looks += e.network.Requests(op)
	a := e.start(ctx, several{e.mine, e.most})
	suite.Eventually(e.t, "the last look", func() bool { return e.network.Requests(op) >= looks })
	e.leases(e.most + 1)
	return a
}

// A wait that ends gives back what was taken before AcquireN returns.
func TestPartsAllOrNone(t *testing.T) {
	onParts(t, func(e *partsEnv) {
		ctx, cancel := context.WithCancel(e.t.Context())
		a := e.all(ctx)
		cancel()
		<-a.done
		suite.WantErr(e.t, a.err, locks.ErrNotAcquired, context.Canceled)
		e.leases(1)
		for range e.most - 1 { // at once, also after a success
			lease := suite.Got(e.other.TryAcquire(e.t.Context())).OK(e.t)
			defer e.release(lease)
		}
		suite.Got(e.mine.TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
	})
}

// One that goes while the others are waited for is taken again.
func TestPartsWaiting(t *testing.T) {
	onParts(t, func(e *partsEnv) {
		a := e.all(e.soon())
		e.delete(e.path + e.dir + "/" + e.names()[1]) // ours: the first is the other client's
		e.release(e.one)
		lease := e.granted(a)
		for i, part := range lease.Parts() {
			if err := part.Err(); err != nil {
				e.t.Errorf("part %d: %v", i, err)
			}
		}
		e.leases(e.most)
		e.release(lease)
		e.one = e.acquire(e.other)
	})
}

// When the session ends meanwhile all are taken again.
func TestPartsExpired(t *testing.T) {
	onParts(t, func(e *partsEnv) {
		a := e.all(e.soon())
		old := e.names()[e.most]
		e.network.Expire(e.t)
		suite.Eventually(e.t, "other nodes", func() bool {
			names := e.names()
			return len(names) == e.most+1 && names[e.most] != old
		})
		e.release(e.one)
		lease := e.granted(a)
		suite.OK(e.t, lease.Err())
		e.leases(e.most)
		e.release(lease)
		e.one = e.acquire(e.other)
	})
}

// The loss of a part ends the whole, and nothing but the whole and that part.
func TestPartsLost(t *testing.T) {
	onParts(t, func(e *partsEnv) {
		two := suite.Got(e.mine.AcquireN(e.t.Context(), 2)).OK(e.t)
		bound := two.Bind(e.t.Context())
		lost, kept := two.Parts()[0], two.Parts()[1]
		e.delete(lost.Path())
		for _, ctx := range []context.Context{bound, two.Context(), lost.Context()} {
			<-ctx.Done()
		}
		suite.WantErr(e.t, context.Cause(bound), locks.ErrLockLost)
		suite.WantErr(e.t, two.Err(), locks.ErrLockLost)
		suite.WantErr(e.t, lost.Err(), locks.ErrLockLost)
		if err := errors.Join(kept.Err(), kept.Context().Err()); err != nil {
			e.t.Errorf("the other part: %v", err)
		}
		e.release(kept)
		e.leases(1)
		suite.WantErr(e.t, two.Release(e.t.Context()), locks.ErrLockLost)
	})
}

// A part that is released alone is free for others; the whole is over, the rest is held.
func TestPartsReleasedAlone(t *testing.T) {
	onParts(t, func(e *partsEnv) {
		two := suite.Got(e.mine.AcquireN(e.t.Context(), 2)).OK(e.t)
		suite.Got(e.other.TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
		e.release(two.Parts()[1])
		suite.WantErr(e.t, two.Err(), locks.ErrReleased)
		if err := two.Parts()[0].Err(); err != nil {
			e.t.Errorf("the rest: %v", err)
		}
		e.release(e.acquire(e.other))
		e.leases(2)
		e.release(two)
		e.leases(1)
	})
}

// Under the standard policy a broken connection takes the parts: that is seen at once, and
// not when the last one has come.
func TestPartsSuspended(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := &leasedEnv{env: newEnv(t, b), most: 2}
		e.semaphore = e.open(e.client)
		one := e.acquire(e.another())
		a := e.start(e.soon(), several{e.semaphore, 2})
		e.until(1, 3)
		first, last := e.below("leases")[1], e.below("leases")[2]
		e.network.Cut()
		suite.Eventually(t, "other nodes", func() bool {
			names := e.below("leases")
			return len(names) == 3 && !slices.Contains(names, first) && !slices.Contains(names, last)
		})
		e.release(one)
		lease := e.granted(a)
		suite.OK(t, lease.Err())
		e.release(lease)
		e.intact()
	})
}

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
				ctx := bounded(t, 200*time.Millisecond)
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
