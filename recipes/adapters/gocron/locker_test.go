package curatorgocron_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	curatorgocron "github.com/go-curator/curator/recipes/adapters/gocron"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// Any name of a job has a lock of its own.
func TestNames(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		first, second := newHost(t, b), newHost(t, b)
		for _, name := range []string{
			"report", "pkg.(*T).Run", "github.com/user/jobs.Nightly.func1", "a/b", "a%2Fb", "/", ".", "..", "%2E",
			"nightly report", "nightly+report", "Käse", "\x00", "\xff\xfe", strings.Repeat("long", 200),
		} {
			lock := first.lock(name)
			second.wantRefused(name, locks.ErrNotAcquired)
			if first.locker.Lease(name).Err() != nil || second.locker.Lease(name) != nil {
				t.Errorf("%q: leases %v, %v", name, first.locker.Lease(name), second.locker.Lease(name))
			}
			first.wantUnlocked(lock)
			if first.locker.Lease(name) != nil {
				t.Errorf("%q: a lease after Unlock", name)
			}
		}
	})
}

// The record of a lock with a delay is not the lock of another job.
func TestNameOfRecord(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		opts := []curatorgocron.LockerOption{
			curatorgocron.WithMinHold(0), curatorgocron.WithLockOptions(locks.WithLockDelay(time.Second)),
		}
		first, second := newHost(t, b, opts...), newHost(t, b, opts...)
		record, job := first.lock("job.holder"), first.lock("job")
		for _, name := range []string{"job.holder", "job"} {
			second.wantRefused(name, locks.ErrNotAcquired)
		}
		names, err := first.client.GetChildren().ForPath(t.Context(), b.Path("jobs"))
		want := []string{"job", "job%2Eholder", "job%2Eholder.holder", "job.holder"}
		if slices.Sort(names); err != nil || !slices.Equal(names, want) {
			t.Errorf("nodes %q, %v; want %q", names, err, want)
		}
		first.wantUnlocked(record)
		first.wantUnlocked(job)
		second.wantUnlocked(second.lock("job.holder"))
	})
}

// A lock stays held for WithMinHold, however short the job is, and no longer.
func TestMinHold(t *testing.T) {
	for name, tt := range map[string]struct{ hold, job, least time.Duration }{
		"short job":       {2 * time.Second, 0, 2 * time.Second},
		"long job":        {500 * time.Millisecond, time.Second, time.Second},
		"no minimum":      {0, 0, 0},
		"job of that len": {time.Second, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Each(t, func(t *testing.T, b *suite.Backend) {
				hold := curatorgocron.WithMinHold(tt.hold)
				first, second := newHost(t, b, hold), newHost(t, b, hold)
				begun := time.Now()
				lock := first.lock("job")
				pause(tt.job)
				second.wantRefused("job", locks.ErrNotAcquired)
				first.wantUnlocked(lock)
				second.wantUnlocked(second.awaitLock("job"))
				if took := time.Since(begun); took < tt.least || b.Virtual && took > tt.least*5/4 {
					t.Errorf("another host has the lock after %v, want %v", took, tt.least)
				}
			})
		})
	}
}

// The context of the job has ended when gocron unlocks at the end of a scheduler. WithMinHold holds then, too.
func TestUnlockWithEndedContext(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		first, second := newHost(t, b), newHost(t, b)
		ctx, cancel := context.WithCancel(t.Context())
		lock, err := first.locker.Lock(ctx, "job")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := lock.Unlock(ctx); err != nil {
			t.Error(err)
		}
		second.wantRefused("job", locks.ErrNotAcquired)
		first.wantUnlocked(lock, locks.ErrReleased)
		second.awaitLock("job")
	})
}

// A job whose lock is lost is told, and does not begin a second time in its process while it runs.
func TestLost(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		hold := curatorgocron.WithMinHold(0)
		first, second := newHost(t, b, hold), newHost(t, b, hold)
		lock := first.lock("job")
		ctx := first.locker.Lease("job").Bind(t.Context())
		first.network.Expire(t)
		other := second.awaitLock("job")
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), locks.ErrLockLost) {
			t.Errorf("the context of the job: %v", context.Cause(ctx))
		}
		second.wantUnlocked(other)
		first.wantRefused("job", locks.ErrNotAcquired) // by itself
		first.wantUnlocked(lock, locks.ErrLockLost)
		again := first.lock("job")
		first.wantUnlocked(lock, locks.ErrReleased)
		if err := first.locker.Lease("job").Err(); err != nil {
			t.Errorf("the next run, after a second Unlock of the last one: %v", err)
		}
		first.wantUnlocked(again)
	})
}

// The node of a lock stays for WithMinHold although the connection was lost meanwhile.
func TestMinHoldWithoutConnection(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		hold := curatorgocron.WithMinHold(10 * time.Second)
		first, second := newHost(t, b, hold), newHost(t, b, hold)
		begun := time.Now()
		first.wantUnlocked(first.lock("job"))
		first.network.Cut()
		second.wantUnlocked(second.awaitLock("job"))
		if took := time.Since(begun); took < 10*time.Second {
			t.Errorf("another host has the lock after %v", took)
		}
	})
}

