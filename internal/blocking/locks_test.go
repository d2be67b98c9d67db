package blocking_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

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
		"recipes/locks: (*Lease) GuardIdempotent": asks(func(f *fixture) call {
			lease := f.held(f.mutex(f.client))
			return func(ctx context.Context) error {
				return value(lease.GuardIdempotent(ctx, f.client.TransactionOp().Check().ForPath(f.path)))
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
