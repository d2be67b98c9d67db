package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestWaitForOneself passes an outer context down: the log names both places, once.
func TestWaitForOneself(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var log suite.Log
		client := s.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		mutex := suite.Got(locks.NewInterProcessMutex(client, "/lock")).OK(t)
		outer, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = locks.Do(outer, mutex, func(context.Context, *locks.Lease) error {
			suite.Got(mutex.Acquire(outer)).Fails(t, locks.ErrNotAcquired)
			return nil
		})
		synctest.Wait()
		lines := strings.Count(log.String(), "lock waits for a lease of this client")
		if lines != 1 || strings.Count(log.String(), "site_test.go:") != 2 {
			t.Errorf("%d lines:\n%s", lines, &log)
		}
	})
}

// TestWaitForOneselfNested passes the context of an outer lease down, below which another one
// is held already: the log names the places of both, and not that of the outer one.
func TestWaitForOneselfNested(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var log suite.Log
		client := s.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		mutex := mutexOf(t, client)
		outer := take(t, mutex)
		_, _, line, _ := runtime.Caller(0)
		inner := suite.Got(mutex.Acquire(outer.Context())).OK(t) // on the next line
		ctx, cancel := context.WithTimeout(outer.Context(), time.Minute)
		defer cancel()
		suite.Got(mutex.Acquire(ctx)).Fails(t, locks.ErrNotAcquired, context.DeadlineExceeded)
		synctest.Wait()
		text := log.String()
		if strings.Count(text, "lock waits for a lease of this client") != 1 || strings.Count(text, "site_test.go:") != 2 ||
			!strings.Contains(text, fmt.Sprintf("site_test.go:%d token=", line+1)) {
			t.Errorf("one line with two places is wanted, the second in line %d:\n%s", line+1, text)
		}
		giveBack(t, inner)
		giveBack(t, outer)
	})
}

// TestWaitForOneselfV2 has leases of a semaphore in Java's layout held by the own client, by
// another one, or by both, and the own client wait for one.
func TestWaitForOneselfV2(t *testing.T) {
	for name, c := range map[string]struct {
		mine, others int // leases that are held
		queue        bool
		want         int // that are wanted
		warns        int
	}{
		"all are its own":                      {mine: 3, want: 1, warns: 1},
		"some are its own":                     {mine: 1, others: 2, want: 1, warns: 1},
		"some of those for several":            {mine: 1, others: 1, want: 2, warns: 1},
		"behind the mutex of another's waiter": {mine: 1, others: 2, queue: true, want: 1, warns: 1},
		"none is its own":                      {others: 3, want: 1},
		"none but those that it takes":         {others: 2, want: 2},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			var log suite.Log
			logged := framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
			mine, others := threeLeases(t, s.Client(t, logged)), threeLeases(t, s.Client(t))
			ctx := bounded(t, time.Minute)
			for s, n := range map[*locks.InterProcessSemaphoreV2]int{mine: c.mine, others: c.others} {
				if n == 0 {
					continue
				}
				lease := suite.Got(s.AcquireN(ctx, n)).OK(t)
				defer giveBack(t, lease)
			}
			var waiting sync.WaitGroup
			wait := func(s *locks.InterProcessSemaphoreV2) {
				waiting.Go(func() {
					_, err := s.AcquireN(ctx, c.want)
					if !errors.Is(err, locks.ErrNotAcquired) {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
			if c.queue {
				wait(others)
			}
			wait(mine)
			if !c.queue {
				wait(mine) // behind its own mutex
				c.warns *= 2
			}
			waiting.Wait()
			synctest.Wait()
			text := log.String()
			lines := strings.Count(text, "lock waits for a lease of this client")
			if lines != c.warns || strings.Count(text, "path=/lock ") != lines || strings.Count(text, "site_test.go:") != 2*lines {
				t.Errorf("%d lines, want %d:\n%s", lines, c.warns, text)
			}
		})
	}
}

func threeLeases(t *testing.T, client *framework.Client) *locks.InterProcessSemaphoreV2 {
	t.Helper()
	return suite.Got(locks.NewInterProcessSemaphoreV2(client, "/lock", 3)).OK(t)
}

// A waiter that began anew, since its node was deleted, warns as any other.
func TestWarnsAfterStartingOver(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var log suite.Log
		client := s.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		mutex := mutexOf(t, client)
		holder := take(t, mutex)
		ctx := bounded(t, time.Minute)
		done := make(chan error, 1)
		go func() { _, err := mutex.Acquire(ctx); done <- err }()
		time.Sleep(time.Second)
		synctest.Wait()
		for _, name := range s.Children("/lock") {
			if path := "/lock/" + name; path != holder.Path() {
				suite.OK(t, client.Delete().ForPath(ctx, path))
			}
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if n := strings.Count(log.String(), "lock waits for a lease of this client"); n != 1 {
			t.Errorf("%d lines in the log, want 1:\n%s", n, &log)
		}
		suite.WantErr(t, <-done, locks.ErrNotAcquired)
		giveBack(t, holder)
	})
}

// The places that the warning names are the user's, through Do and a multi lock.
func TestSiteThroughMulti(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var log suite.Log
		client := s.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		multi := suite.Got(locks.NewInterProcessMultiLock(mutexOf(t, client))).OK(t)
		ctx := bounded(t, time.Minute)
		_ = locks.Do(ctx, multi, func(context.Context, *locks.Lease) error {
			return locks.Do(ctx, multi, func(context.Context, *locks.Lease) error { return nil })
		})
		synctest.Wait()
		if lines := log.String(); strings.Count(lines, "lock waits") != 1 || strings.Contains(lines, "unknown") {
			t.Error(lines)
		}
	})
}
