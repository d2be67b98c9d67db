package blocking_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/retry"
)

// fixture has a client, which is closed, and another one.
type fixture struct {
	*testing.T
	b             *suite.Backend
	client, other *framework.Client
	network       *suite.Network
	path          string // of a node that exists
}

func newFixture(t *testing.T, b *suite.Backend) *fixture {
	f := &fixture{T: t, b: b, path: b.Path("node")}
	policy := framework.WithSessionTimeout(suite.SessionTimeout)
	f.client, f.network = b.Client(t, policy)
	f.other, _ = b.Client(t)
	f.must(f.other.Create().CreatingParentsIfNeeded().ForPath(f.Context(), f.path))
	f.must(f.client.CheckExists().ForPath(f.Context(), f.path))
	return f
}

// must fails the test if there is an error.
func (f *fixture) must(_ any, err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// ok is must for calls that return nothing else.
func (f *fixture) ok(err error) {
	f.Helper()
	f.must(nil, err)
}

// call is a call that waits, if its last error is ErrClosed, until the client is closed. Iterators just end.
type call func(ctx context.Context) error

// errEnded is the error of an iterator that has ended.
var errEnded = fmt.Errorf("the iterator has ended: %w", framework.ErrClosed)

// all goes through an iterator until it ends.
func all[T any](seq iter.Seq[T]) error {
	for range seq {
	}
	return errEnded
}

// started makes a component and starts it.
func started[C framework.Component](f *fixture, c C, err error) C {
	f.Helper()
	f.must(nil, err)
	f.ok(c.Start(f.Context()))
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.Context()), time.Second)
		defer cancel()
		_ = c.Close(ctx) // its client may be closed
	})
	return c
}

// held takes a lock, which is given back at the end of the test.
func (f *fixture) held(lock locks.InterProcessLock) *locks.Lease {
	f.Helper()
	lease, err := lock.Acquire(f.Context())
	f.ok(err)
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.Context()), time.Second)
		defer cancel()
		_ = lease.Release(ctx) // its client may be closed
	})
	return lease
}

// value drops the first result of a call.
func value[T any](_ T, err error) error { return err }

// made drops the error of a constructor, which must be nil.
func made[T any](f *fixture, v T, err error) T {
	f.Helper()
	f.ok(err)
	return v
}

// row is a call, which is prepared while the client is connected. waits says that it waits although the
// client is connected: for another client, or for something that does not come.
type row struct {
	prepare func(f *fixture) call
	waits   bool
}

// asks is a row of a call that waits only for a server.
func asks(prepare func(f *fixture) call) row { return row{prepare: prepare} }

// waits is a row of a call that also waits for something else.
func waits(prepare func(f *fixture) call) row { return row{prepare, true} }

// rows are all calls that can wait, but for Close, by their names in docs/api.txt.
func rows() map[string]row {
	all := map[string]row{}
	for _, part := range []map[string]row{frameworkRows(), lockRows(), leaderRows(), dataRows(), queueRows(), cacheRows(), discoveryRows()} {
		for name, r := range part {
			all[name] = r
		}
	}
	return all
}

