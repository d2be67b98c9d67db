package requests_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

// guarded is an ACL by which everybody may do everything, and which the table does not leave out.
var guarded = []framework.ACL{framework.WorldACL(), framework.DigestACL("user", "password")}

// aclCases are of recipes with an ACL, whose nodes and parents are missing: each create has the ACL. Else the
// requests are those of the recipe without the option. internal/acl has more recipes, and asks servers.
func aclCases() []tableCase {
	return []tableCase{
		{"recipes/locks: WithACL", "a mutex, and the delay of another", func(f *fixture) {
			of := func(path string, opts ...locks.MutexOption) locks.InterProcessLock {
				l, err := locks.NewInterProcessMutex(f.client, path, append(opts, locks.WithACL(guarded...))...)
				return made(f, l, err)
			}
			for _, lock := range []locks.InterProcessLock{of("/parent/lock"), of("/delayed", locks.WithLockDelay(time.Second))} {
				var lease *locks.Lease
				f.step("Acquire", func() { lease = f.held(lock) })
				f.step("Release", func() { f.release(lease) })
			}
		}},
		{"recipes/locks: WithACL", "a semaphore of Java's, with two leases", func(f *fixture) {
			s, err := locks.NewInterProcessSemaphoreV2(f.client, "/parent/lock", 3, locks.WithACL(guarded...))
			f.ok(err)
			f.step("AcquireN", func() { f.must(s.AcquireN(f.Context(), 2)) })
		}},
		{"recipes/leader: WithACL", "a latch", func(f *fixture) {
			l, err := leader.NewLeaderLatch(f.client, "/parent/leader", leader.WithACL(guarded...))
			f.ok(err)
			f.step("Start", func() { started(f, l) })
		}},
		{"recipes/leader: WithACL", "a selector", func(f *fixture) {
			s, err := leader.NewLeaderSelector(f.client, "/parent/leader", leader.WithACL(guarded...))
			f.ok(err)
			f.step("Run", func() {
				f.ok(s.Run(f.Context(), func(context.Context, *locks.Lease) error { return leader.ErrStop }))
			})
		}},
		{"recipes/atomics: WithACL", "a number", func(f *fixture) {
			n, err := atomics.NewDistributedAtomicLong(f.client, "/parent/number", retry.None(), atomics.WithACL(guarded...))
			f.ok(err)
			f.step("Increment", func() { f.must(n.Increment(f.Context())) })
			f.step("Increment", func() { f.must(n.Increment(f.Context())) })
		}},
		{"recipes/barriers: WithACL", "set, and a double one of one member", func(f *fixture) {
			b, err := barriers.NewDistributedBarrier(f.client, "/parent/barrier", barriers.WithACL(guarded...))
			f.ok(err)
			f.step("Set", func() { f.ok(b.Set(f.Context())) })
			d, err := barriers.NewDistributedDoubleBarrier(f.client, "/double/barrier", 1, barriers.WithACL(guarded...))
			f.ok(err)
			f.step("Enter", func() { f.ok(d.Enter(f.Context())) })
			f.step("Leave", func() { f.ok(d.Leave(f.Context())) })
		}},
		{"recipes/shared: WithACL", "a value", func(f *fixture) {
			v := valueOf(f, shared.WithACL(guarded...))
			f.step("Start", func() { started(f, v) })
		}},
		{"recipes/nodes: WithACL", "with a time to live, and its parent", func(f *fixture) {
			n, err := nodes.NewPersistentTTLNode(f.client, "/parent/kept", time.Hour, nil, nodes.WithACL(guarded...))
			f.ok(err)
			f.step("Start", func() { started(f, n) })
		}},
		{"recipes/discovery: WithACL", "dynamic", func(f *fixture) {
			d := started(f, registryOf(f, f.client, discovery.WithACL(guarded...)))
			f.step("Register", func() { f.must(d.Register(f.Context(), instance("id", discovery.Dynamic))) })
		}},
		queueACLCase(),
	}
}

func queueACLCase() tableCase {
	return tableCase{"recipes/queue: WithACL", "an item is put back, and a simple queue", func(f *fixture) {
		q, err := queue.NewDistributedQueue(f.client, "/parent/queue", codec.String(), queue.WithACL(guarded...), queue.WithLockPath("/parent/locks"))
		f.ok(err)
		f.step("Put", func() { f.ok(q.Put(f.Context(), "a")) })
		calls := 0
		var stop func()
		f.step("Consume", func() {
			stop = consumed(f, q, func() error {
				if calls++; calls == 1 {
					return errors.New("once")
				}
				return nil
			})
		})
		f.step("the context ends", func() { stop() })
		s, err := queue.NewSimpleDistributedQueue(f.client, "/simple/queue", queue.WithACL(guarded...))
		f.ok(err)
		f.step("Offer", func() { f.ok(s.Offer(f.Context(), nil)) })
	}}
}
