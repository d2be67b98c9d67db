package locks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// notStarted returns a client that sends nothing: what it is asked for is refused before.
func notStarted(t *testing.T) *framework.Client {
	t.Helper()
	return suite.Got(framework.NewClient("127.0.0.1:1", retry.None())).OK(t)
}

// constructors make the kinds of locks that have a path.
var constructors = map[string]func(c *framework.Client, path string, opt locks.Option) error{
	"mutex": func(c *framework.Client, path string, opt locks.Option) error {
		_, err := locks.NewInterProcessMutex(c, path, opt)
		return err
	},
	"read-write": func(c *framework.Client, path string, opt locks.Option) error {
		_, err := locks.NewInterProcessReadWriteLock(c, path, opt)
		return err
	},
	"semaphore": func(c *framework.Client, path string, opt locks.Option) error {
		_, err := locks.NewInterProcessSemaphore(c, path, 2, opt)
		return err
	},
	"semaphore v2": func(c *framework.Client, path string, opt locks.Option) error {
		_, err := locks.NewInterProcessSemaphoreV2(c, path, 2, opt)
		return err
	},
	"mutex of it": func(c *framework.Client, path string, opt locks.Option) error {
		_, err := locks.NewInterProcessSemaphoreMutex(c, path, opt)
		return err
	},
}

// Options that make no sense are refused before anything is sent.
func TestBadOptions(t *testing.T) {
	client := notStarted(t)
	durations := map[string]func(time.Duration) locks.MutexOption{
		"WithMaxWait":        func(d time.Duration) locks.MutexOption { return locks.WithMaxWait(d) },
		"WithMaxHold":        func(d time.Duration) locks.MutexOption { return locks.WithMaxHold(d) },
		"WithReleaseTimeout": func(d time.Duration) locks.MutexOption { return locks.WithReleaseTimeout(d) },
		"WithLockDelay":      locks.WithLockDelay,
	}
	for name, option := range durations {
		for _, d := range []time.Duration{0, -time.Second, -1, 1, 5000, time.Millisecond - 1} { // 5000 is Java's, in milliseconds
			_, err := locks.NewInterProcessMutex(client, "/a", option(d))
			if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), name) || d > 0 && !strings.Contains(err.Error(), "nanoseconds") {
				t.Errorf("%s(%d): %v", name, int64(d), err)
			}
		}
		if _, err := locks.NewInterProcessMutex(client, "/a", option(time.Millisecond)); err != nil {
			t.Errorf("%s of a millisecond: %v", name, err)
		}
	}
	for _, opts := range [][]locks.MutexOption{
		{locks.WithLocalHandover(-1)}, {locks.WithName("")}, {locks.WithName("two\nlines")}, {locks.WithName("\xff")},
		{locks.WithName(strings.Repeat("n", 129))}, {locks.WithDriver(nil)},
		// Handed over leases would have one record for several holders.
		{locks.WithLocalHandover(2), locks.WithLockDelay(delay)}, {locks.WithLockDelay(delay), locks.WithLocalHandover(2)},
	} {
		if _, err := locks.NewInterProcessMutex(client, "/a", opts...); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("%v", err)
		}
	}
	suite.Got(locks.NewInterProcessMutex(client, "/a", locks.WithLocalHandover(0), locks.WithLockDelay(delay))).OK(t) // no hand-over at all
	for name, construct := range constructors {
		for _, opt := range []locks.Option{nil, locks.WithMaxWait(5000), locks.WithOnQueued(nil)} {
			if err := construct(client, "/a", opt); !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("%s with %v: %v", name, opt, err)
			}
		}
	}
}

func TestBadPaths(t *testing.T) {
	client, wait := notStarted(t), locks.WithMaxWait(time.Second)
	for name, construct := range constructors {
		for _, path := range []string{"", "relative", "/", "/a/", "//a", "/a//b", "/a/./b", "/..", "/a\x00", "/a\n", "/a\xff"} {
			if err := construct(client, path, wait); !errors.Is(err, framework.ErrInvalidPath) {
				t.Errorf("%s at %q: %v", name, path, err)
			}
		}
		suite.WantErr(t, construct(client.UsingNamespace("a//b"), "/a", wait), framework.ErrInvalidPath)
	}
}

