package requests_test

import (
	"context"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
)

func frameworkCases() []tableCase {
	var all []tableCase
	add := func(op, row, request string, call func(ctx context.Context, c *framework.Client) error) {
		all = append(all, callOf("framework: "+op, row, request, func(f *fixture) error { return call(f.Context(), f.client) })...)
	}
	deletes := func(build func(b framework.DeleteBuilder) framework.DeleteBuilder, path string) func(ctx context.Context, c *framework.Client) error {
		return func(ctx context.Context, c *framework.Client) error { return build(c.Delete()).ForPath(ctx, path) }
	}
	type del = framework.DeleteBuilder
	add("(DeleteBuilder) ForPath", "free", "delete", deletes(func(b del) del { return b }, "/node"))
	add("(DeleteBuilder) WithVersion", "free", "delete", deletes(func(b del) del { return b.WithVersion(0) }, "/node"))
	add("(DeleteBuilder) Guaranteed", "free", "delete", deletes(del.Guaranteed, "/node"))
	add("(DeleteBuilder) Quietly", "missing", "delete", deletes(del.Quietly, "/missing"))
	add("(DeleteBuilder) DeletingChildrenIfNeeded", "a child", "delete", deletes(del.DeletingChildrenIfNeeded, "/parent"))
	add("(DeleteBuilder) DeletingChildrenIfNeeded", "a child, guaranteed", "delete", deletes(func(b del) del { return b.DeletingChildrenIfNeeded().Guaranteed() }, "/parent"))

	sets := func(build func(b framework.SetDataBuilder) framework.SetDataBuilder) func(ctx context.Context, c *framework.Client) error {
		return func(ctx context.Context, c *framework.Client) error {
			return value(build(c.SetData()).ForPath(ctx, "/node", []byte("x")))
		}
	}
	type set = framework.SetDataBuilder
	add("(SetDataBuilder) ForPath", "free", "setData", sets(func(b set) set { return b }))
	add("(SetDataBuilder) WithVersion", "free", "setData", sets(func(b set) set { return b.WithVersion(0) }))
	add("(SetDataBuilder) Idempotent", "free", "setData", sets(set.Idempotent))
	add("(SetDataBuilder) Idempotent", "with a version", "setData", sets(func(b set) set { return b.Idempotent().WithVersion(0) }))
	add("(SetDataBuilder) Compressed", "free", "setData", sets(set.Compressed))
	add("(SetDataBuilder) Uncompressed", "free", "setData", sets(set.Uncompressed))

	acl := framework.OpenACLUnsafe()
	add("(GetACLBuilder) ForPath", "free", "getACL", func(ctx context.Context, c *framework.Client) error { return value(c.GetACL().ForPath(ctx, "/node")) })
	add("(GetACLBuilder) StoringStatIn", "free", "getACL", func(ctx context.Context, c *framework.Client) error {
		return value(c.GetACL().StoringStatIn(new(framework.Stat)).ForPath(ctx, "/node"))
	})
	add("(SetACLBuilder) ForPath", "free", "setACL", func(ctx context.Context, c *framework.Client) error {
		return value(c.SetACL().ForPath(ctx, "/node", acl))
	})
	add("(SetACLBuilder) WithVersion", "free", "setACL", func(ctx context.Context, c *framework.Client) error {
		return value(c.SetACL().WithVersion(0).ForPath(ctx, "/node", acl))
	})
	add("(SyncBuilder) ForPath", "free", "sync", func(ctx context.Context, c *framework.Client) error { return c.Sync().ForPath(ctx, "/node") })
	add("(*Client) AddAuth", "free", "auth", func(ctx context.Context, c *framework.Client) error { return c.AddAuth(ctx, "digest", []byte("a:b")) })
	all = append(all, backgroundCases()...)
	all = append(all, severalCases()...)
	all = append(all, reconfigCases()...)
	return append(all, pathCases()...)
}

// background waits for the outcome of a call of InBackground.
func background(call func(done func(err error)) error) error {
	done := make(chan error, 1)
	if err := call(func(err error) { done <- err }); err != nil {
		return err
	}
	return <-done
}

func backgroundCases() []tableCase {
	var all []tableCase
	add := func(builder, request string, call func(ctx context.Context, c *framework.Client, done func(err error)) error) {
		all = append(all, callOf("framework: ("+builder+") InBackground", "free", request, func(f *fixture) error {
			return background(func(done func(err error)) error { return call(f.Context(), f.client, done) })
		})...)
	}
	add("DeleteBuilder", "delete", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.Delete().InBackground(ctx, "/node", func(_ context.Context, err error) { done(err) })
	})
	add("SetDataBuilder", "setData", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.SetData().InBackground(ctx, "/node", nil, func(_ context.Context, _ framework.Stat, err error) { done(err) })
	})
	add("GetACLBuilder", "getACL", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.GetACL().InBackground(ctx, "/node", func(_ context.Context, _ []framework.ACL, err error) { done(err) })
	})
	add("SetACLBuilder", "setACL", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.SetACL().InBackground(ctx, "/node", framework.OpenACLUnsafe(), func(_ context.Context, _ framework.Stat, err error) { done(err) })
	})
	add("SyncBuilder", "sync", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.Sync().InBackground(ctx, "/node", func(_ context.Context, err error) { done(err) })
	})
	add("CheckExistsBuilder", "exists", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.CheckExists().InBackground(ctx, "/node", func(_ context.Context, _ bool, err error) { done(err) })
	})
	add("GetDataBuilder", "getData", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.GetData().InBackground(ctx, "/node", func(_ context.Context, _ []byte, err error) { done(err) })
	})
	add("GetChildrenBuilder", "getChildren", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.GetChildren().InBackground(ctx, "/node", func(_ context.Context, _ []string, err error) { done(err) })
	})
	add("GetConfigBuilder", "getData", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.GetConfig().InBackground(ctx, func(_ context.Context, _ []byte, err error) { done(err) })
	})
	add("AddWatchBuilder", "addWatch", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		return c.Watches().Add().InBackground(ctx, "/node", watcher(), func(_ context.Context, err error) { done(err) })
	})
	add("TransactionBuilder", "multi", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		ops := []framework.Op{c.TransactionOp().Delete().ForPath("/node")}
		return c.Transaction().InBackground(ctx, ops, func(_ context.Context, _ []framework.OpResult, err error) { done(err) })
	})
	add("BatchBuilder", "delete", func(ctx context.Context, c *framework.Client, done func(err error)) error {
		ops := []framework.Op{c.TransactionOp().Delete().ForPath("/node")}
		return c.Batch().InBackground(ctx, ops, func(_ context.Context, _ []framework.OpResult, err error) { done(err) })
	})
	return append(all, refused("framework: (ReconfigBuilder) InBackground", "refused", func(f *fixture) error {
		return background(func(done func(err error)) error {
			return f.client.Reconfig().Leaving("1").InBackground(f.Context(), func(_ context.Context, _ []byte, err error) { done(err) })
		})
	}))
}

