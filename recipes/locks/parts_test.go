package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
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
		if err := lease.Err(); err != nil {
			e.t.Error(err)
		}
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
		if err := lease.Err(); err != nil {
			t.Error(err)
		}
		e.release(lease)
		e.intact()
	})
}
