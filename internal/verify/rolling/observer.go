package rolling

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// observer is a client that holds leases from the beginning to the end of all steps. It also keeps a node and
// a cache, and counts.
type observer struct {
	name    string
	root    string
	client  *framework.Client
	session int64
	ended   atomic.Int64 // how many of its connections have ended

	held    []held
	latch   *leader.LeaderLatch
	node    *nodes.PersistentNode
	czxid   int64 // of the node
	cache   *cache.CuratorCache
	counter *atomics.DistributedAtomicLong
}

// held is a lease that was not lost so far.
type held struct {
	what  string
	lease *locks.Lease
}

// The nodes of all observers, below their root.
const (
	treeNode    = "/tree"    // what the caches are of
	counterNode = "/counter" // what is incremented
)

// newObserver starts an observer. There are so many of them in all.
func newObserver(ctx context.Context, client *framework.Client, root, name string, all int) (*observer, error) {
	o := &observer{name: name, root: root, client: client}
	client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s == state.Suspended {
			o.ended.Add(1)
		}
	})
	o.session = client.SessionID()
	for _, start := range []func(ctx context.Context) error{
		func(ctx context.Context) error { return o.hold(ctx, all) }, o.lead, o.keep, o.follow,
	} {
		if err := start(ctx); err != nil {
			return o, fmt.Errorf("start client %s: %w", name, err)
		}
	}
	return o, nil
}

// hold acquires a lease of each kind of lock: two that are its own, and two that all share.
func (o *observer) hold(ctx context.Context, all int) error {
	mutex, err := locks.NewInterProcessMutex(o.client, o.root+"/mutex-"+o.name)
	if err != nil {
		return err
	}
	own, err := locks.NewInterProcessReadWriteLock(o.client, o.root+"/write-"+o.name)
	if err != nil {
		return err
	}
	shared, err := locks.NewInterProcessReadWriteLock(o.client, o.root+"/read")
	if err != nil {
		return err
	}
	semaphore, err := locks.NewInterProcessSemaphore(o.client, o.root+"/semaphore", all)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		what string
		lock locks.InterProcessLock
	}{{"mutex", mutex}, {"write lock", own.WriteLock()}, {"read lock", shared.ReadLock()}, {"semaphore", semaphore}} {
		lease, err := l.lock.Acquire(ctx)
		if err != nil {
			return err
		}
		o.held = append(o.held, held{l.what, lease})
	}
	return nil
}

// lead becomes the leader of an election of its own.
func (o *observer) lead(ctx context.Context) (err error) {
	if o.latch, err = leader.NewLeaderLatch(o.client, o.root+"/latch-"+o.name); err != nil {
		return err
	}
	if err := o.latch.Start(ctx); err != nil {
		return err
	}
	lease, err := o.latch.Await(ctx)
	if err != nil {
		return err
	}
	o.held = append(o.held, held{"leadership", lease})
	return nil
}

// keep keeps a node that ends with the session.
func (o *observer) keep(ctx context.Context) (err error) {
	if o.node, err = nodes.NewPersistentNode(o.client, o.root+"/node-"+o.name, framework.Ephemeral, nil); err != nil {
		return err
	}
	if err := o.node.Start(ctx); err != nil {
		return err
	}
	o.czxid, err = o.created(ctx)
	return err
}

// created returns the czxid of the node that is kept.
func (o *observer) created(ctx context.Context) (int64, error) {
	var stat framework.Stat
	_, err := o.client.GetData().StoringStatIn(&stat).ForPath(ctx, o.node.ActualPath())
	return stat.Czxid, err
}

// follow starts the cache and the counter.
func (o *observer) follow(ctx context.Context) (err error) {
	policy := retry.BoundedExponentialBackoff(10*time.Millisecond, time.Second, 100)
	if o.counter, err = atomics.NewDistributedAtomicLong(o.client, o.root+counterNode, policy); err != nil {
		return err
	}
	if o.cache, err = cache.NewCuratorCache(o.client, o.root+treeNode); err != nil {
		return err
	}
	return o.cache.Start(ctx)
}

// close releases everything. What was lost before is no error here.
func (o *observer) close(ctx context.Context) error {
	var errs []error
	for _, h := range o.held {
		if h.what != "leadership" { // the latch has it
			errs = append(errs, h.lease.Release(ctx))
		}
	}
	if o.latch != nil {
		errs = append(errs, o.latch.Close(ctx))
	}
	if o.node != nil {
		errs = append(errs, o.node.Close(ctx))
	}
	if o.cache != nil {
		errs = append(errs, o.cache.Close(ctx))
	}
	return errors.Join(errs...)
}
