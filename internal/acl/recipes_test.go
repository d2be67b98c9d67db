package acl_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
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

func recipes() []recipe {
	return slices.Concat(lockRecipes(), leaderRecipes(), valueRecipes(), barrierRecipes(), queueRecipes(), nodeRecipes(), discoveryRecipes())
}

// held acquires a lock, looks, and releases it. Behind it is a second lock, unless that is nil: then a directory
// below e.dir has so many contenders.
func held(e *env, first, second locks.InterProcessLock, directory string, contenders int) {
	e.Helper()
	lease := must(first.Acquire(e.Context()))(e)
	if second == nil {
		e.look()
		e.ok(lease.Release(e.Context()))
		return
	}
	done := make(chan error, 1)
	go func() {
		next, err := second.Acquire(e.Context())
		if err == nil {
			e.look()
			err = next.Release(e.Context())
		}
		done <- err
	}()
	suite.Eventually(e.T, "the second contender", func() bool {
		names, err := e.operator.GetChildren().ForPath(e.Context(), e.full(e.dir+directory)) // the client's requests are counted
		return err == nil && len(names) == contenders
	})
	e.look()
	e.ok(lease.Release(e.Context()))
	e.ok(<-done)
}

func mutexACL(acl ...framework.ACL) locks.MutexOption             { return locks.WithACL(acl...) }
func readWriteACL(acl ...framework.ACL) locks.ReadWriteLockOption { return locks.WithACL(acl...) }
func semaphoreACL(acl ...framework.ACL) locks.SemaphoreOption     { return locks.WithACL(acl...) }

func lockRecipes() []recipe {
	mutex := func(e *env, opts ...locks.MutexOption) *locks.InterProcessMutex {
		return must(locks.NewInterProcessMutex(e.client, e.dir, with(e, mutexACL, opts...)...))(e)
	}
	return []recipe{
		{"mutex", []string{"/_c_#-lock-#"}, func(e *env) {
			held(e, mutex(e), mutex(e), "", 2)
		}},
		{"mutex with a lock delay", []string{"/_c_#-lock-#", ".holder"}, func(e *env) {
			held(e, mutex(e, locks.WithLockDelay(time.Second)), nil, "", 0)
		}},
		{"mutex with local hand-over", []string{"/_c_#-lock-#"}, func(e *env) {
			held(e, mutex(e, locks.WithLocalHandover(1)), nil, "", 0)
		}},
		{"read-write lock", []string{"/_c_#-__READ__#", "/_c_#-__WRIT__#"}, func(e *env) {
			l := must(locks.NewInterProcessReadWriteLock(e.client, e.dir, with(e, readWriteACL)...))(e)
			held(e, l.ReadLock(), l.WriteLock(), "", 2)
			write := must(l.WriteLock().Acquire(e.Context()))(e)
			read := must(l.Downgrade(e.Context(), write))(e)
			e.look()
			e.ok(read.Release(e.Context()))
		}},
		{"semaphore", []string{"/_c_#-lock-#"}, func(e *env) {
			s := must(locks.NewInterProcessSemaphore(e.client, e.dir, 3, with(e, semaphoreACL)...))(e)
			lease := must(s.AcquireN(e.Context(), 2))(e)
			e.look()
			e.ok(lease.Release(e.Context()))
		}},
		{"semaphore of Java's", []string{"/locks", "/locks/_c_#-lock-#", "/leases", "/leases/_c_#-lease-#"}, func(e *env) {
			s := must(locks.NewInterProcessSemaphoreV2(e.client, e.dir, 1, with(e, semaphoreACL)...))(e)
			held(e, s, s, "/locks", 1)
		}},
		{"mutex of one lease", []string{"/locks", "/leases", "/leases/_c_#-lease-#"}, func(e *env) {
			m := must(locks.NewInterProcessSemaphoreMutex(e.client, e.dir, with(e, semaphoreACL)...))(e)
			held(e, m, nil, "", 0)
		}},
	}
}

func leaderRecipes() []recipe {
	return []recipe{
		{"leader latch", []string{"/_c_#-latch-#"}, func(e *env) {
			of := func(acl ...framework.ACL) leader.LatchOption { return leader.WithACL(acl...) }
			l := must(leader.NewLeaderLatch(e.client, e.dir, with(e, of)...))(e)
			e.started(l)
			lease := must(l.Await(e.Context()))(e)
			e.look()
			e.ok(lease.Release(e.Context())) // it stands again
			must(l.Await(e.Context()))(e)
			e.look()
		}},
		{"leader selector", []string{"/_c_#-lock-#"}, func(e *env) {
			of := func(acl ...framework.ACL) leader.SelectorOption { return leader.WithACL(acl...) }
			s := must(leader.NewLeaderSelector(e.client, e.dir, with(e, of)...))(e)
			e.ok(s.Run(e.Context(), func(context.Context, *locks.Lease) error {
				e.look()
				return leader.ErrStop
			}))
		}},
	}
}

func valueRecipes() []recipe {
	return []recipe{
		{"atomic number", nil, func(e *env) {
			n := must(atomics.NewDistributedAtomicLong(e.client, e.dir, retry.None(), with(e, atomics.WithACL)...))(e)
			must(n.Increment(e.Context()))(e)
			e.look()
		}},
		{"atomic value", nil, func(e *env) {
			v := must(atomics.NewDistributedAtomicValue(e.client, e.dir, retry.None(), with(e, atomics.WithACL)...))(e)
			e.ok(v.ForceSet(e.Context(), nil))
			e.look()
		}},
		{"shared value", nil, func(e *env) {
			v := must(shared.NewValue(e.client, e.dir, "seed", codec.String(), with(e, shared.WithACL)...))(e)
			e.started(v)
			e.look()
		}},
		{"shared count that Set creates", nil, func(e *env) {
			c := must(shared.NewCount(e.client, e.dir, 1, with(e, shared.WithACL, shared.WithoutCreate())...))(e)
			e.started(c)
			must(c.Set(e.Context(), 2))(e)
			e.look()
		}},
	}
}

