package requests_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// moreLockCases are of what only some kinds of locks have.
func moreLockCases() []tableCase {
	all := append(participantCases(), leaseCases()...)
	for _, kind := range []string{"*InterProcessSemaphore", "*InterProcessSemaphoreV2"} {
		all = append(all, manyCases(kind)...)
	}
	return append(all, readWriteCases()...)
}

func participantCases() (all []tableCase) {
	for _, k := range lockKinds {
		lock, ok := k.lock, true
		if k.name == "*InterProcessMultiLock" || k.name == "*InterProcessSemaphoreMutex" {
			ok = false // they have no such method
		}
		if ok {
			all = append(all, tableCase{"recipes/locks: (" + k.name + ") ParticipantNodes", "held", func(f *fixture) {
				lease := f.held(lock(f, f.other))
				l := lock(f, f.client).(interface {
					ParticipantNodes(ctx context.Context) ([]string, error)
				})
				f.step("call", func() { f.must(l.ParticipantNodes(f.Context())) })
				f.release(lease)
			}})
		}
		all = append(all, tableCase{"recipes/locks: Inspect", "of a " + k.name[1:] + ", held", func(f *fixture) {
			lease := f.held(lock(f, f.other))
			second := acquire(f.Context(), k.others(f, f.other))
			f.step("call", func() { f.must(locks.Inspect(f.Context(), f.client, "/lock")) })
			f.release(lease)
			f.release(second.held(f))
		}})
	}
	return all
}

func leaseCases() []tableCase {
	held := func(op, row string, call func(f *fixture, lease *locks.Lease)) tableCase {
		return tableCase{"recipes/locks: " + op, row, func(f *fixture) {
			f.nodes("/x")
			lease := f.held(mutex(f, f.client))
			f.step("call", func() { call(f, lease) })
			f.step("Release", func() { f.release(lease) })
		}}
	}
	nothing := func(context.Context, *locks.Lease) error { return nil }
	return []tableCase{
		free("recipes/locks: Do", "free", func(f *fixture) error { return locks.Do(f.Context(), mutex(f, f.client), nothing) }),
		free("recipes/locks: TryDo", "free", func(f *fixture) error { return locks.TryDo(f.Context(), mutex(f, f.client), nothing) }),
		held("(*Lease) Verify", "held", func(f *fixture, lease *locks.Lease) { f.ok(lease.Verify(f.Context())) }),
		held("(*Lease) Verify", "an answer is lost", func(f *fixture, lease *locks.Lease) {
			f.unanswered("multi")
			_ = lease.Verify(f.Context()) // the lease is lost with the connection
		}),
		held("(*Lease) Guard", "held", func(f *fixture, lease *locks.Lease) {
			f.must(lease.Guard(f.Context(), f.client.TransactionOp().SetData().ForPath("/x", nil)))
		}),
		held("(*Lease) GuardIdempotent", "held", func(f *fixture, lease *locks.Lease) {
			f.must(lease.GuardIdempotent(f.Context(), f.client.TransactionOp().SetData().WithVersion(0).ForPath("/x", nil)))
		}),
		held("AttemptRevoke", "held by a lock that cannot be revoked", func(f *fixture, lease *locks.Lease) {
			f.ok(locks.AttemptRevoke(f.Context(), f.other, lease.Path()))
		}),
		{"recipes/locks: Inspect", "free", func(f *fixture) {
			f.release(f.held(mutex(f, f.other)))
			f.step("call", func() { f.must(locks.Inspect(f.Context(), f.client, "/lock")) })
		}},
		{"recipes/locks: Inspect", "no lock", func(f *fixture) {
			f.step("call", func() { _, _ = locks.Inspect(f.Context(), f.client, "/lock") })
		}},
		{"recipes/locks: (*InterProcessMutex) Acquire", "ten of one client", func(f *fixture) {
			first := f.held(mutex(f, f.client))
			done := make(chan error, 10)
			f.unordered("ten wait", func() {
				for range 10 {
					go func() {
						done <- locks.Do(f.Context(), mutex(f, f.client), func(context.Context, *locks.Lease) error { return nil })
					}()
				}
			})
			f.unordered("each of them has it", func() {
				f.release(first)
				for range 10 {
					f.ok(<-done)
				}
			})
		}},
	}
}

// semaphore is a lock with several leases.
type semaphore interface {
	locks.InterProcessLock
	AcquireN(ctx context.Context, n int) (*locks.Lease, error)
}

func semaphoreOfThree(f *fixture, c *framework.Client, kind string) semaphore {
	f.concurrent = true
	if kind == "*InterProcessSemaphore" {
		s, err := locks.NewInterProcessSemaphore(c, "/lock", 3)
		return made(f, s, err)
	}
	s, err := locks.NewInterProcessSemaphoreV2(c, "/lock", 3)
	return made(f, s, err)
}