func frameworkRows() map[string]row {
	return map[string]row{
		"framework: (*Client) AddAuth": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return f.client.AddAuth(ctx, "digest", []byte("a:b")) }
		}),
		"framework: (*Client) BlockUntilConnected": asks(func(f *fixture) call {
			return func(ctx context.Context) error {
				time.Sleep(suite.SessionTimeout) // until the client has noticed that its server is silent
				return f.client.BlockUntilConnected(ctx)
			}
		}),
		"framework: (WatcherRemovingView) RemoveWatchers": asks(func(f *fixture) call {
			view := f.client.WatcherRemovingView()
			f.must(view.GetData().UsingWatcher(framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})).ForPath(f.Context(), f.path))
			return func(ctx context.Context) error {
				if err := view.RemoveWatchers(ctx); err != nil || f.client.State() != framework.Stopped {
					return err
				}
				return errEnded // the watches have ended with the client
			}
		}),
		"framework: (AddWatchBuilder) ForPath": asks(func(f *fixture) call {
			w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
			return func(ctx context.Context) error { return f.client.Watches().Add().ForPath(ctx, f.path, w) }
		}),
		"framework: (RemoveWatchBuilder) ForPath": asks(func(f *fixture) call {
			w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
			f.ok(f.client.Watches().Add().ForPath(f.Context(), f.path, w))
			return func(ctx context.Context) error { return f.client.Watches().Remove().ForPath(ctx, f.path, w) }
		}),
		"framework: (BatchBuilder) ForOperations": asks(func(f *fixture) call {
			op := f.client.TransactionOp().Create().ForPath(f.path + "/x")
			return func(ctx context.Context) error { return value(f.client.Batch().ForOperations(ctx, op)) }
		}),
		"framework: (TransactionBuilder) ForOperations": asks(func(f *fixture) call {
			op := f.client.TransactionOp().Check().ForPath(f.path)
			return func(ctx context.Context) error { return value(f.client.Transaction().ForOperations(ctx, op)) }
		}),
		"framework: (CheckExistsBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.CheckExists().ForPath(ctx, f.path)) }
		}),
		"framework: (CreateBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.Create().ForPath(ctx, f.path+"/x")) }
		}),
		"framework: (DeleteBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return f.client.Delete().ForPath(ctx, f.path) }
		}),
		"framework: (GetACLBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetACL().ForPath(ctx, f.path)) }
		}),
		"framework: (GetChildrenBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetChildren().ForPath(ctx, f.path)) }
		}),
		"framework: (GetConfigBuilder) ForEnsemble": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetConfig().ForEnsemble(ctx)) }
		}),
		"framework: (GetDataBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetData().ForPath(ctx, f.path)) }
		}),
		"framework: (ReconfigBuilder) ForEnsemble": asks(func(f *fixture) call {
			return func(ctx context.Context) error {
				return value(f.client.Reconfig().Leaving("9").ForEnsemble(ctx))
			}
		}),
		"framework: (SetACLBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error {
				return value(f.client.SetACL().ForPath(ctx, f.path, framework.OpenACLUnsafe()))
			}
		}),
		"framework: (SetDataBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.SetData().ForPath(ctx, f.path, nil)) }
		}),
		"framework: (SyncBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return f.client.Sync().ForPath(ctx, f.path) }
		}),
		"framework/paths: DeleteChildren": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return paths.DeleteChildren(ctx, f.client, f.path, false) }
		}),
		"framework/paths: Mkdirs": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return paths.Mkdirs(ctx, f.client, f.path+"/x") }
		}),
		"framework/paths: SortedChildren": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(paths.SortedChildren(ctx, f.client, f.path)) }
		}),
		"framework/paths: (*EnsureContainers) Ensure": asks(func(f *fixture) call {
			e, err := paths.NewEnsureContainers(f.client, f.path+"/x")
			return made(f, e, err).Ensure
		}),
	}
}

