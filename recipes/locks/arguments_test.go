package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// Options that make no sense are refused before anything is sent.
func TestBadOptions(t *testing.T) {
	client := suite.Got(framework.NewClient("127.0.0.1:1", retry.None())).OK(t)
	durations := map[string]func(time.Duration) locks.MutexOption{
		"WithMaxWait":        func(d time.Duration) locks.MutexOption { return locks.WithMaxWait(d) },
		"WithMaxHold":        func(d time.Duration) locks.MutexOption { return locks.WithMaxHold(d) },
		"WithReleaseTimeout": func(d time.Duration) locks.MutexOption { return locks.WithReleaseTimeout(d) },
		"WithLockDelay":      locks.WithLockDelay,
	}
	for name, option := range durations {
		for _, d := range []time.Duration{0, -time.Second, 1, 5000, time.Millisecond - 1} { // 5000 is Java's, in milliseconds
			_, err := locks.NewInterProcessMutex(client, "/a", option(d))
			if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), name) || d > 0 && !strings.Contains(err.Error(), "nanoseconds") {
				t.Errorf("%s(%d): %v", name, int64(d), err)
			}
		}
		if _, err := locks.NewInterProcessMutex(client, "/a", option(time.Millisecond)); err != nil {
			t.Errorf("%s of a millisecond: %v", name, err)
		}
	}
	for _, option := range []locks.MutexOption{
		locks.WithLocalHandover(-1), locks.WithName(""), locks.WithName("two\nlines"), locks.WithName("\xff"),
		locks.WithName(strings.Repeat("n", 129)), locks.WithDriver(nil),
	} {
		if _, err := locks.NewInterProcessMutex(client, "/a", option); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("%v", err)
		}
	}
	for name, construct := range map[string]func(opt locks.Option) error{
		"read-write": func(opt locks.Option) error {
			_, err := locks.NewInterProcessReadWriteLock(client, "/a", opt)
			return err
		},
		"semaphore": func(opt locks.Option) error {
			_, err := locks.NewInterProcessSemaphore(client, "/a", 2, opt)
			return err
		},
		"semaphore v2": func(opt locks.Option) error {
			_, err := locks.NewInterProcessSemaphoreV2(client, "/a", 2, opt)
			return err
		},
		"mutex of it": func(opt locks.Option) error {
			_, err := locks.NewInterProcessSemaphoreMutex(client, "/a", opt)
			return err
		},
	} {
		for _, opt := range []locks.Option{nil, locks.WithMaxWait(5000)} {
			if err := construct(opt); !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("%s with %v: %v", name, opt, err)
			}
		}
	}
}

// Every call that takes a client says that it is nil.
func TestNilClient(t *testing.T) {
	path := "/a"
	for _, client := range []*framework.Client{nil, {}} {
		for name, call := range map[string]func() error{
			"mutex":      func() error { _, err := locks.NewInterProcessMutex(client, path); return err },
			"read-write": func() error { _, err := locks.NewInterProcessReadWriteLock(client, path); return err },
			"semaphore":  func() error { _, err := locks.NewInterProcessSemaphore(client, path, 1); return err },
			"v2":         func() error { _, err := locks.NewInterProcessSemaphoreV2(client, path, 1); return err },
			"v2 mutex":   func() error { _, err := locks.NewInterProcessSemaphoreMutex(client, path); return err },
			"inspect":    func() error { _, err := locks.Inspect(t.Context(), client, path); return err },
			"revoke":     func() error { return locks.AttemptRevoke(t.Context(), client, path) },
			"view":       func() error { _, err := locks.NewInterProcessMutex(client.UsingNamespace("x"), path); return err },
		} {
			if err := call(); !errors.Is(err, framework.ErrNotStarted) || !strings.Contains(err.Error(), "the client is nil") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	client := suite.Got(framework.NewClient("127.0.0.1:1", retry.None())).OK(t)
	_, err := locks.NewInterProcessSemaphoreV2WithCount(client, path, nil)
	if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "the count is nil") {
		t.Errorf("no count: %v", err)
	}
}

// Nil locks of every kind hand out nothing, and panic no more than nil leases do.
func TestNilLocks(t *testing.T) {
	var (
		mutex          *locks.InterProcessMutex
		rw             *locks.InterProcessReadWriteLock
		semaphore      *locks.InterProcessSemaphore
		v2             *locks.InterProcessSemaphoreV2
		semaphoreMutex *locks.InterProcessSemaphoreMutex
		multi          *locks.InterProcessMultiLock
	)
	work := func(context.Context, *locks.Lease) error {
		t.Error("called without the lock")
		return nil
	}
	all := []locks.InterProcessLock{nil, mutex, rw.ReadLock(), rw.WriteLock(), semaphore, v2, semaphoreMutex, multi,
		new(locks.InterProcessMutex), new(locks.ReadLock), new(locks.WriteLock), new(locks.InterProcessSemaphore),
		new(locks.InterProcessSemaphoreV2), new(locks.InterProcessSemaphoreMutex), new(locks.InterProcessMultiLock)}
	for _, lock := range all[1:] {
		parts := suite.Got(locks.NewInterProcessMultiLock(lock)).OK(t)
		all = append(all, parts)
	}
	for _, lock := range all {
		results := []error{locks.Do(t.Context(), lock, work), locks.TryDo(t.Context(), lock, work)}
		if lock != nil {
			_, acquired := lock.Acquire(t.Context())
			_, tried := lock.TryAcquire(t.Context())
			results = append(results, acquired, tried)
		}
		for _, err := range results {
			if !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("%T: %v", lock, err)
			}
		}
	}
	if mutex.IsAcquiredInThisProcess() || mutex.IsOwnedBy(t.Context()) {
		t.Error("no mutex is held")
	}
	if _, err := mutex.ParticipantNodes(t.Context()); !errors.Is(err, framework.ErrInvalidOption) {
		t.Error(err)
	}
	for _, err := range []error{locks.Do(t.Context(), mutex, nil), locks.TryDo(t.Context(), mutex, nil)} {
		if !errors.Is(err, framework.ErrInvalidOption) {
			t.Error(err)
		}
	}
}
