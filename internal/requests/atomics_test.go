package requests_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// zero is the number 0, as it is stored.
var zero = make([]byte, 8)

// number is a method of an atomic number.
type number struct {
	name  string
	write string // its request that writes; "" for none
	call  func(ctx context.Context, n *atomics.DistributedAtomicLong) error
}

var numbers = []number{
	{"Add", "setData", func(ctx context.Context, n *atomics.DistributedAtomicLong) error { return value(n.Add(ctx, 7)) }},
	{"CompareAndSet", "setData", func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		return value(n.CompareAndSet(ctx, 0, 1))
	}},
	{"Decrement", "setData", func(ctx context.Context, n *atomics.DistributedAtomicLong) error { return value(n.Decrement(ctx)) }},
	{"ForceSet", "setData", func(ctx context.Context, n *atomics.DistributedAtomicLong) error { return n.ForceSet(ctx, 1) }},
	{"Get", "", func(ctx context.Context, n *atomics.DistributedAtomicLong) error { return value(n.Get(ctx)) }},
	{"Increment", "setData", func(ctx context.Context, n *atomics.DistributedAtomicLong) error { return value(n.Increment(ctx)) }},
	{"Initialize", "create", func(ctx context.Context, n *atomics.DistributedAtomicLong) error { return value(n.Initialize(ctx, 1)) }},
	{"Update", "setData", func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		return value(n.Update(ctx, func(n int64) (int64, error) { return n + 1, nil }))
	}},
}

var values = []struct {
	name, write string
	call        func(ctx context.Context, v *atomics.DistributedAtomicValue) error
}{
	{"CompareAndSet", "setData", func(ctx context.Context, v *atomics.DistributedAtomicValue) error {
		return value(v.CompareAndSet(ctx, zero, []byte("x")))
	}},
	{"ForceSet", "setData", func(ctx context.Context, v *atomics.DistributedAtomicValue) error {
		return v.ForceSet(ctx, []byte("x"))
	}},
	{"Get", "", func(ctx context.Context, v *atomics.DistributedAtomicValue) error { return value(v.Get(ctx)) }},
	{"Initialize", "create", func(ctx context.Context, v *atomics.DistributedAtomicValue) error {
		return value(v.Initialize(ctx, []byte("x")))
	}},
	{"Update", "setData", func(ctx context.Context, v *atomics.DistributedAtomicValue) error {
		return value(v.Update(ctx, func(b []byte) ([]byte, error) { return append(b, 'x'), nil }))
	}},
}

func atomicCases() []tableCase {
	again := retry.NTimes(10, 10*time.Millisecond)
	of := func(f *fixture, c *framework.Client, opts ...atomics.Option) *atomics.DistributedAtomicLong {
		n, err := atomics.NewDistributedAtomicLong(c, "/parent/number", again, opts...)
		return made(f, n, err)
	}
	var all []tableCase
	for _, n := range numbers {
		all = append(all, atomicCase("(*DistributedAtomicNumber) "+n.name, n.write, func(f *fixture, c *framework.Client) func(ctx context.Context) error {
			a := of(f, c)
			return func(ctx context.Context) error { return n.call(ctx, a) }
		})...)
	}
	for _, v := range values {
		all = append(all, atomicCase("(*DistributedAtomicValue) "+v.name, v.write, func(f *fixture, c *framework.Client) func(ctx context.Context) error {
			a, err := atomics.NewDistributedAtomicValue(c, "/parent/number", again)
			f.ok(err)
			return func(ctx context.Context) error { return v.call(ctx, a) }
		})...)
	}
	all = append(all, atomicCase("WithPromotedToLock", "setData", func(f *fixture, c *framework.Client) func(ctx context.Context) error {
		lock, err := locks.NewInterProcessMutex(c, "/lock")
		f.ok(err)
		n := of(f, c, atomics.WithPromotedToLock(lock, again))
		return func(ctx context.Context) error { return value(n.Increment(ctx)) }
	})...)
	return append(all, tableCase{"recipes/atomics: (*CachedAtomicNumber) Next", "25 numbers in blocks of 10", func(f *fixture) {
		n, err := atomics.NewCachedAtomicNumber(of(f, f.client), 10)
		f.ok(err)
		f.step("25 calls", func() {
			for range 25 {
				f.must(n.Next(f.Context()))
			}
		})
	}}, tableCase{"recipes/atomics: WithPromotedToLock", "others are faster", func(f *fixture) {
		lock, err := locks.NewInterProcessMutex(f.client, "/lock")
		f.ok(err)
		n, err := atomics.NewDistributedAtomicLong(f.client, "/number", retry.NTimes(1, time.Millisecond), atomics.WithPromotedToLock(lock, again))
		f.ok(err)
		others, err := atomics.NewDistributedAtomicLong(f.other, "/number", again)
		f.ok(err)
		f.must(n.Increment(f.Context()))
		calls := 0
		f.step("call", func() {
			f.must(n.Update(f.Context(), func(i int64) (int64, error) {
				if calls++; calls < 3 { // another client writes between the read and the write
					f.must(others.Increment(f.Context()))
				}
				return i + 1, nil
			}))
		})
	}})
}

// atomicCase is a call for a node that is missing, that is there, that others change, and of a client that
// loses its connection.
func atomicCase(name, write string, of func(f *fixture, c *framework.Client) func(ctx context.Context) error) []tableCase {
	lost := func(request, row string) tableCase {
		return tableCase{"recipes/atomics: " + name, row, func(f *fixture) {
			f.nodes("/parent/x")
			if request != "create" {
				f.must(f.other.Create().WithData(zero).ForPath(f.Context(), "/parent/number"))
			}
			call := of(f, f.client)
			f.step("call", func() {
				f.unanswered(request)
				_ = call(f.Context())
			})
		}}
	}
	all := []tableCase{{"recipes/atomics: " + name, "one after another", func(f *fixture) {
		call, others := of(f, f.client), of(f, f.other)
		f.step("the node is missing", func() { _ = call(f.Context()) }) // some fail
		f.step("it is 0, three calls", func() {
			f.must(f.other.Create().OrSetData().WithData(zero).CreatingParentsIfNeeded().ForPath(f.Context(), "/parent/number"))
			for range 3 {
				_ = call(f.Context())
			}
		})
		f.step("another client calls, then this one", func() {
			_ = others(f.Context())
			_ = call(f.Context())
		})
		f.step("call again", func() { _ = call(f.Context()) })
		f.cut()
		f.step("call behind it", func() { _ = call(f.Context()) })
	}}, lost("", "the first answer is lost")}
	if write != "" {
		all = append(all, lost(write, "the answer to the write is lost"))
	}
	return all
}
