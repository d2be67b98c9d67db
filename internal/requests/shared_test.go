package requests_test

import (
	"context"
	"iter"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/recipes/shared"
)

func valueOf(f *fixture, opts ...shared.Option) *shared.Value[string] {
	v, err := shared.NewValue(f.client, "/parent/shared", "seed", codec.String(), opts...)
	return made(f, v, err)
}

func countOf(f *fixture, opts ...shared.Option) *shared.Count {
	v, err := shared.NewCount(f.client, "/parent/shared", 1, opts...)
	return made(f, v, err)
}

func sharedCases() []tableCase {
	return append([]tableCase{
		sharedLife("(*Value) Start", func(f *fixture) framework.Component { return valueOf(f) }),
		sharedLife("(*Count) Start", func(f *fixture) framework.Component { return countOf(f) }),
		sharedLife("WithoutCreate", func(f *fixture) framework.Component { return valueOf(f, shared.WithoutCreate()) }),
		sharedLife("WithStartInBackground", func(f *fixture) framework.Component { return valueOf(f, shared.WithStartInBackground()) }),
		updates("recipes/shared: (*Value) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[shared.VersionedValue[string]], func()) {
			v := started(f, valueOf(f))
			return v.Updates, func() { f.must(v.Set(f.Context(), "x")) }
		}),
		updates("recipes/shared: (*Count) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[shared.VersionedValue[int]], func()) {
			v := started(f, countOf(f))
			return v.Updates, func() { f.must(v.Set(f.Context(), 2)) }
		}),
	}, sharedCallCases()...)
}

func sharedCallCases() []tableCase {
	var all []tableCase
	call := func(name string, call func(f *fixture, v *shared.Value[string]) error, ofCount func(f *fixture, v *shared.Count) error) {
		all = append(all,
			tableCase{"recipes/shared: (*Value) " + name, "one after another", func(f *fixture) {
				v := started(f, valueOf(f))
				sharedCalls(f, func() error { return call(f, v) })
			}},
			tableCase{"recipes/shared: (*Count) " + name, "one after another", func(f *fixture) {
				v := started(f, countOf(f))
				sharedCalls(f, func() error { return ofCount(f, v) })
			}},
		)
	}
	call("Set", func(f *fixture, v *shared.Value[string]) error { return value(v.Set(f.Context(), "x")) },
		func(f *fixture, v *shared.Count) error { return value(v.Set(f.Context(), 2)) })
	call("TrySet", func(f *fixture, v *shared.Value[string]) error {
		_, _, err := v.TrySet(f.Context(), v.VersionedValue(), "x")
		return err
	}, func(f *fixture, v *shared.Count) error {
		_, _, err := v.TrySet(f.Context(), v.VersionedValue(), 2)
		return err
	})
	call("Update", func(f *fixture, v *shared.Value[string]) error {
		return value(v.Update(f.Context(), func(s string) (string, error) { return s + "x", nil }))
	}, func(f *fixture, v *shared.Count) error {
		return value(v.Update(f.Context(), func(n int) (int, error) { return n + 1, nil }))
	})
	return append(all,
		tableCase{"recipes/shared: (*Value) TrySet", "another client was faster", func(f *fixture) {
			v := started(f, valueOf(f))
			before := v.VersionedValue()
			f.must(f.other.SetData().ForPath(f.Context(), "/parent/shared", []byte("y")))
			f.unordered("call", func() {
				_, _, err := v.TrySet(f.Context(), before, "x")
				f.ok(err)
			})
		}},
		tableCase{"recipes/shared: (*Value) Update", "another client is faster", func(f *fixture) {
			v := started(f, valueOf(f))
			calls := 0
			f.unordered("call", func() {
				f.must(v.Update(f.Context(), func(s string) (string, error) {
					if calls++; calls == 1 {
						f.must(f.other.SetData().ForPath(f.Context(), "/parent/shared", []byte("y")))
					}
					return s + "x", nil
				}))
			})
		}},
	)
}

// sharedLife is from Start to Close, with changes by others, and the loss of the connection and the session.
func sharedLife(op string, of func(f *fixture) framework.Component) tableCase {
	return tableCase{"recipes/shared: " + op, "until Close", func(f *fixture) {
		f.nodes("/parent")
		v := of(f)
		f.step("Start", func() { started(f, v) })
		f.step("another client writes", func() {
			f.must(f.other.Create().OrSetData().WithData([]byte("2\x00\x00\x00")).ForPath(f.Context(), "/parent/shared"))
		})
		f.cut()
		f.expire()
		f.step("another client deletes the node", func() { f.ok(f.other.Delete().ForPath(f.Context(), "/parent/shared")) })
		f.step("Close", func() { f.ok(v.Close(f.Context())) })
	}}
}

// sharedCalls are calls without and behind those of another client.
func sharedCalls(f *fixture, call func() error) {
	f.step("call", func() { f.ok(call()) })
	f.step("another client writes", func() { f.must(f.other.SetData().ForPath(f.Context(), "/parent/shared", []byte{7, 0, 0, 0})) })
	f.step("call behind it", func() { f.ok(call()) })
	f.step("another client deletes the node", func() { f.ok(f.other.Delete().ForPath(f.Context(), "/parent/shared")) })
	f.unordered("call behind it", func() { f.ok(call()) })
	f.step("an answer is lost", func() {
		f.unanswered("setData")
		_ = call()
	})
}

func migrationCases() []tableCase {
	migrate := func(f *fixture, n int) error {
		f.concurrent = true
		set := migrations.Set{ID: "set", Migrations: []migrations.Migration{
			{f.client.TransactionOp().Create().ForPath("/m1")},
			{f.client.TransactionOp().Create().ForPath("/m2"), f.client.TransactionOp().SetData().ForPath("/m1", nil)},
		}}
		set.Migrations = set.Migrations[:n]
		return value(migrations.Migrate(f.Context(), f.client, "/lock", "/meta", set))
	}
	return []tableCase{
		{"recipes/migrations: Migrate", "two, one after another", func(f *fixture) {
			f.step("one", func() { f.ok(migrate(f, 1)) })
			f.step("another one", func() { f.ok(migrate(f, 2)) })
			f.step("nothing is left to do", func() { f.ok(migrate(f, 2)) })
		}},
		{"recipes/migrations: Migrate", "two at once", func(f *fixture) {
			f.step("call", func() { f.ok(migrate(f, 2)) })
		}},
		{"recipes/migrations: Migrate", "an answer is lost", func(f *fixture) {
			f.step("call", func() {
				f.unanswered("multi")
				_ = migrate(f, 1)
			})
			f.step("call again", func() { f.ok(migrate(f, 2)) })
		}},
	}
}