func barrierRecipes() []recipe {
	return []recipe{
		{"barrier", nil, func(e *env) {
			b := must(barriers.NewDistributedBarrier(e.client, e.dir, with(e, barriers.WithACL)...))(e)
			e.ok(b.Set(e.Context()))
			e.look()
		}},
		{"double barrier", []string{"/#", "/ready"}, func(e *env) {
			b := must(barriers.NewDistributedDoubleBarrier(e.client, e.dir, 1, with(e, barriers.WithACL)...))(e)
			e.ok(b.Enter(e.Context()))
			e.look()
			e.ok(b.Leave(e.Context()))
		}},
	}
}

// consumer is a queue of some kind.
type consumer interface {
	Consume(ctx context.Context, fn func(ctx context.Context, m queue.Message[string]) error) error
}

// consumed looks while an item is consumed, lets it be put back, and looks again.
func consumed(e *env, q consumer) {
	e.Helper()
	e.look()
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	calls := 0
	err := q.Consume(ctx, func(context.Context, queue.Message[string]) error {
		e.look()
		if calls++; calls == 1 {
			return errors.New("once")
		}
		cancel()
		return nil
	})
	if err != nil || calls != 2 {
		e.Fatalf("%d calls, and %v", calls, err)
	}
}

func queueRecipes() []recipe {
	of := func(acl ...framework.ACL) queue.Option { return queue.WithACL(acl...) }
	opts := func(e *env) []queue.Option { return with(e, of, queue.WithLockPath(e.dir+"/locks")) }
	nodes := func(item string) []string { return []string{"/q", "/q/" + item, "/locks", "/locks/" + item} }
	return []recipe{
		{"queue", nodes("queue-#"), func(e *env) {
			q := must(queue.NewDistributedQueue(e.client, e.dir+"/q", codec.String(), opts(e)...))(e)
			e.ok(q.Put(e.Context(), "a"))
			consumed(e, q)
		}},
		{"queue of items with ids", nodes("queue-|id|#"), func(e *env) {
			q := must(queue.NewDistributedIDQueue(e.client, e.dir+"/q", codec.String(), opts(e)...))(e)
			e.ok(q.Put(e.Context(), "id", "a"))
			consumed(e, q)
		}},
		{"priority queue", nodes("queue-#"), func(e *env) {
			q := must(queue.NewDistributedPriorityQueue(e.client, e.dir+"/q", codec.String(), opts(e)...))(e)
			e.ok(q.Put(e.Context(), 1, "a"))
			consumed(e, q)
		}},
		{"delay queue", nodes("queue-##"), func(e *env) {
			q := must(queue.NewDistributedDelayQueue(e.client, e.dir+"/q", codec.String(), opts(e)...))(e)
			e.ok(q.Put(e.Context(), time.Now(), "a"))
			consumed(e, q)
		}},
		{"simple queue", []string{"/qn-#"}, func(e *env) {
			of := func(acl ...framework.ACL) queue.SimpleOption { return queue.WithACL(acl...) }
			q := must(queue.NewSimpleDistributedQueue(e.client, e.dir, with(e, of)...))(e)
			e.ok(q.Offer(e.Context(), nil))
			e.look()
		}},
	}
}

func nodeRecipes() []recipe {
	kept := func(name, node string, mode framework.CreateMode, opts ...nodes.Option) recipe {
		return recipe{name, []string{node}, func(e *env) {
			n := must(nodes.NewPersistentNode(e.client, e.dir+"/node", mode, nil, with(e, nodes.WithACL, opts...)...))(e)
			e.started(n)
			e.look()
			again := make(chan struct{}, 1) // with its parents
			n.CreatedListenable().Add(func(context.Context, string) { again <- struct{}{} })
			e.ok(e.operator.Delete().DeletingChildrenIfNeeded().ForPath(e.Context(), e.top))
			<-again
			e.look()
		}}
	}
	return []recipe{
		kept("kept node", "/node", framework.Ephemeral),
		kept("kept container", "/node", framework.Container),
		kept("kept sequential node", "/_c_#-node#", framework.PersistentSequential, nodes.WithProtection()),
		{"kept node with a time to live", []string{"/node", "/node/touch"}, func(e *env) {
			e.started(must(nodes.NewPersistentTTLNode(e.client, e.dir+"/node", time.Hour, nil, with(e, nodes.WithACL)...))(e))
			e.look()
		}},
		{"group member", []string{"/id"}, func(e *env) {
			e.started(must(nodes.NewGroupMember(e.client, e.dir, "id", nil, with(e, nodes.WithACL)...))(e))
			e.look()
		}},
	}
}

func discoveryRecipes() []recipe {
	var all []recipe
	for _, kind := range []struct {
		of   discovery.ServiceType
		name string
	}{
		{discovery.Dynamic, "id"}, {discovery.Static, "id"}, {discovery.Permanent, "id"}, {discovery.DynamicSequential, "id#"},
	} {
		all = append(all, recipe{"service, " + kind.of.String(), []string{"/service", "/service/" + kind.name}, func(e *env) {
			d := must(discovery.NewServiceDiscovery(e.client, e.dir, discovery.JSON[string](), with(e, discovery.WithACL)...))(e)
			e.started(d)
			must(d.Register(e.Context(), discovery.ServiceInstance[string]{
				Name: "service", ID: "id", Address: "127.0.0.1", Type: kind.of,
			}))(e)
			e.look()
		}})
	}
	return all
}