func lockRows() map[string]row {
	rows := map[string]row{
		"recipes/locks: Do": waits(func(f *fixture) call {
			m := f.mutexHeld()
			return func(ctx context.Context) error {
				return locks.Do(ctx, m, func(context.Context, *locks.Lease) error { return nil })
			}
		}),
		"recipes/locks: TryDo": asks(func(f *fixture) call {
			m := f.mutex(f.client)
			return func(ctx context.Context) error {
				return locks.TryDo(ctx, m, func(context.Context, *locks.Lease) error { return nil })
			}
		}),
		"recipes/locks: Inspect": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(locks.Inspect(ctx, f.client, f.path)) }
		}),
		"recipes/locks: AttemptRevoke": asks(func(f *fixture) call {
			lease := f.held(f.mutex(f.client))
			return func(ctx context.Context) error { return locks.AttemptRevoke(ctx, f.client, lease.Path()) }
		}),
		"recipes/locks: (*Lease) Guard": asks(func(f *fixture) call {
			lease := f.held(f.mutex(f.client))
			return func(ctx context.Context) error {
				return value(lease.Guard(ctx, f.client.TransactionOp().SetData().ForPath(f.path, nil)))
			}
		}),
		"recipes/locks: (*Lease) Verify": asks(func(f *fixture) call { return f.held(f.mutex(f.client)).Verify }),
		"recipes/locks: (*InterProcessReadWriteLock) Downgrade": asks(func(f *fixture) call {
			rw, err := locks.NewInterProcessReadWriteLock(f.client, f.path)
			f.ok(err)
			lease := f.held(rw.WriteLock())
			return func(ctx context.Context) error { return value(rw.Downgrade(ctx, lease)) }
		}),
	}
	for name, lock := range lockKinds {
		rows["recipes/locks: ("+name+") Acquire"] = waits(func(f *fixture) call {
			f.held(lock(f, f.other))
			l := lock(f, f.client)
			return func(ctx context.Context) error { return value(l.Acquire(ctx)) }
		})
		rows["recipes/locks: ("+name+") TryAcquire"] = asks(func(f *fixture) call {
			l := lock(f, f.client)
			return func(ctx context.Context) error { return value(l.TryAcquire(ctx)) }
		})
		rows["recipes/locks: ("+name+") ParticipantNodes"] = asks(func(f *fixture) call {
			l, ok := lock(f, f.client).(interface {
				ParticipantNodes(ctx context.Context) ([]string, error)
			})
			if !ok {
				return nil
			}
			return func(ctx context.Context) error { return value(l.ParticipantNodes(ctx)) }
		})
		rows["recipes/locks: ("+name+") AcquireN"] = waits(func(f *fixture) call {
			l, ok := lock(f, f.client).(interface {
				AcquireN(ctx context.Context, n int) (*locks.Lease, error)
			})
			if !ok {
				return nil
			}
			f.held(lock(f, f.other))
			return func(ctx context.Context) error { return value(l.AcquireN(ctx, 1)) }
		})
	}
	return rows
}

// lockKinds are the locks, of one lease each.
var lockKinds = map[string]func(f *fixture, client *framework.Client) locks.InterProcessLock{
	"*InterProcessMutex": func(f *fixture, client *framework.Client) locks.InterProcessLock { return f.mutex(client) },
	"*InterProcessMultiLock": func(f *fixture, client *framework.Client) locks.InterProcessLock {
		l, err := locks.NewInterProcessMultiLock(f.mutex(client))
		return made(f, l, err)
	},
	"*InterProcessSemaphore": func(f *fixture, client *framework.Client) locks.InterProcessLock {
		l, err := locks.NewInterProcessSemaphore(client, f.path, 1)
		return made(f, l, err)
	},
	"*InterProcessSemaphoreV2": func(f *fixture, client *framework.Client) locks.InterProcessLock {
		l, err := locks.NewInterProcessSemaphoreV2(client, f.path, 1)
		return made(f, l, err)
	},
	"*InterProcessSemaphoreMutex": func(f *fixture, client *framework.Client) locks.InterProcessLock {
		l, err := locks.NewInterProcessSemaphoreMutex(client, f.path)
		return made(f, l, err)
	},
	"*WriteLock": func(f *fixture, client *framework.Client) locks.InterProcessLock {
		l, err := locks.NewInterProcessReadWriteLock(client, f.path)
		return made(f, l, err).WriteLock()
	},
	"*ReadLock": func(f *fixture, client *framework.Client) locks.InterProcessLock {
		l, err := locks.NewInterProcessReadWriteLock(client, f.path)
		f.ok(err)
		if client == f.other {
			return l.WriteLock() // what a reader waits for
		}
		return l.ReadLock()
	},
}

