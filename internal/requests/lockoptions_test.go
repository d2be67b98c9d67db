package requests_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
)

// lockOptionCases are of mutexes, and of a semaphore whose maximum changes.
func lockOptionCases() []tableCase {
	of := func(option string, faults bool, opts ...locks.MutexOption) []tableCase {
		lock := func(f *fixture, c *framework.Client) locks.InterProcessLock {
			l, err := locks.NewInterProcessMutex(c, "/lock", opts...)
			return made(f, l, err)
		}
		k := lockKind{"", func(f *fixture, c *framework.Client, _ ...locks.Option) locks.InterProcessLock { return lock(f, c) }, nil}
		all := []tableCase{
			{"recipes/locks: " + option, "free", func(f *fixture) { k.free(f) }},
			{"recipes/locks: " + option, "contended", func(f *fixture) { k.contended(f) }},
			{"recipes/locks: " + option, "cut while it is held", k.cutHeld},
			{"recipes/locks: " + option, "the session ends while it is held", k.expiresHeld},
			{"recipes/locks: " + option, "cut while it waits", func(f *fixture) { k.interrupted(f, f.cut) }},
		}
		if !faults {
			return all[:2] // it is the same as without the option
		}
		return all
	}
	var all []tableCase
	for _, o := range []struct {
		name string
		opt  locks.MutexOption
		// faults also has the cases of faults.
		faults bool
	}{
		{"WithDriver", locks.WithDriver(driver{}), false},
		{"WithLocalHandover", locks.WithLocalHandover(2), true},
		{"WithLockDelay", locks.WithLockDelay(time.Second), true},
		{"WithMaxHold", locks.WithMaxHold(time.Hour), false},
		{"WithMaxWait", locks.WithMaxWait(time.Hour), false},
		{"WithNodeData", locks.WithNodeData([]byte("x")), false},
		{"WithOnQueued", locks.WithOnQueued(func(int, int) {}), true},
		{"WithReleaseTimeout", locks.WithReleaseTimeout(time.Minute), false},
		{"WithRevocable", locks.WithRevocable(nil), true},
	} {
		all = append(all, of(o.name, o.faults, o.opt)...)
	}
	return append(all, slices.Concat(revokeCases(), limitCases(), countCases())...)
}

// driver is the usual one, under a type of its own.
type driver struct {
	locks.StandardLockInternalsDriver
}

func revokeCases() []tableCase {
	lock := func(f *fixture, c *framework.Client, fn func(ctx context.Context, lease *locks.Lease)) locks.InterProcessLock {
		m, err := locks.NewInterProcessMutex(c, "/lock", locks.WithRevocable(fn))
		return made(f, m, err)
	}
	return []tableCase{
		{"recipes/locks: WithRevocable", "asked while it is held", func(f *fixture) {
			lease := f.held(lock(f, f.client, func(context.Context, *locks.Lease) {}))
			f.step("another client asks", func() { f.ok(locks.AttemptRevoke(f.Context(), f.other, lease.Path())) })
			f.step("and asks again", func() { f.ok(locks.AttemptRevoke(f.Context(), f.other, lease.Path())) })
			f.step("Release", func() { f.release(lease) })
		}},
		{"recipes/locks: WithRevocable", "asked while it waits", func(f *fixture) {
			first := f.held(mutex(f, f.other))
			second := acquire(f.Context(), lock(f, f.client, func(context.Context, *locks.Lease) {}))
			settle()
			node := f.wires[0].lastEphemeral() + "0000000001"
			f.step("another client asks", func() { f.ok(locks.AttemptRevoke(f.Context(), f.other, node)) })
			f.step("the other client releases", func() { f.release(first); second.held(f) })
			f.step("Release", func() { f.release(second.lease) })
		}},
		{"recipes/locks: WithRevocable", "the function releases", func(f *fixture) {
			lease := f.held(lock(f, f.client, func(ctx context.Context, lease *locks.Lease) {
				_ = lease.Release(context.WithoutCancel(ctx))
			}))
			f.step("another client asks", func() { f.ok(locks.AttemptRevoke(f.Context(), f.other, lease.Path())) })
			f.step("Release", func() { f.release(lease) })
		}},
		{"recipes/locks: AttemptRevoke", "an answer is lost", func(f *fixture) {
			lease := f.held(mutex(f, f.other))
			f.step("call", func() {
				f.unanswered("setData")
				f.ok(locks.AttemptRevoke(f.Context(), f.client, lease.Path()))
			})
			f.release(lease)
		}},
	}
}

