package requests_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
)

// callOf returns two cases of a call that knows the nodes of withNodes: a free one, and one that loses the
// connection in place of the answer to a request.
func callOf(op, row, request string, call func(f *fixture) error) []tableCase {
	return []tableCase{
		free(op, row, call),
		{op, row + ", an answer is lost", func(f *fixture) {
			f.withNodes()
			f.step("call", func() {
				f.unanswered(request)
				_ = call(f) // which fails if it is not repeated
			})
		}},
	}
}

// free returns the case of a call alone.
func free(op, row string, call func(f *fixture) error) tableCase {
	return tableCase{op, row, func(f *fixture) {
		f.withNodes()
		f.step("call", func() { f.ok(call(f)) })
	}}
}

// refused returns the case of a call that fails.
func refused(op, row string, call func(f *fixture) error) tableCase {
	return tableCase{op, row, func(f *fixture) {
		f.withNodes()
		f.step("call", func() {
			if call(f) == nil {
				f.Error("no error")
			}
		})
	}}
}

func (f *fixture) withNodes() { f.nodes("/node", "/parent/child") }

// value drops the first result of a call.
func value[T any](_ T, err error) error { return err }

func createCases() []tableCase {
	type builder = framework.CreateBuilder
	of := func(option, row, path string, build func(b builder) builder) []tableCase {
		return callOf("framework: (CreateBuilder) "+option, row, "create", func(f *fixture) error {
			return value(build(f.client.Create()).ForPath(f.Context(), path))
		})
	}
	mode := func(m framework.CreateMode) func(b builder) builder {
		return func(b builder) builder { return b.WithMode(m) }
	}
	var all []tableCase
	for _, m := range []framework.CreateMode{
		framework.Persistent, framework.Ephemeral, framework.PersistentSequential, framework.EphemeralSequential, framework.Container,
	} {
		all = append(all, of("WithMode", m.String(), "/node/new", mode(m))...)
		all = append(all, of("WithProtection", m.String(), "/node/new", func(b builder) builder { return b.WithMode(m).WithProtection() })...)
		if m != framework.PersistentSequential && m != framework.EphemeralSequential {
			all = append(all, of("Idempotent", m.String(), "/node/new", func(b builder) builder { return b.WithMode(m).Idempotent() })...)
		}
	}
	for _, m := range []framework.CreateMode{framework.PersistentWithTTL, framework.PersistentSequentialWithTTL} {
		all = append(all, of("WithTTL", m.String(), "/node/new", func(b builder) builder { return b.WithMode(m).WithTTL(time.Hour) })...)
	}
	acl := framework.ACL{Perms: framework.PermRead, Scheme: "world", ID: "anyone"}
	for _, c := range []struct {
		option, row, path string
		build             func(b builder) builder
	}{
		{"ForPath", "free", "/node/new", func(b builder) builder { return b }},
		{"CreatingParentsIfNeeded", "parent there", "/node/new", builder.CreatingParentsIfNeeded},
		{"CreatingParentsIfNeeded", "parents missing", "/a/b/new", builder.CreatingParentsIfNeeded},
		{"CreatingParentsIfNeeded", "protected", "/a/b/new", func(b builder) builder {
			return b.CreatingParentsIfNeeded().WithProtection().WithMode(framework.EphemeralSequential)
		}},
		{"CreatingParentContainersIfNeeded", "parent there", "/node/new", builder.CreatingParentContainersIfNeeded},
		{"CreatingParentContainersIfNeeded", "parents missing", "/a/b/new", builder.CreatingParentContainersIfNeeded},
		{"WithACL", "free", "/node/new", func(b builder) builder { return b.WithACL(acl) }},
		{"WithACLOnParents", "parents missing", "/a/b/new", func(b builder) builder {
			return b.WithACL(acl, framework.OpenACLUnsafe()[0]).CreatingParentsIfNeeded().WithACLOnParents()
		}},
		{"WithData", "free", "/node/new", func(b builder) builder { return b.WithData([]byte("x")) }},
		{"Compressed", "free", "/node/new", builder.Compressed},
		{"Uncompressed", "free", "/node/new", builder.Uncompressed},
		{"StoringStatIn", "free", "/node/new", func(b builder) builder { return b.StoringStatIn(new(framework.Stat)) }},
		{"OrSetData", "missing", "/node/new", builder.OrSetData},
		{"OrSetDataVersion", "missing", "/node/new", func(b builder) builder { return b.OrSetDataVersion(0) }},
	} {
		all = append(all, of(c.option, c.row, c.path, c.build)...)
	}
	return append(append(all, existingCases()...), createdWithCases()...)
}

