package framework_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
)

// row is one way of using a builder.
type row struct {
	builder string // in the specification
	step    string
	op      jute.Op // what is sent
	node    bool    // there is a node, with the data "old"; else its parent alone
	pathless,
	repeat, // it is repeated after a lost reply
	write bool
	call    func(ctx context.Context, c *framework.Client, path string) error
	prepare func(t bench) func(ctx context.Context, c *framework.Client, path string) error
	usual   error  // what comes of it where nothing is wrong
	after   string // what the node is then; "" as before
	twice   string // and if it was done a second time; "" as the first time
	missing error  // where there is no node, for creates no parent
	noAuth  error  // where others' nodes are closed
	version func(ctx context.Context, c *framework.Client, path string) error
	zero    func(ctx context.Context, path string) error
	later   func(ctx context.Context, c *framework.Client, path string) error
}

func (r row) name() string { return r.builder + r.step }

var (
	newData = []byte("new")
	open    = framework.OpenACLUnsafe()
)

// creating returns a row for a kind of create.
func creating(step string, op jute.Op, repeat bool, with func(b framework.CreateBuilder) framework.CreateBuilder) row {
	return row{
		builder: "Create", step: step, op: op, repeat: repeat, write: true, after: "new v0 a0 c0",
		missing: framework.ErrNoNode, noAuth: framework.ErrNoAuth,
		call: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := with(c.Create().WithData(newData)).ForPath(ctx, path)
			return err
		},
		zero: func(ctx context.Context, path string) error {
			_, err := with(framework.CreateBuilder{}).ForPath(ctx, path)
			return err
		},
		later: func(ctx context.Context, c *framework.Client, path string) error {
			return with(c.Create()).InBackground(ctx, path, nil)
		},
	}
}

// deleting returns a row for a kind of delete.
func deleting(step string, with func(b framework.DeleteBuilder) framework.DeleteBuilder) row {
	return row{
		builder: "Delete", step: step, op: jute.OpDelete, node: true, repeat: true, write: true, after: "none",
		missing: framework.ErrNoNode, noAuth: framework.ErrNoAuth,
		call: func(ctx context.Context, c *framework.Client, path string) error {
			return with(c.Delete()).ForPath(ctx, path)
		},
		version: func(ctx context.Context, c *framework.Client, path string) error {
			return with(c.Delete().WithVersion(5)).ForPath(ctx, path)
		},
		zero: func(ctx context.Context, path string) error {
			return with(framework.DeleteBuilder{}).ForPath(ctx, path)
		},
		later: func(ctx context.Context, c *framework.Client, path string) error {
			return with(c.Delete()).InBackground(ctx, path, nil)
		},
	}
}

// setting returns a row for a kind of setData.
func setting(step string, repeat bool, with func(b framework.SetDataBuilder) framework.SetDataBuilder) row {
	return row{
		builder: "SetData", step: step, op: jute.OpSetData, node: true, repeat: repeat, write: true, after: "new v1 a0 c0",
		missing: framework.ErrNoNode, noAuth: framework.ErrNoAuth,
		call: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := with(c.SetData()).ForPath(ctx, path, newData)
			return err
		},
		version: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := with(c.SetData()).WithVersion(5).ForPath(ctx, path, newData)
			return err
		},
		zero: func(ctx context.Context, path string) error {
			_, err := with(framework.SetDataBuilder{}).ForPath(ctx, path, nil)
			return err
		},
		later: func(ctx context.Context, c *framework.Client, path string) error {
			return with(c.SetData()).InBackground(ctx, path, nil, nil)
		},
	}
}

