package blocking_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/recipes/watch"
)

// A lostCase uses a recipe before the servers lose their data, and returns what must work afterwards. What
// keeps zxids or values beyond one session has tests of its own, in the packages of the caches, shared
// values and atomic values.
type lostCase func(f *fixture) (after func())

var lostCases = map[string]lostCase{
	"mutex": eachLock(func(f *fixture, client *framework.Client) (locks.InterProcessLock, error) {
		return locks.NewInterProcessMutex(client, f.path+"/mutex")
	}),
	"write lock": eachLock(func(f *fixture, client *framework.Client) (locks.InterProcessLock, error) {
		lock, err := locks.NewInterProcessReadWriteLock(client, f.path+"/read-write")
		if err != nil {
			return nil, err
		}
		return lock.WriteLock(), nil
	}),
	"semaphore": eachLock(func(f *fixture, client *framework.Client) (locks.InterProcessLock, error) {
		return locks.NewInterProcessSemaphore(client, f.path+"/semaphore", 1)
	}),
	"semaphore of Java": eachLock(func(f *fixture, client *framework.Client) (locks.InterProcessLock, error) {
		return locks.NewInterProcessSemaphoreV2(client, f.path+"/semaphore-v2", 1)
	}),
	"latch":              lostLatch,
	"selector":           lostSelector,
	"queue":              lostQueue,
	"simple queue":       lostSimpleQueue,
	"barrier":            lostBarrier,
	"double barrier":     lostDoubleBarrier,
	"kept node":          lostNode,
	"group":              lostGroup,
	"persistent watcher": lostWatcher,
}

// Every recipe goes on when the servers begin again without data, and when they begin again on an older
// snapshot: their zxids are lower than those that the clients have seen.
func TestLostData(t *testing.T) {
	for name, c := range lostCases {
		t.Run(name, func(t *testing.T) {
			t.Run("empty", func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					f := newFixture(t, b)
					f.raiseZxid()
					after := c(f)
					b.Server().RestartEmpty()
					f.goesOn(after)
				})
			})
			t.Run("older snapshot", func(t *testing.T) {
				suite.Twins(t, func(t *testing.T, first, _ *suite.Backend, restore func()) {
					f := newFixture(t, first)
					f.raiseZxid()
					after := c(f)
					restore()
					f.goesOn(after)
				})
			})
		})
	}
}

// raiseZxid makes changes, so that what follows has zxids that the servers do not reach again.
func (f *fixture) raiseZxid() {
	for range 200 {
		f.must(f.other.SetData().ForPath(f.Context(), f.path, []byte("more")))
	}
}

// goesOn waits until both clients have new sessions, and makes the path again that all recipes use.
func (f *fixture) goesOn(after func()) {
	f.Helper()
	time.Sleep(time.Minute)
	synctest.Wait()
	f.must(f.other.Create().OrSetData().CreatingParentsIfNeeded().ForPath(f.Context(), f.path))
	after()
}

// eachLock has a holder and a waiter when the data is lost: the holder loses its lease, the waiter gets the
// lock, and then others do.
func eachLock(lock func(f *fixture, client *framework.Client) (locks.InterProcessLock, error)) lostCase {
	return func(f *fixture) (after func()) {
		ours, err := lock(f, f.client)
		f.ok(err)
		theirs, err := lock(f, f.other)
		f.ok(err)
		held, err := ours.Acquire(f.Context())
		f.ok(err)
		granted := make(chan *locks.Lease, 1)
		go func() {
			lease, err := theirs.Acquire(f.Context())
			f.reports(err)
			granted <- lease
		}()
		synctest.Wait()
		return func() {
			if held.Err() == nil {
				f.Error("the lease of a session that is lost has not ended")
			}
			_ = held.Release(f.Context()) // its session is over
			f.ok((<-granted).Release(f.Context()))
			again, err := ours.Acquire(f.Context())
			f.ok(err)
			f.ok(again.Release(f.Context()))
		}
	}
}

// reports reports an error from another goroutine than the test's.
func (f *fixture) reports(err error) {
	if err != nil {
		f.Error(err)
	}
}

func lostLatch(f *fixture) (after func()) {
	var latches []*leader.LeaderLatch
	for _, client := range []*framework.Client{f.client, f.other} {
		latch, err := leader.NewLeaderLatch(client, f.path+"/latch")
		f.ok(err)
		f.ok(latch.Start(f.Context()))
		latches = append(latches, latch)
	}
	return func() {
		leading := 0
		for _, latch := range latches {
			if latch.Leadership().Err() == nil {
				leading++
			}
		}
		if leading != 1 {
			f.Errorf("%d latches lead", leading)
		}
		for _, latch := range latches {
			f.ok(latch.Close(f.Context()))
		}
	}
}

func lostSelector(f *fixture) (after func()) {
	selector, err := leader.NewLeaderSelector(f.client, f.path+"/selector")
	f.ok(err)
	var terms atomic.Int32
	ctx, stop := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- selector.Run(ctx, func(ctx context.Context, _ *locks.Lease) error {
			terms.Add(1)
			<-ctx.Done()
			return nil
		})
	}()
	synctest.Wait()
	return func() {
		if n := terms.Load(); n < 2 {
			f.Errorf("%d terms", n)
		}
		stop()
		f.ok(<-ended)
	}
}

