package peers_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/retry"
)

// Each reads and changes the nodes of the other, and its watches fire.
func TestPeerNodes(t *testing.T) {
	eachClient(t, func(e *env) {
		peer, ctx, mine, theirs := e.start(longSession), e.t.Context(), e.root+"/go", e.root+"/peer"
		e.write(mine, []byte("1"))
		e.same("data", "0 1", peer.ask("get", mine))
		peer.ask("watch", mine)
		fired := peer.request("fired", mine)
		e.notYet(fired)
		suite.Got(e.client.SetData().WithVersion(0).ForPath(ctx, mine, []byte("2"))).OK(e.t)
		_, err := peer.wait(fired)
		e.must(err)
		if _, err := peer.try("set", mine, "3", 0); err == nil {
			e.t.Error("a set with an old version is not refused")
		}
		e.same("version", "2", peer.ask("set", mine, "3", 1))
		e.same("data", "3", e.read(mine))

		e.same("path", theirs, peer.ask("create", theirs, "a", "persistent"))
		events := make(chan framework.WatchedEvent, 1)
		watcher := framework.NewWatcher(func(_ context.Context, event framework.WatchedEvent) { events <- event })
		_, err = e.client.GetData().UsingWatcher(watcher).ForPath(ctx, theirs)
		e.must(err)
		peer.ask("set", theirs, "b", 0)
		if event := <-events; event.Path != theirs {
			e.t.Errorf("event %v", event)
		}
		node := peer.ask("create", theirs+"/e-", "mine", "both")
		e.same("sequential node", theirs+"/e-0000000000", node)
		var stat framework.Stat
		_, err = e.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, node)
		e.must(err)
		e.same("owner", peer.ask("session"), fmt.Sprintf("%x", uint64(stat.EphemeralOwner)))
		own, err := e.client.Create().WithMode(framework.Ephemeral).ForPath(ctx, theirs+"/go")
		e.must(err)
		e.same("children", "e-0000000000 go", peer.ask("children", theirs))
		e.same("owner", fmt.Sprintf("%x", uint64(e.client.SessionID())), peer.ask("owner", own))
		peer.ask("delete", own, 0)
		e.must(e.client.Delete().ForPath(ctx, node))
		e.same("no node", "none", peer.ask("owner", node))
	})
}

// Each waits for the other's lock, in the order of coming, and gets it when the holder has died.
func TestPeerLocks(t *testing.T) {
	eachClient(t, func(e *env) {
		peer, dir := e.start(longSession), e.root+"/lock"
		mutex, err := locks.NewInterProcessMutex(e.client, dir)
		e.must(err)
		lease := e.acquire(mutex.Acquire).wait()
		theirs := peer.request("lock", dir, "lock-", "peer")
		e.children(dir, 2)
		second, err := locks.NewInterProcessMutex(e.client, dir)
		e.must(err)
		mine := e.acquire(second.Acquire)
		e.children(dir, 3)
		e.notYet(theirs)
		e.must(lease.Release(e.t.Context()))
		node, err := peer.wait(theirs)
		e.must(err)
		e.same("data", "peer", e.read(node))
		mine.notYet()
		peer.ask("unlock", dir, "lock-")
		e.must(mine.wait().Release(e.t.Context()))

		dying := e.start(shortSession)
		dying.ask("lock", dir, "lock-", "dying")
		mine = e.acquire(mutex.Acquire)
		e.children(dir, 2)
		mine.notYet()
		dying.proc.Kill()
		e.must(mine.wait().Release(e.t.Context()))
		e.children(dir, 0)
	})
}

// No two hold the lock at once: nobody's addition is lost.
func TestPeerExclusion(t *testing.T) {
	const rounds = 10
	eachClient(t, func(e *env) {
		dir, counter := e.root+"/lock", e.root+"/counter"
		e.write(counter, []byte("0"))
		var theirs []*answer
		peers := []*program{e.start(longSession), e.start(longSession)}
		for _, peer := range peers {
			theirs = append(theirs, peer.request("round", dir, counter, rounds))
		}
		mutex, err := locks.NewInterProcessMutex(e.client, dir)
		e.must(err)
		for range rounds {
			lease := e.acquire(mutex.Acquire).wait()
			var n int
			_, err := fmt.Sscan(e.read(counter), &n)
			e.must(err)
			e.write(counter, []byte(fmt.Sprint(n+1)))
			e.must(lease.Release(e.t.Context()))
		}
		for i, peer := range peers {
			_, err := peer.wait(theirs[i])
			e.must(err)
		}
		e.same("counter", fmt.Sprint((len(peers)+1)*rounds), e.read(counter))
	})
}