func (f *fixture) mutex(client *framework.Client) *locks.InterProcessMutex {
	m, err := locks.NewInterProcessMutex(client, f.path)
	return made(f, m, err)
}

// mutexHeld returns a mutex that the other client holds.
func (f *fixture) mutexHeld() *locks.InterProcessMutex {
	f.held(f.mutex(f.other))
	return f.mutex(f.client)
}

func leaderRows() map[string]row {
	latch := func(f *fixture, client *framework.Client) *leader.LeaderLatch {
		l, err := leader.NewLeaderLatch(client, f.path)
		return made(f, l, err)
	}
	selector := func(f *fixture) *leader.LeaderSelector {
		s, err := leader.NewLeaderSelector(f.client, f.path)
		return made(f, s, err)
	}
	return map[string]row{
		"recipes/leader: (*LeaderLatch) Start": asks(func(f *fixture) call { return latch(f, f.client).Start }),
		"recipes/leader: (*LeaderLatch) Await": waits(func(f *fixture) call {
			first := started(f, latch(f, f.other), nil)
			f.must(first.Await(f.Context()))
			l := started(f, latch(f, f.client), nil)
			return func(ctx context.Context) error { return value(l.Await(ctx)) }
		}),
		"recipes/leader: (*LeaderLatch) Leader": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(latch(f, f.client).Leader(ctx)) }
		}),
		"recipes/leader: (*LeaderLatch) Participants": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(latch(f, f.client).Participants(ctx)) }
		}),
		"recipes/leader: (*LeaderSelector) Run": waits(func(f *fixture) call {
			s := selector(f)
			return func(ctx context.Context) error {
				return s.Run(ctx, func(ctx context.Context, _ *locks.Lease) error {
					<-ctx.Done()
					return nil
				})
			}
		}),
		"recipes/leader: (*LeaderSelector) Leader": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(selector(f).Leader(ctx)) }
		}),
		"recipes/leader: (*LeaderSelector) Participants": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(selector(f).Participants(ctx)) }
		}),
	}
}