var rows = append([]row{
	creating("", jute.OpCreate2, false, func(b framework.CreateBuilder) framework.CreateBuilder { return b }),
	creating(".Container", jute.OpCreateContainer, false, func(b framework.CreateBuilder) framework.CreateBuilder {
		return b.WithMode(framework.Container)
	}),
	creating(".WithTTL", jute.OpCreateTTL, false, func(b framework.CreateBuilder) framework.CreateBuilder {
		return b.WithMode(framework.PersistentWithTTL).WithTTL(time.Hour)
	}),
	orSetting(),
	creating(".OrSetDataVersion", jute.OpCreate2, false, func(b framework.CreateBuilder) framework.CreateBuilder {
		return b.OrSetDataVersion(5)
	}),
	creating(".Idempotent", jute.OpCreate2, true, framework.CreateBuilder.Idempotent),
	protected(),
	deleting("", func(b framework.DeleteBuilder) framework.DeleteBuilder { return b }),
	deleting(".DeletingChildrenIfNeeded", framework.DeleteBuilder.DeletingChildrenIfNeeded),
	quietly(),
	setting("", false, func(b framework.SetDataBuilder) framework.SetDataBuilder { return b }),
	setting(".Idempotent", true, func(b framework.SetDataBuilder) framework.SetDataBuilder {
		return b.WithVersion(0).Idempotent()
	}),
	{
		builder: "SetACL", op: jute.OpSetACL, node: true, write: true, after: "old v0 a1 c0",
		missing: framework.ErrNoNode, noAuth: framework.ErrNoAuth,
		call: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.SetACL().ForPath(ctx, path, open)
			return err
		},
		version: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.SetACL().WithVersion(5).ForPath(ctx, path, open)
			return err
		},
		zero: func(ctx context.Context, path string) error {
			_, err := framework.SetACLBuilder{}.ForPath(ctx, path, open)
			return err
		},
		later: func(ctx context.Context, c *framework.Client, path string) error {
			return c.SetACL().InBackground(ctx, path, open, nil)
		},
	},
	{
		builder: "Transaction", op: jute.OpMulti, node: true, write: true, after: "new v1 a0 c0",
		missing: framework.ErrNoNode, noAuth: framework.ErrNoAuth,
		call: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.Transaction().ForOperations(ctx, c.TransactionOp().SetData().ForPath(path, newData))
			return err
		},
		version: func(ctx context.Context, c *framework.Client, path string) error {
			_, err := c.Transaction().ForOperations(ctx, c.TransactionOp().SetData().ForPath(path, newData),
				c.TransactionOp().Check().WithVersion(5).ForPath(path))
			return err
		},
		zero: func(ctx context.Context, path string) error {
			_, err := framework.TransactionBuilder{}.ForOperations(ctx, framework.TransactionOp{}.Delete().ForPath(path))
			return err
		},
		later: func(ctx context.Context, c *framework.Client, path string) error {
			return c.Transaction().InBackground(ctx, []framework.Op{c.TransactionOp().Delete().ForPath(path)}, nil)
		},
	},
	{
		builder: "Batch", op: jute.OpSetData, node: true, write: true, after: "new v1 a0 c0",
		missing: framework.ErrNoNode, noAuth: framework.ErrNoAuth,
		call: func(ctx context.Context, c *framework.Client, path string) error {
			return alone(c.Batch().ForOperations(ctx, c.TransactionOp().SetData().ForPath(path, newData)))
		},
		version: func(ctx context.Context, c *framework.Client, path string) error {
			return alone(c.Batch().ForOperations(ctx, c.TransactionOp().SetData().WithVersion(5).ForPath(path, newData)))
		},
		zero: func(ctx context.Context, path string) error {
			return alone(framework.BatchBuilder{}.ForOperations(ctx, framework.TransactionOp{}.Delete().ForPath(path)))
		},
		later: func(ctx context.Context, c *framework.Client, path string) error {
			return c.Batch().InBackground(ctx, []framework.Op{c.TransactionOp().Delete().ForPath(path)}, nil)
		},
	},
}, readRows...)

// alone returns the error of the one operation of a batch.
func alone(results []framework.OpResult, err error) error {
	if err == nil {
		err = results[0].Err
	}
	return err
}

// protected creates a child, whose name is not known before.
func protected() row {
	r := creating(".WithProtection", jute.OpCreate2, true, framework.CreateBuilder.WithProtection)
	r.node, r.after = true, "old v0 a0 c1"
	call := r.call
	r.call = func(ctx context.Context, c *framework.Client, path string) error { return call(ctx, c, path+"/n") }
	return r
}

// orSetting is another write if the first was not heard of.
func orSetting() row {
	r := creating(".OrSetData", jute.OpCreate2, true, framework.CreateBuilder.OrSetData)
	r.twice = "new v1 a0 c0"
	return r
}

func quietly() row {
	r := deleting(".Quietly", framework.DeleteBuilder.Quietly)
	r.missing = nil
	return r
}