func lostQueue(f *fixture) (after func()) {
	of := func(client *framework.Client) *queue.DistributedQueue[string] {
		q, err := queue.NewDistributedQueue(client, f.path+"/queue", codec.String(), queue.WithLockPath(f.path+"/queue-locks"))
		f.ok(err)
		return q
	}
	ctx, stop := context.WithCancel(f.Context())
	got, ended := make(chan string, 8), make(chan error, 1)
	go func() {
		ended <- of(f.client).Consume(ctx, func(_ context.Context, m queue.Message[string]) error {
			got <- m.Item
			return nil
		})
	}()
	put := func(item string) {
		f.ok(of(f.other).Put(f.Context(), item))
		if now := <-got; now != item {
			f.Errorf("consumed %q, want %q", now, item)
		}
	}
	put("before")
	return func() {
		put("behind")
		stop()
		<-ended
	}
}

func lostSimpleQueue(f *fixture) (after func()) {
	ours, err := queue.NewSimpleDistributedQueue(f.client, f.path+"/simple")
	f.ok(err)
	theirs, err := queue.NewSimpleDistributedQueue(f.other, f.path+"/simple")
	f.ok(err)
	got := make(chan string, 1)
	go func() {
		data, err := ours.Take(f.Context())
		f.reports(err)
		got <- string(data)
	}()
	synctest.Wait()
	return func() {
		f.ok(theirs.Offer(f.Context(), []byte("behind")))
		if now := <-got; now != "behind" {
			f.Errorf("taken %q", now)
		}
	}
}

// The barrier is gone with the data, which opens it.
func lostBarrier(f *fixture) (after func()) {
	barrier, err := barriers.NewDistributedBarrier(f.client, f.path+"/barrier")
	f.ok(err)
	f.ok(barrier.Set(f.Context()))
	through := make(chan error, 1)
	go func() { through <- barrier.Wait(f.Context()) }()
	synctest.Wait()
	return func() { f.ok(<-through) }
}

// One member waits to enter when the data is lost. The second one comes afterwards.
func lostDoubleBarrier(f *fixture) (after func()) {
	var both []*barriers.DistributedDoubleBarrier
	for _, client := range []*framework.Client{f.client, f.other} {
		barrier, err := barriers.NewDistributedDoubleBarrier(client, f.path+"/double", 2)
		f.ok(err)
		both = append(both, barrier)
	}
	first := make(chan error, 1)
	go func() { first <- both[0].Enter(f.Context()) }()
	synctest.Wait()
	return func() {
		f.ok(both[1].Enter(f.Context()))
		f.ok(<-first)
		go func() { first <- both[0].Leave(f.Context()) }()
		f.ok(both[1].Leave(f.Context()))
		f.ok(<-first)
	}
}

func lostNode(f *fixture) (after func()) {
	node, err := nodes.NewPersistentNode(f.client, f.path+"/kept", framework.Ephemeral, []byte("data"))
	f.ok(err)
	f.ok(node.Start(f.Context()))
	f.ok(node.SetData(f.Context(), []byte("newer")))
	return func() {
		f.hasData("kept", "newer")
		f.ok(node.SetData(f.Context(), []byte("newest")))
		f.hasData("kept", "newest")
		f.ok(node.Close(f.Context()))
	}
}

// hasData wants a node below the path to have data.
func (f *fixture) hasData(name, want string) {
	f.Helper()
	data, err := f.other.GetData().ForPath(f.Context(), f.path+"/"+name)
	f.ok(err)
	if string(data) != want {
		f.Errorf("%s has %q, want %q", name, data, want)
	}
}

func lostGroup(f *fixture) (after func()) {
	var members []*nodes.GroupMember
	for id, client := range map[string]*framework.Client{"a": f.client, "b": f.other} {
		member, err := nodes.NewGroupMember(client, f.path+"/group", id, []byte("payload"))
		f.ok(err)
		f.ok(member.Start(f.Context()))
		members = append(members, member)
	}
	return func() {
		f.ok(members[0].SetPayload(f.Context(), []byte("new")))
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, member := range members {
			if now := member.Members(); len(now) != 2 || string(now["a"])+string(now["b"]) == "payloadpayload" {
				f.Errorf("members %q", now)
			}
		}
		for _, member := range members {
			f.ok(member.Close(f.Context()))
		}
	}
}

func lostWatcher(f *fixture) (after func()) {
	watcher, err := watch.NewPersistentWatcher(f.client, f.path, framework.PersistentRecursive)
	f.ok(err)
	created := make(chan string, 8)
	watcher.Listenable().Add(func(_ context.Context, e framework.WatchedEvent) {
		if e.Type == framework.NodeCreated && e.Path != f.path {
			created <- e.Path
		}
	})
	f.ok(watcher.Start(f.Context()))
	return func() {
		f.must(f.other.Create().ForPath(f.Context(), f.path+"/child"))
		if now := <-created; now != f.path+"/child" {
			f.Errorf("created %s", now)
		}
		f.ok(watcher.Close(f.Context()))
	}
}
