package blocking_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

func atomicRows() map[string]row {
	number := func(f *fixture) *atomics.DistributedAtomicLong {
		n, err := atomics.NewDistributedAtomicLong(f.client, f.path+"/number", retry.Forever(time.Second))
		return made(f, n, err)
	}
	atomic := func(f *fixture) *atomics.DistributedAtomicValue {
		v, err := atomics.NewDistributedAtomicValue(f.client, f.path+"/value", retry.Forever(time.Second))
		return made(f, v, err)
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
	}
}

func barrierRows() map[string]row {
	barrier := func(f *fixture) *barriers.DistributedBarrier {
		b, err := barriers.NewDistributedBarrier(f.client, f.path+"/barrier")
		return made(f, b, err)
	}
	double := func(f *fixture, client *framework.Client) *barriers.DistributedDoubleBarrier {
		b, err := barriers.NewDistributedDoubleBarrier(client, f.path+"/barrier", 2)
		return made(f, b, err)
	}
	return map[string]row{
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
	}
}

func sharedRows() map[string]row {
	return map[string]row{
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