// manyCases are of semaphores with several leases.
func manyCases(kind string) []tableCase {
	of := func(f *fixture, c *framework.Client) semaphore { return semaphoreOfThree(f, c, kind) }
	name := "recipes/locks: (" + kind + ") "
	two := func(f *fixture, c *framework.Client) (lease *locks.Lease) {
		lease, err := of(f, c).AcquireN(f.Context(), 2)
		return made(f, lease, err)
	}
	contended := func(row string, fault func(f *fixture)) tableCase {
		return tableCase{name + "AcquireN", "two of three, " + row, func(f *fixture) {
			first := two(f, f.other)
			var second *locks.Lease
			var end func()
			f.step("AcquireN waits", func() {
				end = f.waits(func(ctx context.Context) (err error) {
					second, err = of(f, f.client).AcquireN(ctx, 2)
					return err
				})
			})
			fault(f)
			f.step("the other client releases a part", func() { f.release(first.Parts()[0]); end() })
			f.step("the other client releases the rest", func() { f.release(first) })
			f.step("Release", func() { f.release(second) })
		}}
	}
	return []tableCase{
		{name + "AcquireN", "two of three", func(f *fixture) {
			var lease *locks.Lease
			f.step("AcquireN", func() { lease = two(f, f.client) })
			f.step("a part is released", func() { f.release(lease.Parts()[0]) })
			f.step("Release", func() { f.release(lease) })
		}},
		contended("contended", func(*fixture) {}),
		contended("cut while it waits", (*fixture).cut),
		{name + "AcquireN", "two of three, an answer to a create is lost", func(f *fixture) {
			f.nodes("/lock")
			request := "multi"
			if kind == "*InterProcessSemaphoreV2" {
				request = "create"
			}
			var lease *locks.Lease
			f.step("AcquireN", func() {
				f.unanswered(request)
				lease = two(f, f.client)
			})
			f.step("Release", func() { f.release(lease) })
		}},
		{name + "Acquire", "each of three", func(f *fixture) {
			s := of(f, f.client)
			var all []*locks.Lease
			f.step("three times", func() {
				for range 3 {
					all = append(all, f.held(s))
				}
			})
			f.step("Release", func() {
				for _, lease := range all {
					f.release(lease)
				}
			})
		}},
	}
}

func readWriteCases() []tableCase {
	return []tableCase{
		{"recipes/locks: (*ReadLock) Acquire", "behind a reader", func(f *fixture) {
			first := f.held(readLock(f, f.other))
			var second *locks.Lease
			f.step("Acquire", func() { second = f.held(readLock(f, f.client)) })
			f.step("Release", func() { f.release(second) })
			f.step("the other client releases", func() { f.release(first) })
		}},
		{"recipes/locks: (*WriteLock) Acquire", "behind two readers", func(f *fixture) {
			first, second := f.held(readLock(f, f.other)), f.held(readLock(f, f.newClient("second")))
			var third *acquired
			f.step("Acquire waits", func() { third = acquire(f.Context(), writeLock(f, f.client)) })
			f.step("the first releases", func() { f.release(first) })
			f.step("the second releases", func() { f.release(second); third.held(f) })
			f.step("Release", func() { f.release(third.lease) })
		}},
		{"recipes/locks: (*InterProcessReadWriteLock) Downgrade", "a reader waits", func(f *fixture) {
			rw := readWrite(f, f.client)
			writer := f.held(rw.WriteLock())
			reader := acquire(f.Context(), readLock(f, f.other))
			var lease *locks.Lease
			f.step("Downgrade", func() {
				var err error
				lease, err = rw.Downgrade(f.Context(), writer)
				f.ok(err)
			})
			f.step("the reader releases", func() { f.release(reader.held(f)) })
			f.step("Release", func() { f.release(lease) })
		}},
		{"recipes/locks: (*InterProcessReadWriteLock) Downgrade", "free, cut behind it", func(f *fixture) {
			rw := readWrite(f, f.client)
			writer := f.held(rw.WriteLock())
			var lease *locks.Lease
			f.step("Downgrade", func() {
				var err error
				lease, err = rw.Downgrade(f.Context(), writer)
				f.ok(err)
			})
			f.cut()
			f.step("Release", func() { _ = lease.Release(f.Context()) }) // it was lost
		}},
		{"recipes/locks: (*ReadLock) Acquire", "by the writer", func(f *fixture) {
			rw := readWrite(f, f.client)
			writer := f.held(rw.WriteLock())
			var reader *locks.Lease
			f.step("Acquire", func() {
				var err error
				reader, err = rw.ReadLock().Acquire(writer.Bind(f.Context()))
				f.ok(err)
			})
			f.step("the writer releases", func() { f.release(writer) })
			f.step("the reader releases", func() { f.release(reader) })
		}},
	}
}
