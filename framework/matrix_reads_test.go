package framework_test

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
)

// reading returns a row for an operation that changes nothing.
func reading(builder string, op jute.Op, missing, noAuth error,
	call func(ctx context.Context, c *framework.Client, path string) error,
	zero func(ctx context.Context, path string) error,
	later func(ctx context.Context, c *framework.Client, path string) error,
) row {
	return row{
		builder: builder, op: op, node: true, repeat: true,
		missing: missing, noAuth: noAuth, call: call, zero: zero, later: later,
	}
}

// The rows that change nothing, as far as the node is concerned.
var readRows = []row{
	reading("CheckExists", jute.OpExists, nil, nil,
		func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.CheckExists().ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, path string) error {
			_, err := framework.CheckExistsBuilder{}.ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.CheckExists().InBackground(ctx, path, nil)
		}),
	reading("GetData", jute.OpGetData, framework.ErrNoNode, framework.ErrNoAuth,
		func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.GetData().ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, path string) error {
			_, err := framework.GetDataBuilder{}.ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.GetData().InBackground(ctx, path, nil)
		}),
	reading("GetChildren", jute.OpGetChildren2, framework.ErrNoNode, framework.ErrNoAuth,
		func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.GetChildren().ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, path string) error {
			_, err := framework.GetChildrenBuilder{}.ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.GetChildren().InBackground(ctx, path, nil)
		}),
	reading("GetACL", jute.OpGetACL, framework.ErrNoNode, framework.ErrNoAuth,
		func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.GetACL().ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, path string) error {
			_, err := framework.GetACLBuilder{}.ForPath(ctx, path)
			return err
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.GetACL().InBackground(ctx, path, nil)
		}),
	reading("Sync", jute.OpSync, nil, nil,
		func(ctx context.Context, c *framework.Client, path string) error { return c.Sync().ForPath(ctx, path) },
		func(ctx context.Context, path string) error { return framework.SyncBuilder{}.ForPath(ctx, path) },
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.Sync().InBackground(ctx, path, nil)
		}),
	reading("Add", jute.OpAddWatch, nil, nil,
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.Watches().Add().ForPath(ctx, path, framework.NewWatcher(nil))
		},
		func(ctx context.Context, path string) error {
			return framework.AddWatchBuilder{}.ForPath(ctx, path, framework.NewWatcher(nil))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.Watches().Add().InBackground(ctx, path, framework.NewWatcher(nil), nil)
		}),
	removing(),
	pathless(reading("GetConfig", jute.OpGetData, nil, nil,
		func(ctx context.Context, c *framework.Client, _ string) error {
			_, err := c.GetConfig().ForEnsemble(ctx)
			return err
		},
		func(ctx context.Context, _ string) error {
			_, err := framework.GetConfigBuilder{}.ForEnsemble(ctx)
			return err
		},
		func(ctx context.Context, c *framework.Client, _ string) error {
			return c.GetConfig().InBackground(ctx, nil)
		})),
	reconfiguring(),
}

func pathless(r row) row {
	r.pathless = true
	return r
}

// removing takes a watch back that was set before; what is sent and waited for is a look at
// the root.
func removing() row {
	r := reading("Remove", jute.OpExists, nil, nil,
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.Watches().Remove().ForPath(ctx, path, framework.NewWatcher(nil))
		},
		func(ctx context.Context, path string) error {
			return framework.RemoveWatchBuilder{}.ForPath(ctx, path, nil)
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return c.Watches().Remove().InBackground(ctx, path, nil, nil)
		})
	r.prepare = func(t bench) func(ctx context.Context, c *framework.Client, path string) error {
		w := framework.NewWatcher(nil)
		_, err := t.c.CheckExists().UsingWatcher(w).ForPath(t.Context(), t.path)
		if errors.Is(err, framework.ErrNoAuth) && t.b.ExistsNeedsRead(t.T) {
			err = t.c.Watches().Add().ForPath(t.Context(), t.path, w) // needs no permission on any release
		}
		t.ok(err)
		return func(ctx context.Context, c *framework.Client, path string) error {
			return c.Watches().Remove().ForPath(ctx, path, w)
		}
	}
	return r
}

// reconfiguring is refused by these servers, when it comes so far.
func reconfiguring() row {
	r := pathless(reading("Reconfig", jute.OpReconfig, nil, nil,
		func(ctx context.Context, c *framework.Client, _ string) error {
			_, err := c.Reconfig().Leaving("1").ForEnsemble(ctx)
			return err
		},
		func(ctx context.Context, _ string) error {
			_, err := framework.ReconfigBuilder{}.Leaving("1").ForEnsemble(ctx)
			return err
		},
		func(ctx context.Context, c *framework.Client, _ string) error {
			return c.Reconfig().Leaving("1").InBackground(ctx, nil)
		}))
	r.repeat, r.write, r.usual = false, true, framework.ErrReconfigDisabled
	return r
}