func dataRows() map[string]row {
	number := func(f *fixture) *atomics.DistributedAtomicLong {
		n, err := atomics.NewDistributedAtomicLong(f.client, f.path+"/number", retry.Forever(time.Second))
		return made(f, n, err)
	}
	atomic := func(f *fixture) *atomics.DistributedAtomicValue {
		v, err := atomics.NewDistributedAtomicValue(f.client, f.path+"/value", retry.Forever(time.Second))
		return made(f, v, err)
	}
	barrier := func(f *fixture) *barriers.DistributedBarrier {
		b, err := barriers.NewDistributedBarrier(f.client, f.path+"/barrier")
		return made(f, b, err)
	}
	double := func(f *fixture, client *framework.Client) *barriers.DistributedDoubleBarrier {
		b, err := barriers.NewDistributedDoubleBarrier(client, f.path+"/barrier", 2)
		return made(f, b, err)
	}
	of := func(fn func(ctx context.Context, f *fixture) error) row {
		return asks(func(f *fixture) call { return func(ctx context.Context) error { return fn(ctx, f) } })
	}
	return map[string]row{
		"recipes/atomics: (*CachedAtomicNumber) Next": asks(func(f *fixture) call {
			n, err := atomics.NewCachedAtomicNumber(number(f), 10)
			f.ok(err)
			return func(ctx context.Context) error { return value(n.Next(ctx)) }
		}),
		"recipes/atomics: (*DistributedAtomicNumber) Add": of(func(ctx context.Context, f *fixture) error { return value(number(f).Add(ctx, 1)) }),
		"recipes/atomics: (*DistributedAtomicNumber) CompareAndSet": of(func(ctx context.Context, f *fixture) error {
			return value(number(f).CompareAndSet(ctx, 0, 1))
		}),
		"recipes/atomics: (*DistributedAtomicNumber) Decrement":  of(func(ctx context.Context, f *fixture) error { return value(number(f).Decrement(ctx)) }),
		"recipes/atomics: (*DistributedAtomicNumber) ForceSet":   of(func(ctx context.Context, f *fixture) error { return number(f).ForceSet(ctx, 1) }),
		"recipes/atomics: (*DistributedAtomicNumber) Get":        of(func(ctx context.Context, f *fixture) error { return value(number(f).Get(ctx)) }),
		"recipes/atomics: (*DistributedAtomicNumber) Increment":  of(func(ctx context.Context, f *fixture) error { return value(number(f).Increment(ctx)) }),
		"recipes/atomics: (*DistributedAtomicNumber) Initialize": of(func(ctx context.Context, f *fixture) error { return value(number(f).Initialize(ctx, 1)) }),
		"recipes/atomics: (*DistributedAtomicNumber) Update": of(func(ctx context.Context, f *fixture) error {
			return value(number(f).Update(ctx, func(n int64) (int64, error) { return n, nil }))
		}),
		"recipes/atomics: (*DistributedAtomicValue) CompareAndSet": of(func(ctx context.Context, f *fixture) error {
			return value(atomic(f).CompareAndSet(ctx, nil, []byte("x")))
		}),
		"recipes/atomics: (*DistributedAtomicValue) ForceSet":   of(func(ctx context.Context, f *fixture) error { return atomic(f).ForceSet(ctx, nil) }),
		"recipes/atomics: (*DistributedAtomicValue) Get":        of(func(ctx context.Context, f *fixture) error { return value(atomic(f).Get(ctx)) }),
		"recipes/atomics: (*DistributedAtomicValue) Initialize": of(func(ctx context.Context, f *fixture) error { return value(atomic(f).Initialize(ctx, nil)) }),
		"recipes/atomics: (*DistributedAtomicValue) Update": of(func(ctx context.Context, f *fixture) error {
			return value(atomic(f).Update(ctx, func(b []byte) ([]byte, error) { return b, nil }))
		}),
		"recipes/barriers: (*DistributedBarrier) Set":    asks(func(f *fixture) call { return barrier(f).Set }),
		"recipes/barriers: (*DistributedBarrier) Remove": asks(func(f *fixture) call { return barrier(f).Remove }),
		"recipes/barriers: (*DistributedBarrier) Wait": waits(func(f *fixture) call {
			f.ok(barrier(f).Set(f.Context()))
			return barrier(f).Wait
		}),
		"recipes/barriers: (*DistributedDoubleBarrier) Enter": waits(func(f *fixture) call { return double(f, f.client).Enter }),
		"recipes/barriers: (*DistributedDoubleBarrier) Leave": waits(func(f *fixture) call {
			both := make(chan error)
			mine, others := double(f, f.client), double(f, f.other)
			go func() { both <- others.Enter(f.Context()) }()
			f.ok(mine.Enter(f.Context()))
			f.ok(<-both)
			return mine.Leave
		}),
		"recipes/shared: (*Value) Start": asks(func(f *fixture) call { return f.sharedValue().Start }),
		"recipes/shared: (*Value) Set": asks(func(f *fixture) call {
			v := started(f, f.sharedValue(), nil)
			return func(ctx context.Context) error { return value(v.Set(ctx, "x")) }
		}),
		"recipes/shared: (*Value) TrySet": asks(func(f *fixture) call {
			v := started(f, f.sharedValue(), nil)
			return func(ctx context.Context) error {
				_, _, err := v.TrySet(ctx, v.VersionedValue(), "x")
				return err
			}
		}),
		"recipes/shared: (*Value) Update": asks(func(f *fixture) call {
			v := started(f, f.sharedValue(), nil)
			return func(ctx context.Context) error {
				return value(v.Update(ctx, func(s string) (string, error) { return s, nil }))
			}
		}),
		"recipes/shared: (*Value) Updates": waits(func(f *fixture) call {
			v := started(f, f.sharedValue(), nil)
			return func(ctx context.Context) error { return all(v.Updates(ctx)) }
		}),
		"recipes/shared: (*Count) Start": asks(func(f *fixture) call { return f.count().Start }),
		"recipes/shared: (*Count) Set": asks(func(f *fixture) call {
			c := started(f, f.count(), nil)
			return func(ctx context.Context) error { return value(c.Set(ctx, 2)) }
		}),
		"recipes/shared: (*Count) TrySet": asks(func(f *fixture) call {
			c := started(f, f.count(), nil)
			return func(ctx context.Context) error {
				_, _, err := c.TrySet(ctx, c.VersionedValue(), 2)
				return err
			}
		}),
		"recipes/shared: (*Count) Update": asks(func(f *fixture) call {
			c := started(f, f.count(), nil)
			return func(ctx context.Context) error {
				return value(c.Update(ctx, func(n int) (int, error) { return n + 1, nil }))
			}
		}),
		"recipes/shared: (*Count) Updates": waits(func(f *fixture) call {
			c := started(f, f.count(), nil)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/migrations: Migrate": asks(func(f *fixture) call {
			set := migrations.Set{ID: "set", Migrations: []migrations.Migration{{f.client.TransactionOp().Create().ForPath(f.path + "/m")}}}
			return func(ctx context.Context) error {
				return value(migrations.Migrate(ctx, f.client, f.path+"/lock", f.path+"/meta", set))
			}
		}),
	}
}