// A lock that comes after half of WithMinHold is no use: another host may have run the job, and released.
func TestTooLate(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		slow := curatortest.Rule{Op: "create", Do: curatortest.Delay(700 * time.Millisecond)}
		for name, fault := range map[string]func(h *host) (heal func()){
			"no connection": func(h *host) func() { return h.network.Isolate() },
			"slow server":   func(*host) func() { b.Server().Inject(slow); return func() {} },
		} {
			h, other := newHost(t, b), newHost(t, b)
			begun, heal := time.Now(), fault(h)
			h.wantRefused("job", context.DeadlineExceeded)
			if took := time.Since(begun); took < time.Second/2 || took > 2*time.Second {
				t.Errorf("%s: Lock took %v", name, took)
			}
			heal()
			other.wantUnlocked(other.awaitLock("job"))
			pause(2 * time.Second)
		}
	})
}

func TestClose(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		hold := curatorgocron.WithMinHold(3 * time.Second)
		second := newHost(t, b, hold)

		first := newHost(t, b, hold)
		begun := time.Now()
		first.wantUnlocked(first.lock("waits"))
		if err := first.locker.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < 3*time.Second {
			t.Errorf("closed after %v", took)
		}
		second.lock("waits")
		first.wantRefused("waits", framework.ErrClosed)
		if err := first.locker.Close(t.Context()); err != nil {
			t.Error("again:", err)
		}

		first = newHost(t, b, hold)
		first.wantUnlocked(first.lock("hurries"))
		running := first.lock("running")
		job := first.locker.Lease("running").Context()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := first.locker.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		if !errors.Is(context.Cause(job), locks.ErrReleased) {
			t.Errorf("the context of a job that runs: %v", context.Cause(job))
		}
		second.lock("hurries")
		second.lock("running")
		first.wantUnlocked(running, locks.ErrReleased)
	})
}

// Close ends a Lock that is under way, and a closed client ends a WithMinHold.
func TestCloseWithoutServer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		hold := curatorgocron.WithMinHold(time.Hour)
		h := newHost(t, b, hold)
		h.wantUnlocked(h.lock("held"))
		heal := h.network.Isolate()
		ended := make(chan error, 1)
		go func() {
			_, err := h.locker.Lock(t.Context(), "job")
			ended <- err
		}()
		pause(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begun := time.Now()
		if err := h.locker.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, framework.ErrClosed) {
			t.Errorf("Lock during Close: %v", err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("Close took %v", took)
		}

		heal()

		h = newHost(t, b, hold)
		h.wantUnlocked(h.lock("other"))
		if err := h.client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		begun = time.Now()
		if err := h.locker.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("Close after the client's took %v", took)
		}
	})
}

func TestMisuse(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		for name, tt := range map[string]struct {
			client *framework.Client
			path   string
			option curatorgocron.LockerOption
			want   error
		}{
			"nil client":     {nil, "/jobs", curatorgocron.WithMinHold(0), framework.ErrNotStarted},
			"path":           {h.client, "jobs/", curatorgocron.WithMinHold(0), framework.ErrInvalidPath},
			"nil option":     {h.client, "/jobs", nil, framework.ErrInvalidOption},
			"negative hold":  {h.client, "/jobs", curatorgocron.WithMinHold(-1), framework.ErrInvalidOption},
			"nanoseconds":    {h.client, "/jobs", curatorgocron.WithMinHold(5), framework.ErrInvalidOption},
			"option of lock": {h.client, "/jobs", curatorgocron.WithLockOptions(locks.WithMaxWait(-1)), framework.ErrInvalidOption},
		} {
			if l, err := curatorgocron.NewLocker(tt.client, tt.path, tt.option); l != nil || !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		h.wantRefused("", framework.ErrInvalidOption)
		var none *curatorgocron.Locker
		for name, l := range map[string]*curatorgocron.Locker{"nil": none, "zero value": {}} {
			if _, err := l.Lock(t.Context(), "job"); !errors.Is(err, framework.ErrNotStarted) {
				t.Errorf("%s: Lock: %v", name, err)
			}
			if l.Lease("job").Err() == nil || l.Close(t.Context()) != nil {
				t.Errorf("%s: it holds a lock, or cannot be closed", name)
			}
		}
		lock := h.lock("job")
		var nilContext context.Context
		for name, call := range map[string]func() error{
			"Lock":   func() error { _, err := h.locker.Lock(nilContext, "job"); return err },
			"Close":  func() error { return h.locker.Close(nilContext) },
			"Unlock": func() error { return lock.Unlock(nilContext) },
		} {
			if err := call(); !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("%s without a context: %v", name, err)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := h.locker.Lock(ended, "other"); !errors.Is(err, context.Canceled) {
			t.Errorf("Lock with an ended context: %v", err)
		}
		h.wantUnlocked(lock)
	})
}
