package locks_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

var noContext context.Context

// participating is a lock that lists its contenders.
type participating interface {
	ParticipantNodes(ctx context.Context) ([]string, error)
}

// calls are everything that takes a context and needs a client, of every kind of lock.
func calls(t *testing.T, client *framework.Client) map[string]func(ctx context.Context) error {
	t.Helper()
	mutex := mutexAtPath(t, client, "/mutex")
	rw := suite.Got(locks.NewInterProcessReadWriteLock(client, "/rw")).OK(t)
	semaphore := suite.Got(locks.NewInterProcessSemaphore(client, "/semaphore", 3)).OK(t)
	v2 := suite.Got(locks.NewInterProcessSemaphoreV2(client, "/v2", 3)).OK(t)
	semaphoreMutex := suite.Got(locks.NewInterProcessSemaphoreMutex(client, "/semaphore-mutex")).OK(t)
	multi := multiOf(t, mutex, semaphoreMutex)
	all := map[string]func(ctx context.Context) error{
		"AttemptRevoke": func(ctx context.Context) error { return locks.AttemptRevoke(ctx, client, "/mutex/node") },
		"Inspect": func(ctx context.Context) error {
			_, err := locks.Inspect(ctx, client, "/mutex")
			return err
		},
	}
	for name, lock := range map[string]locks.InterProcessLock{
		"mutex": mutex, "read": rw.ReadLock(), "write": rw.WriteLock(), "semaphore": semaphore, "v2": v2,
		"semaphore mutex": semaphoreMutex, "multi": multi,
	} {
		acquired := func(acquire func(context.Context) (*locks.Lease, error)) func(context.Context) error {
			return func(ctx context.Context) error {
				lease, err := acquire(ctx)
				if lease != nil && err != nil {
					t.Errorf("%s: a lease beside an error", name)
				}
				return errors.Join(err, lease.Release(ctx))
			}
		}
		all[name+" Acquire"], all[name+" TryAcquire"] = acquired(lock.Acquire), acquired(lock.TryAcquire)
		if s, ok := lock.(counted); ok {
			all[name+" AcquireN"] = acquired(func(ctx context.Context) (*locks.Lease, error) { return s.AcquireN(ctx, 2) })
		}
		if p, ok := lock.(participating); ok {
			all[name+" ParticipantNodes"] = func(ctx context.Context) error {
				_, err := p.ParticipantNodes(ctx)
				return err
			}
		}
		work := func(context.Context, *locks.Lease) error { return nil }
		all[name+" Do"] = func(ctx context.Context) error { return locks.Do(ctx, lock, work) }
		all[name+" TryDo"] = func(ctx context.Context) error { return locks.TryDo(ctx, lock, work) }
	}
	return all
}

// A client that is not started yet, or closed, hands out nothing, and says so at once.
func TestClientIsNotThere(t *testing.T) {
	latent := notStarted(t)
	for name, call := range calls(t, latent) {
		if err := call(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
			t.Errorf("not started: %s: %v", name, err)
		}
	}
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		all := calls(t, client)
		suite.OK(t, client.Close(t.Context()))
		for name, call := range all {
			if err := call(t.Context()); !errors.Is(err, framework.ErrClosed) {
				t.Errorf("closed: %s: %v", name, err)
			}
		}
	})
}

// A nil context is an error that says so, and leaves nothing behind; an ended one is what it
// ended with.
func TestContextIsNotThere(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, call := range calls(t, client.UsingNamespace(strings.TrimPrefix(b.Path("ns"), "/"))) {
			if err := call(noContext); !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "context is nil") {
				t.Errorf("%s: %v", name, err)
			}
			if err := call(ended); !errors.Is(err, context.Canceled) || errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("%s with an ended context: %v", name, err)
			}
		}
		if exists, err := client.CheckExists().ForPath(t.Context(), b.Path("ns")+"/mutex"); err != nil || exists {
			t.Errorf("a node is left: %t, %v", exists, err)
		}
	})
}