func (f *fixture) sharedValue() *shared.Value[string] {
	v, err := shared.NewValue(f.client, f.path+"/shared", "seed", codec.String())
	return made(f, v, err)
}

func (f *fixture) count() *shared.Count {
	c, err := shared.NewCount(f.client, f.path+"/shared", 1)
	return made(f, c, err)
}

func queueRows() map[string]row {
	simple := func(f *fixture) *queue.SimpleDistributedQueue {
		q, err := queue.NewSimpleDistributedQueue(f.client, f.path+"/queue")
		return made(f, q, err)
	}
	plain := func(f *fixture) *queue.DistributedQueue[string] {
		q, err := queue.NewDistributedQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	byID := func(f *fixture) *queue.DistributedIDQueue[string] {
		q, err := queue.NewDistributedIDQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	priority := func(f *fixture) *queue.DistributedPriorityQueue[string] {
		q, err := queue.NewDistributedPriorityQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	delay := func(f *fixture) *queue.DistributedDelayQueue[string] {
		q, err := queue.NewDistributedDelayQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	type consumer interface {
		Consume(ctx context.Context, fn func(ctx context.Context, m queue.Message[string]) error) error
	}
	consumes := func(make func(f *fixture) consumer) row {
		return waits(func(f *fixture) call {
			q := make(f)
			return func(ctx context.Context) error {
				return q.Consume(ctx, func(context.Context, queue.Message[string]) error { return nil })
			}
		})
	}
	return map[string]row{
		"recipes/queue: (*SimpleDistributedQueue) Offer": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return simple(f).Offer(ctx, nil) }
		}),
		"recipes/queue: (*SimpleDistributedQueue) Peek": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(simple(f).Peek(ctx)) }
		}),
		"recipes/queue: (*SimpleDistributedQueue) Poll": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(simple(f).Poll(ctx)) }
		}),
		"recipes/queue: (*SimpleDistributedQueue) Take": waits(func(f *fixture) call {
			return func(ctx context.Context) error { return value(simple(f).Take(ctx)) }
		}),
		"recipes/queue: (*DistributedQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return plain(f).Put(ctx, "x") }
		}),
		"recipes/queue: (*DistributedQueue) Consume": consumes(func(f *fixture) consumer { return plain(f) }),
		"recipes/queue: (*DistributedIDQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return byID(f).Put(ctx, "id", "x") }
		}),
		"recipes/queue: (*DistributedIDQueue) Remove": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(byID(f).Remove(ctx, "id")) }
		}),
		"recipes/queue: (*DistributedIDQueue) Consume": consumes(func(f *fixture) consumer { return byID(f) }),
		"recipes/queue: (*DistributedPriorityQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return priority(f).Put(ctx, 1, "x") }
		}),
		"recipes/queue: (*DistributedPriorityQueue) Consume": consumes(func(f *fixture) consumer { return priority(f) }),
		"recipes/queue: (*DistributedDelayQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return delay(f).Put(ctx, time.Now(), "x") }
		}),
		"recipes/queue: (*DistributedDelayQueue) Consume": consumes(func(f *fixture) consumer { return delay(f) }),
	}
}