// existingCases are creates of a node that is there.
func existingCases() []tableCase {
	const prefix = "framework: (CreateBuilder) "
	create := func(build func(b framework.CreateBuilder) framework.CreateBuilder) func(f *fixture) error {
		return func(f *fixture) error { return value(build(f.client.Create()).ForPath(f.Context(), "/node")) }
	}
	plain := func(b framework.CreateBuilder) framework.CreateBuilder { return b }
	orSetVersion := func(v int32) func(f *fixture) error {
		return create(func(b framework.CreateBuilder) framework.CreateBuilder { return b.OrSetDataVersion(v) })
	}
	all := []tableCase{
		refused(prefix+"ForPath", "the node is there", create(plain)),
		refused(prefix+"Idempotent", "another's node is there", create(func(b framework.CreateBuilder) framework.CreateBuilder { return b.Idempotent().WithData(nil) })),
		refused(prefix+"OrSetDataVersion", "another version is there", orSetVersion(7)),
	}
	all = append(all, callOf(prefix+"OrSetData", "the node is there", "setData", create(framework.CreateBuilder.OrSetData))...)
	return append(all, callOf(prefix+"OrSetDataVersion", "the node is there", "setData", orSetVersion(0))...)
}

// createdWithCases are creates in the background, and those of package paths.
func createdWithCases() []tableCase {
	all := callOf("framework: (CreateBuilder) InBackground", "free", "create", func(f *fixture) error {
		done := make(chan error, 1)
		err := f.client.Create().InBackground(f.Context(), "/node/new", func(_ context.Context, _ string, err error) { done <- err })
		if err == nil {
			err = <-done
		}
		return err
	})
	all = append(all, callOf("framework/paths: Mkdirs", "missing", "create", func(f *fixture) error {
		return paths.Mkdirs(f.Context(), f.client, "/a/b/c")
	})...)
	return append(all,
		free("framework/paths: Mkdirs", "there", func(f *fixture) error { return paths.Mkdirs(f.Context(), f.client, "/parent/child") }),
		free("framework/paths: WithContainers", "missing", func(f *fixture) error {
			return paths.Mkdirs(f.Context(), f.client, "/a/b", paths.WithContainers())
		}),
		free("framework/paths: WithACL", "missing", func(f *fixture) error {
			return paths.Mkdirs(f.Context(), f.client, "/a/b", paths.WithACL(framework.ACL{Perms: framework.PermRead | framework.PermCreate, Scheme: "world", ID: "anyone"}))
		}),
		free("framework/paths: WithoutLastNode", "missing", func(f *fixture) error {
			return paths.Mkdirs(f.Context(), f.client, "/a/b", paths.WithoutLastNode())
		}),
		tableCase{"framework/paths: (*EnsureContainers) Ensure", "twice, then after Reset", func(f *fixture) {
			e, err := paths.NewEnsureContainers(f.client, "/a/b")
			f.ok(err)
			f.step("the first call", func() { f.ok(e.Ensure(f.Context())) })
			f.step("the second call", func() { f.ok(e.Ensure(f.Context())) })
			e.Reset()
			f.step("a call after Reset", func() { f.ok(e.Ensure(f.Context())) })
		}},
	)
}
