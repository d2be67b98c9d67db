package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// mixes are chains that make no sense, each with the steps that the error must name.
func mixes(c *framework.Client) map[string]func(ctx context.Context, path string) error {
	create := func(b framework.CreateBuilder) func(ctx context.Context, path string) error {
		return func(ctx context.Context, path string) error {
			_, err := b.ForPath(ctx, path)
			return err
		}
	}
	exists := func(b framework.CheckExistsBuilder) func(ctx context.Context, path string) error {
		return func(ctx context.Context, path string) error {
			_, err := b.ForPath(ctx, path)
			return err
		}
	}
	reconfig := func(b framework.ReconfigBuilder) func(ctx context.Context, path string) error {
		return func(ctx context.Context, _ string) error {
			_, err := b.ForEnsemble(ctx)
			return err
		}
	}
	w := framework.NewWatcher(nil)
	sequential := c.Create().WithMode(framework.PersistentSequential)
	all := map[string]func(ctx context.Context, path string) error{
		"WithMode":                      create(c.Create().WithMode(99)),
		"WithMode -1":                   create(c.Create().WithMode(-1)),
		"WithTTL mode":                  create(c.Create().WithTTL(time.Second)),
		"WithTTL mode, ephemeral":       create(c.Create().WithTTL(time.Second).WithMode(framework.Ephemeral)),
		"WithTTL mode, alone":           create(c.Create().WithMode(framework.PersistentWithTTL)),
		"WithTTL 1ns":                   create(c.Create().WithMode(framework.PersistentWithTTL).WithTTL(1)),
		"WithTTL -1s":                   create(c.Create().WithMode(framework.PersistentWithTTL).WithTTL(-time.Second)),
		"OrSetData sequential":          create(sequential.OrSetData()),
		"OrSetData sequential, version": create(sequential.OrSetDataVersion(1)),
		"Idempotent sequential":         create(sequential.Idempotent()),
		"OrSetData WithProtection":      create(c.Create().WithProtection().OrSetData()),
		"Idempotent WithProtection":     create(c.Create().WithProtection().Idempotent()),
		"OrSetDataVersion -2":           create(c.Create().OrSetDataVersion(-2)),
		"Compressed Uncompressed":       create(c.Create().Compressed().Uncompressed()),
		"WithACL":                       create(c.Create().WithACL()),
		"WithACLOnParents WithACL":      create(c.Create().CreatingParentsIfNeeded().WithACLOnParents()),
		"WithACLOnParents parents":      create(c.Create().WithACL(open...).WithACLOnParents()),
		"CreatingParentsIfNeeded CreatingParentContainersIfNeeded": create(c.Create().CreatingParentsIfNeeded().CreatingParentContainersIfNeeded()),

		"CreatingParentContainersIfNeeded CreatingParentsIfNeeded": exists(c.CheckExists().CreatingParentsIfNeeded().CreatingParentContainersIfNeeded()),
		"WithACL parents":      exists(c.CheckExists().WithACL(open...)),
		"WithACL, empty":       exists(c.CheckExists().CreatingParentsIfNeeded().WithACL()),
		"UsingWatcher Watched": exists(c.CheckExists().UsingWatcher(w).Watched()),
		"UsingWatcher Watched, getData": func(ctx context.Context, path string) error {
			_, err := c.GetData().UsingWatcher(w).Watched().ForPath(ctx, path)
			return err
		},
		"UsingWatcher Watched, getChildren": func(ctx context.Context, path string) error {
			_, err := c.GetChildren().UsingWatcher(w).Watched().ForPath(ctx, path)
			return err
		},
		"UsingWatcher Watched, getConfig": func(ctx context.Context, _ string) error {
			_, err := c.GetConfig().UsingWatcher(w).Watched().ForEnsemble(ctx)
			return err
		},
		"Decompressed Undecompressed": func(ctx context.Context, path string) error {
			_, err := c.GetData().Decompressed().Undecompressed().ForPath(ctx, path)
			return err
		},

		"Joining, empty name":    reconfig(c.Reconfig().Joining("server.1=a:1:2;3", "")),
		"Joining WithNewMembers": reconfig(c.Reconfig().Joining("server.1=a:1:2;3").WithNewMembers("server.2=a:1:2;3")),
		"Leaving WithNewMembers": reconfig(c.Reconfig().Leaving("1").WithNewMembers("server.2=a:1:2;3")),
		"FromConfig -2":          reconfig(c.Reconfig().Leaving("1").FromConfig(-2)),
	}
	addOthers(all, c, w)
	return all
}