// limitCases are of options that end something after a time, and of local queues.
func limitCases() []tableCase {
	of := func(f *fixture, c *framework.Client, opts ...locks.MutexOption) locks.InterProcessLock {
		m, err := locks.NewInterProcessMutex(c, "/lock", opts...)
		return made(f, m, err)
	}
	return []tableCase{
		{"recipes/locks: WithMaxHold", "held for too long", func(f *fixture) {
			lease := f.held(of(f, f.client, locks.WithMaxHold(time.Second)))
			f.step("the time passes", settle)
			f.step("Release", func() { _ = lease.Release(f.Context()) }) // it was lost
		}},
		{"recipes/locks: WithMaxWait", "waited for too long", func(f *fixture) {
			lease := f.held(mutex(f, f.other))
			f.step("Acquire", func() {
				_, err := of(f, f.client, locks.WithMaxWait(time.Second)).Acquire(f.Context())
				if !errors.Is(err, locks.ErrNotAcquired) {
					f.Error(err)
				}
			})
			f.release(lease)
		}},
		{"recipes/locks: WithLocalHandover", "five of one client", func(f *fixture) {
			m := of(f, f.client, locks.WithLocalHandover(2))
			first := f.held(m)
			var waiters []*acquired
			for range 4 {
				waiters = append(waiters, acquire(f.Context(), m))
				settle()
			}
			f.step("the first releases", func() { f.release(first); waiters[0].held(f) })
			f.step("the second releases", func() { f.release(waiters[0].lease); waiters[1].held(f) })
			f.step("the third releases", func() { f.release(waiters[1].lease); waiters[2].held(f) })
			f.step("the fourth releases", func() { f.release(waiters[2].lease); waiters[3].held(f) })
			f.step("the last releases", func() { f.release(waiters[3].lease) })
		}},
		{"recipes/locks: WithLockDelay", "the holder was lost", func(f *fixture) {
			first := f.held(of(f, f.other, locks.WithLockDelay(time.Second)))
			var second *acquired
			f.step("Acquire waits", func() { second = acquire(f.Context(), of(f, f.client, locks.WithLockDelay(time.Second))) })
			f.unordered("the session of the other client ends", func() {
				f.server.ExpireSession(f.other.SessionID())
				second.held(f)
			})
			f.step("Release", func() { f.release(second.lease) })
			f.step("Release of what was lost", func() { _ = first.Release(f.Context()) })
		}},
	}
}

func countCases() []tableCase {
	return []tableCase{
		{"recipes/locks: NewInterProcessSemaphoreV2WithCount", "the maximum grows", func(f *fixture) {
			f.concurrent = true
			count, err := shared.NewCount(f.client, "/count", 1)
			f.ok(err)
			started(f, count)
			of := func(c *framework.Client) locks.InterProcessLock {
				s, err := locks.NewInterProcessSemaphoreV2WithCount(c, "/lock", count)
				return made(f, s, err)
			}
			first := f.held(of(f.other))
			var second *acquired
			f.step("Acquire waits", func() { second = acquire(f.Context(), of(f.client)) })
			f.step("the maximum grows", func() { f.must(count.Set(f.Context(), 2)); second.held(f) })
			f.step("Release", func() { f.release(second.lease) })
			f.step("the other client releases", func() { f.release(first) })
		}},
	}
}
