package curatorcertmagic_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	curatorcertmagic "github.com/go-curator/curator/recipes/adapters/certmagic"
	"github.com/go-curator/curator/recipes/locks"
)

func (h *host) lock(name string) {
	h.Helper()
	if err := h.storage.Lock(h.Context(), name); err != nil {
		h.Fatal(err)
	}
}

func (h *host) unlock(name string) {
	h.Helper()
	if err := h.storage.Unlock(h.Context(), name); err != nil {
		h.Fatal(err)
	}
}

func (h *host) wantTry(name string, want bool) {
	h.Helper()
	if ok, err := h.storage.TryLock(h.Context(), name); ok != want || err != nil {
		h.Errorf("TryLock: %t, %v; want %t", ok, err, want)
	}
}

// locking begins a Lock.
func (h *host) locking(name string) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- h.storage.Lock(h.Context(), name) }()
	return ended
}

func wantWaiting(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		t.Fatalf("Lock has returned: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
}

// The record of a lock with a delay is not another lock.
func TestNameOfRecord(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		for _, h := range []*host{one, other} {
			var err error
			delay := curatorcertmagic.WithLockOptions(locks.WithLockDelay(time.Second))
			if h.storage, err = curatorcertmagic.NewStorage(h.client, b.Path("certmagic"), delay); err != nil {
				t.Fatal(err)
			}
		}
		one.lock("a.holder")
		one.lock("a")
		other.wantTry("a.holder", false)
		other.wantTry("a", false)
		names, err := one.client.GetChildren().ForPath(t.Context(), b.Path("certmagic/locks"))
		want := []string{"a", "a%2Eholder", "a%2Eholder.holder", "a.holder"}
		if slices.Sort(names); err != nil || !slices.Equal(names, want) {
			t.Errorf("nodes %q, %v; want %q", names, err, want)
		}
		one.unlock("a.holder")
		one.unlock("a")
		other.wantTry("a.holder", true)
		other.unlock("a.holder")
	})
}

// One host, and one goroutine of it, has a lock at a time.
func TestLocks(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		for _, name := range []string{"issue_cert_example.com", "a/b", ".", "..", "*", "a b"} {
			one.lock(name)
			one.wantTry(name, false)
			other.wantTry(name, false)
			same, elsewhere := one.locking(name), other.locking(name)
			wantWaiting(t, same)
			wantWaiting(t, elsewhere)
			one.unlock(name)
			select {
			case err := <-same:
				if err != nil {
					t.Fatal(err)
				}
				wantWaiting(t, elsewhere)
				one.unlock(name)
				if err := <-elsewhere; err != nil {
					t.Fatal(err)
				}
				other.unlock(name)
			case err := <-elsewhere:
				if err != nil {
					t.Fatal(err)
				}
				wantWaiting(t, same)
				other.unlock(name)
				if err := <-same; err != nil {
					t.Fatal(err)
				}
				one.unlock(name)
			}
			other.wantTry(name, true)
			other.unlock(name)
		}
	})
}

// CertMagic's TestFileStorageWriteLock, except that a context that has ended gets no lock at all.
func TestWriteLock(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 {
			h.wantTry("foo", true)
			if err := h.storage.Lock(ended, "foo"); !errors.Is(err, context.Canceled) {
				t.Errorf("a second lock: %v", err)
			}
			if err := h.storage.Unlock(ended, "foo"); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestUnlockWithoutLock(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		one.lock("name")
		for _, name := range []string{"name", "other", ""} {
			if err := other.storage.Unlock(t.Context(), name); !errors.Is(err, locks.ErrNotHeld) {
				t.Errorf("%q: %v", name, err)
			}
		}
		if err := other.storage.Lock(t.Context(), ""); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("a lock without a name: %v", err)
		}
		other.wantTry("name", false)
		one.unlock("name")
		if err := one.storage.Unlock(t.Context(), "name"); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("again: %v", err)
		}
	})
}

// The lock of a host that dies is free when its session ends. Unlock by the host that had it is no error, and
// does not touch the lock of another goroutine of that host.
func TestLockLost(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		one.lock("name")
		next := other.locking("name")
		heal := one.network.Isolate()
		if err := <-next; err != nil {
			t.Fatal(err)
		}
		heal()
		one.wantTry("name", false) // the goroutine that has lost it has not unlocked
		same := one.locking("name")
		wantWaiting(t, same)
		one.unlock("name")
		wantWaiting(t, same)
		other.unlock("name")
		if err := <-same; err != nil {
			t.Fatal(err)
		}
		other.wantTry("name", false)
		one.unlock("name")
	})
}

// RenewLockLease acquires a lost lock again.
func TestRenewLockLease(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		renew := func() error { return one.storage.RenewLockLease(t.Context(), "name", time.Minute) }
		if err := renew(); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("of a lock that is not held: %v", err)
		}
		one.lock("name")
		asked := one.network.Requests(jute.OpMulti)
		if err := renew(); err != nil {
			t.Error(err)
		}
		if n := one.network.Requests(jute.OpMulti) - asked; n != 1 {
			t.Errorf("the servers were asked %d times", n)
		}
		one.network.Expire(t)
		other.lock("name")
		renewed := make(chan error, 1)
		go func() { renewed <- renew() }()
		wantWaiting(t, renewed)
		other.unlock("name")
		if err := <-renewed; err != nil {
			t.Fatal(err)
		}
		other.wantTry("name", false)
		one.unlock("name")
		other.wantTry("name", true)
		other.unlock("name")
	})
}

// A lock that is unlocked while it is acquired again is not kept.
func TestUnlockDuringRenewal(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		one.lock("name")
		one.network.Expire(t)
		other.lock("name")
		renewed := make(chan error, 1)
		go func() { renewed <- one.storage.RenewLockLease(t.Context(), "name", time.Minute) }()
		wantWaiting(t, renewed)
		one.unlock("name")
		other.unlock("name")
		if err := <-renewed; !errors.Is(err, locks.ErrNotHeld) {
			t.Error(err)
		}
		other.lock("name")
		other.unlock("name")
	})
}

// A Lock that waits for a goroutine of its own host ends with the client.
func TestCloseEndsLock(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		h.lock("name")
		waiting := h.locking("name")
		wantWaiting(t, waiting)
		if err := h.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waiting; !errors.Is(err, framework.ErrClosed) {
			t.Error(err)
		}
		h.unlock("name")
	})
}

// Goroutines of several hosts exclude each other.
func TestExclusion(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		var holders atomic.Int32
		ended := make(chan error)
		for range 3 {
			h := newHost(t, b)
			for range 3 {
				go func() {
					var errs []error
					for range 5 {
						err := h.storage.Lock(t.Context(), "name")
						if holders.Add(1) != 1 {
							errs = append(errs, errors.New("two holders"))
						}
						holders.Add(-1)
						errs = append(errs, err, h.storage.Unlock(t.Context(), "name"))
					}
					ended <- errors.Join(errs...)
				}()
			}
		}
		for range 9 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}