// severalCases are those of several operations at once.
func severalCases() []tableCase {
	ops := func(c *framework.Client) []framework.Op {
		op := c.TransactionOp()
		return []framework.Op{
			op.Check().ForPath("/node"),
			op.Check().WithVersion(0).ForPath("/node"),
			op.Create().ForPath("/node/a"),
			op.Create().WithData(nil).WithMode(framework.EphemeralSequential).ForPath("/node/b"),
			op.Create().WithMode(framework.PersistentWithTTL).WithTTL(time.Hour).ForPath("/node/c"),
			op.Create().WithMode(framework.Container).Compressed().ForPath("/node/d"),
			op.Create().Uncompressed().WithACL(framework.ACL{Perms: framework.PermRead, Scheme: "world", ID: "anyone"}).ForPath("/node/e"),
			op.SetData().ForPath("/parent", nil),
			op.SetData().WithVersion(1).Compressed().ForPath("/parent", nil),
			op.SetData().Uncompressed().ForPath("/parent", nil),
			op.Delete().ForPath("/node/a"),
			op.Delete().WithVersion(0).ForPath("/parent/child"),
		}
	}
	all := callOf("framework: (TransactionBuilder) ForOperations", "one of each kind", "multi", func(f *fixture) error {
		return value(f.client.Transaction().ForOperations(f.Context(), ops(f.client)...))
	})
	all = append(all, callOf("framework: (TransactionBuilder) Idempotent", "one of each kind", "multi", func(f *fixture) error {
		op := f.client.TransactionOp()
		if _, err := f.client.CheckExists().ForPath(f.Context(), "/"); err != nil { // what was before is known
			return err
		}
		return value(f.client.Transaction().Idempotent().ForOperations(f.Context(), op.Check().ForPath("/node"),
			op.Create().ForPath("/node/a"), op.SetData().WithVersion(0).ForPath("/node", nil), op.Delete().WithVersion(0).ForPath("/parent/child")))
	})...)
	all = append(all, callOf("framework: (BatchBuilder) ForOperations", "one of each kind", "delete", func(f *fixture) error {
		return value(f.client.Batch().ForOperations(f.Context(), ops(f.client)...))
	})...)
	return append(all, callOf("framework: (*Client) ReadMany", "three nodes, one is missing", "getChildren", func(f *fixture) error {
		paths := slices.Values([]string{"/node", "/missing", "/parent"})
		for path, read := range f.client.ReadMany(f.Context(), paths, framework.ReadData, framework.ReadChildren) {
			if read.Err != nil && path != "/missing" {
				return read.Err
			}
		}
		return nil
	})...)
}

// reconfigCases are of requests that the embedded server refuses.
func reconfigCases() []tableCase {
	of := func(option, row string, build func(b framework.ReconfigBuilder) framework.ReconfigBuilder) tableCase {
		return refused("framework: (ReconfigBuilder) "+option, row, func(f *fixture) error {
			return value(build(f.client.Reconfig()).ForEnsemble(f.Context()))
		})
	}
	type builder = framework.ReconfigBuilder
	const server = "server.4=zk4:2888:3888;2181"
	return []tableCase{
		of("ForEnsemble", "nothing changes", func(b builder) builder { return b }),
		of("Joining", "refused", func(b builder) builder { return b.Joining(server) }),
		of("Leaving", "refused", func(b builder) builder { return b.Leaving("1", "2") }),
		of("WithNewMembers", "refused", func(b builder) builder { return b.WithNewMembers(server) }),
		of("FromConfig", "refused", func(b builder) builder { return b.Leaving("1").FromConfig(7) }),
		of("StoringStatIn", "refused", func(b builder) builder { return b.Leaving("1").StoringStatIn(new(framework.Stat)) }),
	}
}

func pathCases() []tableCase {
	all := callOf("framework/paths: DeleteChildren", "with the node", "delete", func(f *fixture) error {
		return paths.DeleteChildren(f.Context(), f.client, "/parent", true)
	})
	all = append(all, callOf("framework/paths: DeleteChildren", "without the node", "delete", func(f *fixture) error {
		return paths.DeleteChildren(f.Context(), f.client, "/parent", false)
	})...)
	return append(all, callOf("framework/paths: SortedChildren", "free", "getChildren", func(f *fixture) error {
		return value(paths.SortedChildren(f.Context(), f.client, "/parent"))
	})...)
}
