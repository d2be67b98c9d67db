package locks_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
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
		suite.OK(t, lease.Release(noContext)) // clean-up is done in any case
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

// go vet tells of copies: all that must not be copied have the mark by which it knows.
func TestCopiesAreNoticed(t *testing.T) {
	lock := reflect.TypeFor[sync.Locker]()
	for _, of := range []reflect.Type{
		reflect.TypeFor[locks.Lease](), reflect.TypeFor[locks.InterProcessMutex](), reflect.TypeFor[locks.InterProcessReadWriteLock](),
		reflect.TypeFor[locks.ReadLock](), reflect.TypeFor[locks.WriteLock](), reflect.TypeFor[locks.InterProcessSemaphore](),
		reflect.TypeFor[locks.InterProcessSemaphoreV2](), reflect.TypeFor[locks.InterProcessSemaphoreMutex](), reflect.TypeFor[locks.InterProcessMultiLock](),
	} {
		if mark := of.Field(0).Type; !reflect.PointerTo(mark).Implements(lock) {
			t.Errorf("%v begins with a %v", of, mark)
		}
	}
}

// copied returns what vet complains of.
func copied(lease *locks.Lease) *locks.Lease {
	c := reflect.New(reflect.TypeFor[locks.Lease]())
	c.Elem().Set(reflect.ValueOf(lease).Elem())
	return c.Interface().(*locks.Lease)
}

// A copy is the same lease: whichever is released first, both have ended, the node goes once,
// and an outer lease keeps it.
func TestReleaseOfACopy(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		mutex := suite.Got(locks.NewInterProcessMutex(client, b.Path("lock"))).OK(t)
		for _, copyFirst := range []bool{true, false} {
			outer := suite.Got(mutex.Acquire(t.Context())).OK(t)
			inner := suite.Got(mutex.Acquire(outer.Context())).OK(t)
			for i, lease := range []*locks.Lease{inner, outer} {
				two := []*locks.Lease{lease, copied(lease)}
				if copyFirst {
					two[0], two[1] = two[1], two[0]
				}
				for range 2 {
					for _, l := range two {
						if err := l.Release(t.Context()); err != nil || !errors.Is(l.Err(), locks.ErrReleased) {
							t.Errorf("released: %v, ended with %v", err, l.Err())
						}
					}
				}
				if nodes, err := mutex.ParticipantNodes(t.Context()); err != nil || len(nodes) != 1-i {
					t.Errorf("nodes %q, %v", nodes, err)
				}
				if i == 0 {
					sibling := suite.Got(mutex.TryAcquire(outer.Context())).OK(t)
					if again, err := mutex.TryAcquire(outer.Context()); !errors.Is(err, locks.ErrNotAcquired) {
						t.Errorf("two beside each other below one lease: %v, %v", again, err)
					}
					suite.OK(t, sibling.Release(t.Context()))
				}
			}
		}
	})
}