// addOthers adds those of the builders whose terminals take more, and those in transactions.
func addOthers(all map[string]func(ctx context.Context, path string) error, c *framework.Client, w *framework.Watcher) {
	all["WithVersion -2, delete"] = func(ctx context.Context, path string) error {
		return c.Delete().WithVersion(-2).ForPath(ctx, path)
	}
	all["WithVersion -2, setData"] = func(ctx context.Context, path string) error {
		_, err := c.SetData().WithVersion(-2).ForPath(ctx, path, nil)
		return err
	}
	all["WithVersion -2, setACL"] = func(ctx context.Context, path string) error {
		_, err := c.SetACL().WithVersion(-2).ForPath(ctx, path, open)
		return err
	}
	all["Compressed Uncompressed, setData"] = func(ctx context.Context, path string) error {
		_, err := c.SetData().Compressed().Uncompressed().ForPath(ctx, path, nil)
		return err
	}
	all["WithMode 9, add"] = func(ctx context.Context, path string) error {
		return c.Watches().Add().WithMode(9).ForPath(ctx, path, w)
	}
	all["OfType 9"] = func(ctx context.Context, path string) error {
		return c.Watches().Remove().OfType(9).ForPath(ctx, path, w)
	}
	all["watcher"] = func(ctx context.Context, path string) error {
		return c.Watches().Add().ForPath(ctx, path, nil)
	}
	op := c.TransactionOp()
	for name, wrong := range map[string]func(path string) framework.Op{
		"WithMode, op":    func(path string) framework.Op { return op.Create().WithMode(99).ForPath(path) },
		"WithTTL, op":     func(path string) framework.Op { return op.Create().WithTTL(time.Second).ForPath(path) },
		"WithACL, op":     func(path string) framework.Op { return op.Create().WithACL().ForPath(path) },
		"WithVersion, op": func(path string) framework.Op { return op.Delete().WithVersion(-2).ForPath(path) },
		"WithVersion, setData op": func(path string) framework.Op {
			return op.SetData().WithVersion(-2).ForPath(path, nil)
		},
		"WithVersion, check op": func(path string) framework.Op { return op.Check().WithVersion(-2).ForPath(path) },
		"Compressed Uncompressed, op": func(path string) framework.Op {
			return op.Create().Compressed().Uncompressed().ForPath(path)
		},
		"Compressed Uncompressed, setData op": func(path string) framework.Op {
			return op.SetData().Compressed().Uncompressed().ForPath(path, nil)
		},
		"zero Op": func(string) framework.Op { return framework.Op{} },
	} {
		all[name+", transaction"] = func(ctx context.Context, path string) error {
			_, err := c.Transaction().ForOperations(ctx, op.Check().ForPath("/"), wrong(path))
			return err
		}
		all[name+", batch"] = func(ctx context.Context, path string) error {
			return alone(c.Batch().ForOperations(ctx, op.Check().ForPath("/"), wrong(path)))
		}
	}
	all["without operations, transaction"] = func(ctx context.Context, _ string) error {
		_, err := c.Transaction().ForOperations(ctx)
		return err
	}
}

// TestImpossibleMixes: chains whose steps do not go together are refused before anything is
// sent, by an error that names the steps.
func TestImpossibleMixes(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for name, call := range mixes(c) {
			err := call(t.Context(), b.Path("x"))
			var op *framework.OpError
			if !errors.Is(err, framework.ErrInvalidBuilder) || !errors.As(err, &op) || framework.MaybeApplied(err) || framework.Retryable(err) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			steps, _, _ := strings.Cut(name, ",")
			for step := range strings.FieldsSeq(steps) {
				if !strings.Contains(err.Error(), step) {
					t.Errorf("%s: %v does not name %s", name, err, step)
				}
			}
		}
		sent := 0
		for op := jute.OpCreate; op <= jute.OpWhoAmI; op++ {
			if op != jute.OpPing {
				sent += network.Requests(op)
			}
		}
		if sent != 0 {
			t.Errorf("%d requests were sent", sent)
		}
	})
}
