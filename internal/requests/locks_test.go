package requests_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// lockKind is a kind of lock. Its locks have one lease.
type lockKind struct {
	name string // of the type
	// lock makes one. It sets concurrent if the lock watches several nodes in the background.
	lock func(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock
	// opposite makes what another client holds, so that lock waits; nil if that is another lock.
	opposite func(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock
}

// options converts options of every lock to those of one kind.
func options[O any](opts []locks.Option) (all []O) {
	for _, o := range opts {
		all = append(all, any(o).(O))
	}
	return all
}

var lockKinds = []lockKind{
	{"*InterProcessMutex", mutex, nil},
	{"*InterProcessMultiLock", func(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		f.concurrent = true
		second, err := locks.NewInterProcessMutex(c, "/second", options[locks.MutexOption](opts)...)
		f.ok(err)
		l, err := locks.NewInterProcessMultiLock(mutex(f, c, opts...), second)
		return made(f, l, err)
	}, nil},
	{"*InterProcessSemaphore", func(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		l, err := locks.NewInterProcessSemaphore(c, "/lock", 1, options[locks.SemaphoreOption](opts)...)
		return made(f, l, err)
	}, nil},
	{"*InterProcessSemaphoreV2", func(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		f.concurrent = true
		l, err := locks.NewInterProcessSemaphoreV2(c, "/lock", 1, options[locks.SemaphoreOption](opts)...)
		return made(f, l, err)
	}, nil},
	{"*InterProcessSemaphoreMutex", func(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		f.concurrent = true
		l, err := locks.NewInterProcessSemaphoreMutex(c, "/lock", options[locks.SemaphoreOption](opts)...)
		return made(f, l, err)
	}, nil},
	{"*WriteLock", writeLock, nil},
	{"*ReadLock", readLock, writeLock},
}

func mutex(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	l, err := locks.NewInterProcessMutex(c, "/lock", options[locks.MutexOption](opts)...)
	return made(f, l, err)
}

func readWrite(f *fixture, c *framework.Client, opts ...locks.Option) *locks.InterProcessReadWriteLock {
	l, err := locks.NewInterProcessReadWriteLock(c, "/lock", options[locks.ReadWriteLockOption](opts)...)
	return made(f, l, err)
}

func writeLock(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	return readWrite(f, c, opts...).WriteLock()
}

func readLock(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	return readWrite(f, c, opts...).ReadLock()
}

// others makes the lock of another client.
func (k lockKind) others(f *fixture, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	if k.opposite != nil {
		return k.opposite(f, c, opts...)
	}
	return k.lock(f, c, opts...)
}

// acquired is a lease, which is there when the wait for it has ended.
type acquired struct {
	lease *locks.Lease
	err   error
	done  chan struct{}
}

// acquire acquires a lock in the background.
func acquire(ctx context.Context, lock locks.InterProcessLock) *acquired {
	a := &acquired{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.lease, a.err = lock.Acquire(ctx)
	}()
	return a
}

// held waits for the lease.
func (a *acquired) held(f *fixture) *locks.Lease {
	f.Helper()
	<-a.done
	f.ok(a.err)
	return a.lease
}

// held acquires a lock.
func (f *fixture) held(lock locks.InterProcessLock) *locks.Lease {
	f.Helper()
	lease, err := lock.Acquire(f.Context())
	return made(f, lease, err)
}

func (f *fixture) release(lease *locks.Lease) { f.Helper(); f.ok(lease.Release(f.Context())) }

func lockCases() []tableCase {
	var all []tableCase
	for _, k := range lockKinds {
		name := "recipes/locks: (" + k.name + ") "
		all = append(all,
			tableCase{name + "Acquire", "free", func(f *fixture) { k.free(f) }},
			tableCase{name + "Acquire", "contended", func(f *fixture) { k.contended(f) }},
			tableCase{name + "Acquire", "two waiters", k.twoWaiters},
			tableCase{"recipes/locks: WithPlainProtocol", k.name + ", free", func(f *fixture) { k.free(f, locks.WithPlainProtocol()) }},
			tableCase{"recipes/locks: WithPlainProtocol", k.name + ", contended", func(f *fixture) { k.contended(f, locks.WithPlainProtocol()) }},
			tableCase{"framework: WithTracing", k.name + ", contended", func(f *fixture) {
				f.reopen(framework.WithTracing(suite.NewSpans().Option()))
				k.contended(f)
			}},
			tableCase{name + "Acquire", "the waiter gives up", k.givesUp},
			tableCase{name + "TryAcquire", "held by another client", k.tries},
			tableCase{name + "Acquire", "cut while it is held", k.cutHeld},
			tableCase{name + "Acquire", "cut while it is held, which ends with the session only", k.cutHeldOn},
			tableCase{name + "Acquire", "cut while it waits", func(f *fixture) { k.interrupted(f, f.cut) }},
			tableCase{name + "Acquire", "the session ends while it waits", func(f *fixture) { k.interrupted(f, f.expire) }},
			tableCase{name + "Acquire", "the session ends while it is held", k.expiresHeld},
			tableCase{name + "Acquire", "an answer to a create is lost", k.lostCreate},
			tableCase{name + "Acquire", "the answer to the release is lost", k.lostRelease},
		)
	}
	return all
}

func (k lockKind) free(f *fixture, opts ...locks.Option) {
	lock := k.lock(f, f.client, opts...)
	var lease *locks.Lease
	f.step("Acquire", func() { lease = f.held(lock) })
	f.step("Release", func() { f.release(lease) })
	f.step("Acquire again", func() { lease = f.held(lock) })
	f.step("Acquire by the holder", func() {
		ctx, cancel := context.WithTimeout(lease.Bind(f.Context()), pause)
		defer cancel()
		if inner, err := lock.Acquire(ctx); err == nil {
			f.release(inner)
		}
	})
	f.step("Release", func() { f.release(lease) })
	f.step("TryAcquire", func() {
		var err error
		lease, err = lock.TryAcquire(f.Context())
		f.ok(err)
	})
	f.step("Release", func() { f.release(lease) })
}

func (k lockKind) contended(f *fixture, opts ...locks.Option) {
	others, lock := k.others(f, f.other, opts...), k.lock(f, f.client, opts...)
	first := f.held(others)
	var second *acquired
	f.step("Acquire waits", func() { second = acquire(f.Context(), lock) })
	f.step("the other client releases", func() { f.release(first); second.held(f) })
	var third *acquired
	f.step("the other client waits", func() { third = acquire(f.Context(), others) })
	f.step("Release", func() { f.release(second.lease); third.held(f) })
	f.step("the other client releases", func() { f.release(third.lease) })
}

// twoWaiters has a waiter behind the client, which is the next.
func (k lockKind) twoWaiters(f *fixture) {
	first := f.held(k.others(f, f.other))
	var second, third *acquired
	last := f.newClient("last")
	f.step("Acquire waits", func() { second = acquire(f.Context(), k.lock(f, f.client)) })
	f.step("another client waits", func() { third = acquire(f.Context(), k.lock(f, last)) })
	f.step("the other client releases", func() { f.release(first); second.held(f) })
	f.step("Release", func() { f.release(second.lease); third.held(f) })
	f.step("the last client releases", func() { f.release(third.lease) })
}

func (k lockKind) givesUp(f *fixture) {
	first := f.held(k.others(f, f.other))
	ctx, cancel := context.WithCancel(f.Context())
	var second *acquired
	f.step("Acquire waits", func() { second = acquire(ctx, k.lock(f, f.client)) })
	f.step("its context ends", func() { cancel(); <-second.done })
	f.step("the other client releases", func() { f.release(first) })
}

func (k lockKind) tries(f *fixture) {
	first := f.held(k.others(f, f.other))
	f.step("TryAcquire", func() {
		if _, err := k.lock(f, f.client).TryAcquire(f.Context()); err == nil {
			f.Error("acquired")
		}
	})
	f.step("the other client releases", func() { f.release(first) })
}

// cutHeld loses the lock with the connection.
func (k lockKind) cutHeld(f *fixture) {
	lock := k.lock(f, f.client)
	lease := f.held(lock)
	f.cut()
	f.step("Release", func() { _ = lease.Release(f.Context()) }) // it was lost
	f.step("Acquire", func() { lease = f.held(lock) })
	f.step("Release", func() { f.release(lease) })
}

// cutHeldOn keeps the lock without a connection.
func (k lockKind) cutHeldOn(f *fixture) {
	f.reopen(framework.WithErrorPolicy(state.SessionErrorPolicy()))
	lease := f.held(k.lock(f, f.client))
	var second *acquired
	f.step("the other client waits", func() { second = acquire(f.Context(), k.others(f, f.other)) })
	f.cut()
	f.step("Release", func() { f.release(lease); second.held(f) })
	f.step("the other client releases", func() { f.release(second.lease) })
}

// interrupted has a fault that meets a waiter.
func (k lockKind) interrupted(f *fixture, fault func()) {
	first := f.held(k.others(f, f.other))
	var second *acquired
	f.step("Acquire waits", func() { second = acquire(f.Context(), k.lock(f, f.client)) })
	fault()
	f.step("the other client releases", func() { f.release(first); second.held(f) })
	f.step("Release", func() { f.release(second.lease) })
}

func (k lockKind) expiresHeld(f *fixture) {
	lease := f.held(k.lock(f, f.client))
	var second *acquired
	f.step("the other client waits", func() { second = acquire(f.Context(), k.others(f, f.other)) })
	f.expire()
	f.step("Release", func() { _ = lease.Release(f.Context()) }) // it was lost
	f.step("the other client releases", func() { f.release(second.held(f)) })
}

func (k lockKind) lostCreate(f *fixture) {
	f.nodes("/lock", "/second")
	var lease *locks.Lease
	f.step("Acquire", func() {
		f.unanswered("create")
		lease = f.held(k.lock(f, f.client))
	})
	f.step("Release", func() { f.release(lease) })
}

func (k lockKind) lostRelease(f *fixture) {
	lease := f.held(k.lock(f, f.client))
	f.step("Release", func() {
		f.unanswered("delete")
		_ = lease.Release(f.Context())
	})
}