// What a lease does without a context, or with one that has ended.
func TestLeaseWithoutContext(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		if e.mutex.IsOwnedBy(noContext) {
			t.Error("no context owns the mutex")
		}
		if lease.Bind(noContext).Err() == nil {
			t.Error("bound to no context it goes on")
		}
		suite.WantErr(t, lease.Verify(noContext), framework.ErrInvalidOption)
		suite.Got(lease.Guard(noContext)).Fails(t, framework.ErrInvalidOption)
		suite.OK(t, lease.Err())
		if err := lease.Release(noContext); err != nil { // clean-up is done in any case
			t.Error(err)
		}
		e.wantNodes(0)
	})
}

// Every call of Release, in turn and at the same time, gets the same answer, and the node
// goes once.
func TestReleaseAgain(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		f.waiting(f.nextWaiter)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		f.wantNone()
		next := f.granted(f.nextWaiter)
		f.nextWaiter = nil
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("once more: %v", err)
		}
		if err := next.Verify(t.Context()); err != nil {
			t.Errorf("the next one's lease, after another release of the last: %v", err)
		}
		f.env.release(next)
		suite.WantErr(t, lease.Err(), locks.ErrReleased)
		suite.WantErr(t, lease.Verify(t.Context()), locks.ErrReleased)
	})
}

// The context of a lease of another lock bounds the wait and means nothing else.
func TestContextOfAnotherLock(t *testing.T) {
	for _, k := range creators {
		t.Run(k.name, func(t *testing.T) {
			virtually(t, func(t *testing.T, e *env) {
				other := *e
				other.path = e.b.Path("other")
				foreign := other.acquire(k.lock(&other, e.client))
				lock := k.lock(e, e.client)
				lease := suite.Got(lock.Acquire(foreign.Context())).OK(t)
				if lease.Token() == foreign.Token() && lease.Token() != -1 {
					t.Error("it nested in another lock's lease")
				}
				e.release(foreign)
				if err := lease.Err(); err != nil {
					t.Errorf("lost with another lock: %v", err)
				}
				suite.Got(lock.Acquire(foreign.Context())).Fails(t, locks.ErrReleased)
				e.release(lease)
				for _, end := range append(e.atEnd, other.atEnd...) {
					end()
				}
			})
		})
	}
}

// Wrong numbers are refused before anything is sent, with what is wrong.
func TestNumbersOfLeases(t *testing.T) {
	client := notStarted(t)
	for _, n := range []int{0, -1} {
		_, plain := locks.NewInterProcessSemaphore(client, "/a", n)
		_, v2 := locks.NewInterProcessSemaphoreV2(client, "/a", n)
		for _, err := range []error{plain, v2} {
			if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "leases") {
				t.Errorf("a semaphore of %d: %v", n, err)
			}
		}
	}
	plain := suite.Got(locks.NewInterProcessSemaphore(client, "/a", 2)).OK(t)
	v2 := suite.Got(locks.NewInterProcessSemaphoreV2(client, "/a", 2)).OK(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, s := range map[string]counted{"plain": plain, "v2": v2} {
		for _, n := range []int{0, -1} {
			if _, err := s.AcquireN(ctx, n); !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "/a") {
				t.Errorf("%s: %d leases: %v", name, n, err)
			}
		}
		if _, err := s.AcquireN(ctx, 3); !errors.Is(err, locks.ErrTooManyLeases) || !strings.Contains(err.Error(), "3 of 2") {
			t.Errorf("%s: 3 of 2: %v", name, err)
		}
	}
}

// blindDriver is a driver that knows no contender.
type blindDriver struct {
	locks.StandardLockInternalsDriver
	calls  *int
	cancel context.CancelFunc
}

func (d blindDriver) FixForSorting(name, lockName string) string {
	if *d.calls++; *d.calls == 50 {
		d.cancel()
	}
	return "" // "It returns "" for a child that is no contender"
}

// A driver that does not know the names of its own contenders is refused, and not asked for ever.
func TestDriverThatKnowsNobody(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		m := suite.Got(locks.NewInterProcessMutex(s.Client(t), "/lock", locks.WithDriver(blindDriver{calls: &calls, cancel: cancel}))).OK(t)
		suite.Got(m.Acquire(ctx)).Fails(t, framework.ErrInvalidOption)
	})
}