// Every call that takes a client says that it is nil.
func TestNilClient(t *testing.T) {
	path := "/a"
	for _, client := range []*framework.Client{nil, {}} {
		calls := map[string]func() error{
			"inspect": func() error { _, err := locks.Inspect(t.Context(), client, path); return err },
			"revoke":  func() error { return locks.AttemptRevoke(t.Context(), client, path) },
			"view":    func() error { _, err := locks.NewInterProcessMutex(client.UsingNamespace("x"), path); return err },
		}
		for name, construct := range constructors {
			calls[name] = func() error { return construct(client, path, locks.WithMaxWait(time.Second)) }
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, framework.ErrNotStarted) || !strings.Contains(err.Error(), "the client is nil") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	_, err := locks.NewInterProcessSemaphoreV2WithCount(notStarted(t), path, nil)
	if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "the count is nil") {
		t.Errorf("no count: %v", err)
	}
}

// Nil locks of every kind hand out nothing, and panic no more than nil leases do. Nor do those that wrap one.
func TestNilLocks(t *testing.T) {
	var nilWrapper *wrapper
	work := func(context.Context, *locks.Lease) error {
		t.Error("called without the lock")
		return nil
	}
	all := []locks.InterProcessLock{
		(*locks.InterProcessMutex)(nil), (*locks.ReadLock)(nil), (*locks.WriteLock)(nil), (*locks.InterProcessSemaphore)(nil),
		(*locks.InterProcessSemaphoreV2)(nil), (*locks.InterProcessSemaphoreMutex)(nil), (*locks.InterProcessMultiLock)(nil),
		new(locks.InterProcessMutex), new(locks.ReadLock), new(locks.WriteLock), new(locks.InterProcessSemaphore),
		new(locks.InterProcessSemaphoreV2), new(locks.InterProcessSemaphoreMutex), new(locks.InterProcessMultiLock),
		wrapper{}, &wrapper{},
	}
	for _, rw := range []*locks.InterProcessReadWriteLock{nil, {}} {
		all = append(all, rw.ReadLock(), rw.WriteLock())
		suite.Got(rw.Downgrade(t.Context(), nil)).Fails(t, framework.ErrInvalidOption)
	}
	for _, lock := range slices.Clone(all) {
		all = append(all, multiOf(t, lock))
	}
	for _, lock := range all {
		results := []error{locks.Do(t.Context(), lock, work), locks.TryDo(t.Context(), lock, work)}
		for _, ctx := range []context.Context{t.Context(), noContext} {
			_, acquired := lock.Acquire(ctx)
			_, tried := lock.TryAcquire(ctx)
			results = append(results, acquired, tried)
		}
		if s, ok := lock.(counted); ok {
			_, err := s.AcquireN(t.Context(), 1)
			results = append(results, err)
		}
		if l, ok := lock.(participating); ok {
			_, err := l.ParticipantNodes(t.Context())
			results = append(results, err)
		}
		for _, err := range results {
			if !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("%T: %v", lock, err)
			}
		}
		if l, ok := lock.(acquirable); ok && l.IsAcquiredInThisProcess() {
			t.Errorf("%T is held", lock)
		}
		if l, ok := lock.(interface{ IsOwnedBy(context.Context) bool }); ok && l.IsOwnedBy(t.Context()) {
			t.Errorf("%T is owned", lock)
		}
	}
	if multiOf(t, nilWrapper).IsAcquiredInThisProcess() {
		t.Error("a nil wrapper is held")
	}
	var mutex *locks.InterProcessMutex
	for _, err := range []error{
		locks.Do(t.Context(), mutex, nil), locks.TryDo(t.Context(), mutex, nil),
		locks.Do(t.Context(), nil, work), locks.TryDo(t.Context(), nil, work), locks.Do(t.Context(), nil, nil),
	} {
		suite.WantErr(t, err, framework.ErrInvalidOption)
	}
	suite.Got(locks.NewInterProcessMultiLock()).Fails(t, framework.ErrInvalidOption)
	suite.Got(locks.NewInterProcessMultiLock(nil)).Fails(t, framework.ErrInvalidOption)
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
	ctx := bounded(t, time.Minute)
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
