package locks

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// go vet tells of copies: all that must not be copied have the mark by which it knows.
func TestCopiesAreNoticed(t *testing.T) {
	lock := reflect.TypeFor[sync.Locker]()
	for _, of := range []reflect.Type{
		reflect.TypeFor[Lease](), reflect.TypeFor[InterProcessMutex](), reflect.TypeFor[InterProcessReadWriteLock](),
		reflect.TypeFor[ReadLock](), reflect.TypeFor[WriteLock](), reflect.TypeFor[InterProcessSemaphore](),
		reflect.TypeFor[InterProcessSemaphoreV2](), reflect.TypeFor[InterProcessSemaphoreMutex](), reflect.TypeFor[InterProcessMultiLock](),
	} {
		if mark := of.Field(0).Type; !reflect.PointerTo(mark).Implements(lock) {
			t.Errorf("%v begins with a %v", of, mark)
		}
	}
}

// copied returns what vet complains of.
func copied(lease *Lease) *Lease {
	c := reflect.New(reflect.TypeFor[Lease]())
	c.Elem().Set(reflect.ValueOf(lease).Elem())
	return c.Interface().(*Lease)
}

// A copy is the same lease: whichever is released first, both have ended, the node goes once,
// and an outer lease keeps it.
func TestReleaseOfACopy(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		mutex := suite.Got(NewInterProcessMutex(client, b.Path("lock"))).OK(t)
		for _, copyFirst := range []bool{true, false} {
			outer := suite.Got(mutex.Acquire(t.Context())).OK(t)
			inner := suite.Got(mutex.Acquire(outer.Context())).OK(t)
			for i, lease := range []*Lease{inner, outer} {
				two := []*Lease{lease, copied(lease)}
				if copyFirst {
					two[0], two[1] = two[1], two[0]
				}
				for range 2 {
					for _, l := range two {
						if err := l.Release(t.Context()); err != nil || !errors.Is(l.Err(), ErrReleased) {
							t.Errorf("released: %v, ended with %v", err, l.Err())
						}
					}
				}
				if nodes, err := mutex.ParticipantNodes(t.Context()); err != nil || len(nodes) != 1-i {
					t.Errorf("nodes %q, %v", nodes, err)
				}
				if i == 0 {
					sibling := suite.Got(mutex.TryAcquire(outer.Context())).OK(t)
					if again, err := mutex.TryAcquire(outer.Context()); !errors.Is(err, ErrNotAcquired) {
						t.Errorf("two beside each other below one lease: %v, %v", again, err)
					}
					if err := sibling.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}