func cacheRows() map[string]row {
	of := func(f *fixture) *cache.CuratorCache {
		c, err := cache.NewCuratorCache(f.client, f.path)
		return made(f, c, err)
	}
	model := func(f *fixture) modeled.ModeledFramework[string] {
		return modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath(f.path + "/model"), Codec: codec.String()})
	}
	cached := func(f *fixture) *modeled.CachedModeledFramework[string] {
		c, err := model(f).Cached()
		return made(f, c, err)
	}
	ofModel := func(fn func(ctx context.Context, m modeled.ModeledFramework[string]) error) row {
		return asks(func(f *fixture) call {
			m := model(f)
			f.must(m.Set(f.Context(), "x"))
			return func(ctx context.Context) error { return fn(ctx, m) }
		})
	}
	watcher := func(f *fixture) *watch.PersistentWatcher {
		w, err := watch.NewPersistentWatcher(f.client, f.path, framework.PersistentRecursive)
		return made(f, w, err)
	}
	node := func(f *fixture) *nodes.PersistentNode {
		n, err := nodes.NewPersistentNode(f.client, f.path+"/kept", framework.Ephemeral, nil)
		return made(f, n, err)
	}
	member := func(f *fixture) *nodes.GroupMember {
		m, err := nodes.NewGroupMember(f.client, f.path+"/group", "id", nil)
		return made(f, m, err)
	}
	const farAway = 1 << 60
	return map[string]row{
		"recipes/cache: (*CuratorCache) Start": asks(func(f *fixture) call { return of(f).Start }),
		"recipes/cache: (*CuratorCache) Await": waits(func(f *fixture) call {
			c := started(f, of(f), nil)
			return func(ctx context.Context) error { return c.Await(ctx, farAway) }
		}),
		"recipes/cache: (*CuratorCache) Updates": waits(func(f *fixture) call {
			c := started(f, of(f), nil)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/cache: (*Typed) Updates": waits(func(f *fixture) call {
			c := of(f)
			typed, err := cache.NewTyped(c, func(node cache.ChildData) (string, error) { return string(node.Data), nil })
			f.ok(err)
			started(f, c, nil)
			return func(ctx context.Context) error { return all(typed.Updates(ctx)) }
		}),
		"recipes/modeled: (*CachedModeledFramework) Start": asks(func(f *fixture) call { return cached(f).Start }),
		"recipes/modeled: (*CachedModeledFramework) Await": waits(func(f *fixture) call {
			c := started(f, cached(f), nil)
			return func(ctx context.Context) error { return c.Await(ctx, farAway) }
		}),
		"recipes/modeled: (*CachedModeledFramework) Updates": waits(func(f *fixture) call {
			c := started(f, cached(f), nil)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/modeled: (*CachedModeledFramework) ReadThrough": asks(func(f *fixture) call {
			c := started(f, cached(f), nil)
			return func(ctx context.Context) error {
				return value(c.ReadThrough(ctx, modeled.ParseZPath(f.path+"/model/x")))
			}
		}),
		"recipes/modeled: (ModeledFramework) ChildNodes": ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.ChildNodes(ctx)) }),
		"recipes/modeled: (ModeledFramework) Children":   ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Children(ctx)) }),
		"recipes/modeled: (ModeledFramework) Delete":     ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return m.Delete(ctx) }),
		"recipes/modeled: (ModeledFramework) Exists":     ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Exists(ctx)) }),
		"recipes/modeled: (ModeledFramework) Modify": ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error {
			return value(m.Modify(ctx, func(s string) (string, error) { return s + "x", nil }))
		}),
		"recipes/modeled: (ModeledFramework) Read":   ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Read(ctx)) }),
		"recipes/modeled: (ModeledFramework) Set":    ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Set(ctx, "y")) }),
		"recipes/modeled: (ModeledFramework) Update": ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Update(ctx, "y")) }),
		"recipes/nodes: (*PersistentNode) Start":     asks(func(f *fixture) call { return node(f).Start }),
		"recipes/nodes: (*PersistentNode) SetData": asks(func(f *fixture) call {
			n := started(f, node(f), nil)
			return func(ctx context.Context) error { return n.SetData(ctx, []byte("x")) }
		}),
		"recipes/nodes: (*GroupMember) Start": asks(func(f *fixture) call { return member(f).Start }),
		"recipes/nodes: (*GroupMember) SetPayload": asks(func(f *fixture) call {
			m := started(f, member(f), nil)
			return func(ctx context.Context) error { return m.SetPayload(ctx, []byte("x")) }
		}),
		"recipes/nodes: (*GroupMember) Updates": waits(func(f *fixture) call {
			m := started(f, member(f), nil)
			return func(ctx context.Context) error { return all(m.Updates(ctx)) }
		}),
		"recipes/watch: (*PersistentWatcher) Start": asks(func(f *fixture) call { return watcher(f).Start }),
		"recipes/watch: (*PersistentWatcher) Events": waits(func(f *fixture) call {
			w := started(f, watcher(f), nil)
			return func(ctx context.Context) error { return all(w.Events(ctx)) }
		}),
	}
}