// A latch and a selector take part in an election with the other client.
func TestPeerElections(t *testing.T) {
	eachClient(t, func(e *env) {
		peer, ctx := e.start(longSession), e.t.Context()
		dir := e.root + "/latch"
		latch, err := leader.NewLeaderLatch(e.client, dir, leader.WithID("go"))
		e.must(err)
		e.must(latch.Start(ctx))
		e.acquire(latch.Await).wait()
		theirs := peer.request("lock", dir, "latch-", "peer")
		e.children(dir, 2)
		e.notYet(theirs)
		e.leader(latch.Leader, "go")
		e.must(latch.Close(ctx))
		_, err = peer.wait(theirs)
		e.must(err)
		latch, err = leader.NewLeaderLatch(e.client, dir, leader.WithID("go"))
		e.must(err)
		e.must(latch.Start(ctx))
		e.children(dir, 2)
		e.leader(latch.Leader, "peer")
		if latch.Leadership().Err() == nil {
			e.t.Error("two lead")
		}
		peer.ask("unlock", dir, "latch-")
		e.acquire(latch.Await).wait()
		e.must(latch.Close(ctx))

		dir = e.root + "/selector"
		peer.ask("lock", dir, "lock-", "peer")
		selector, err := leader.NewLeaderSelector(e.client, dir, leader.WithID("go"))
		e.must(err)
		run, stop := context.WithTimeout(ctx, patience)
		leading := e.acquire(func(context.Context) (*locks.Lease, error) {
			return nil, selector.Run(run, func(context.Context, *locks.Lease) error {
				stop()
				return nil
			})
		})
		e.children(dir, 2)
		e.leader(selector.Leader, "peer")
		leading.notYet()
		peer.ask("unlock", dir, "lock-")
		<-leading.done
		if run.Err() != context.Canceled {
			e.t.Errorf("the selector has not led: %v", leading.err)
		}
	})
}

func (e *env) leader(leader func(ctx context.Context) (leader.Participant, error), want string) {
	e.t.Helper()
	got, err := leader(e.t.Context())
	e.must(err)
	e.same("leader", want, got.ID)
}

// Both add to a counter, and no addition is lost.
func TestPeerCounters(t *testing.T) {
	const times = 50
	eachClient(t, func(e *env) {
		peer, node := e.start(longSession), e.root+"/counter"
		counter, err := atomics.NewDistributedAtomicLong(e.client, node, retry.Forever(time.Millisecond))
		e.must(err)
		_, err = counter.Increment(e.t.Context())
		e.must(err)
		theirs := peer.request("add", node, times)
		for range times {
			_, err := counter.Increment(e.t.Context())
			e.must(err)
		}
		_, err = peer.wait(theirs)
		e.must(err)
		if n := binary.BigEndian.Uint64([]byte(e.read(node))); n != 2*times+1 {
			e.t.Errorf("counter %d, want %d", n, 2*times+1)
		}
		value, err := counter.Get(e.t.Context())
		e.must(err)
		if value != 2*times+1 {
			e.t.Errorf("value %d", value)
		}
	})
}

// Each takes what the other has put into a queue, in the order in which it was put.
func TestPeerQueues(t *testing.T) {
	eachClient(t, func(e *env) {
		peer, ctx, dir := e.start(longSession), e.t.Context(), e.root+"/queue"
		items, err := queue.NewSimpleDistributedQueue(e.client, dir)
		e.must(err)
		e.must(items.Offer(ctx, []byte("a")))
		peer.ask("offer", dir, "b")
		e.must(items.Offer(ctx, []byte("c")))
		peer.ask("offer", dir, "d")
		e.same("first", "a", peer.ask("take", dir))
		for _, want := range []string{"b", "c"} {
			data, err := items.Poll(ctx)
			e.must(err)
			e.same("next", want, string(data))
		}
		e.same("last", "d", peer.ask("take", dir))
		e.same("then", "none", peer.ask("take", dir))
	})
}

// A lock of kazoo with kazoo's own names, when kazoo looks at Curator's, and a driver at kazoo's.
func TestPeerKazooNames(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, connect string) {
		e := newEnv(t, connect, clients["kazoo"])
		peer, dir := e.start(longSession), e.root+"/lock"
		mutex, err := locks.NewInterProcessMutex(e.client, dir, locks.WithDriver(kazooDriver{}))
		e.must(err)
		node := peer.ask("lock", dir, "__lock__", "peer")
		if !strings.Contains(path.Base(node), "__lock__") {
			t.Errorf("node %q", node)
		}
		mine := e.acquire(mutex.Acquire)
		e.children(dir, 2)
		mine.notYet()
		peer.ask("unlock", dir, "__lock__")
		lease := mine.wait()
		theirs := peer.request("lock", dir, "__lock__", "peer")
		e.children(dir, 2)
		e.notYet(theirs)
		e.must(lease.Release(t.Context()))
		_, err = peer.wait(theirs)
		e.must(err)
		peer.ask("unlock", dir, "__lock__")
	})
}

// kazooDriver also counts the nodes of kazoo's Lock. It is that of the Example of locks.LockInternalsDriver.
type kazooDriver struct {
	locks.StandardLockInternalsDriver
}

func (d kazooDriver) FixForSorting(name, lockName string) string {
	if order := d.StandardLockInternalsDriver.FixForSorting(name, lockName); order != "" {
		return order
	}
	return d.StandardLockInternalsDriver.FixForSorting(name, "__lock__")
}