func discoveryRows() map[string]row {
	registry := func(f *fixture) *discovery.ServiceDiscovery[string] {
		d, err := discovery.NewServiceDiscovery(f.client, f.path+"/services", discovery.JSON[string]())
		return made(f, d, err)
	}
	instance := discovery.ServiceInstance[string]{Name: "service", ID: "id", Address: "127.0.0.1"}
	registered := func(f *fixture) *discovery.ServiceDiscovery[string] {
		d := started(f, registry(f), nil)
		f.must(d.Register(f.Context(), instance))
		return d
	}
	return map[string]row{
		"recipes/discovery: (*ServiceDiscovery) Register": asks(func(f *fixture) call {
			d := started(f, registry(f), nil)
			return func(ctx context.Context) error { return value(d.Register(ctx, instance)) }
		}),
		"recipes/discovery: (*ServiceDiscovery) Update": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return d.Update(ctx, instance) }
		}),
		"recipes/discovery: (*ServiceDiscovery) QueryForInstance": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return value(d.QueryForInstance(ctx, "service", "id")) }
		}),
		"recipes/discovery: (*ServiceDiscovery) QueryForInstances": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return value(d.QueryForInstances(ctx, "service")) }
		}),
		"recipes/discovery: (*ServiceDiscovery) QueryForNames": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return value(d.QueryForNames(ctx)) }
		}),
		"recipes/discovery: (*ServiceCache) Start": asks(func(f *fixture) call {
			c, err := registered(f).Cache("service")
			return made(f, c, err).Start
		}),
		"recipes/discovery: (*ServiceCache) Updates": waits(func(f *fixture) call {
			c, err := registered(f).Cache("service")
			started(f, c, err)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/discovery: (*ServiceProvider) Start": asks(func(f *fixture) call {
			p, err := registered(f).Provider("service", discovery.ProviderConfig[string]{})
			return made(f, p, err).Start
		}),
	}
}

var errTooLong = errors.New("it waits on")
