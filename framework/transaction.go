package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// TransactionOp starts one operation of a transaction.
//
// Java: transactionOp.
func (c *Client) TransactionOp() TransactionOp { return TransactionOp{c} }

// TransactionOp has the operations that a transaction can hold.
type TransactionOp struct{ c *Client }

// Check starts a test of a node's version. Java: transactionOp().check().
func (t TransactionOp) Check() CheckOp { return CheckOp{c: t.c, version: anyVersion} }

// CheckOp tests that a node exists and, optionally, is at a version.
type CheckOp struct {
	c       *Client
	version int32
}

// WithVersion makes the check fail unless the node is at this version.
func (o CheckOp) WithVersion(version int32) CheckOp {
	o.version = version
	return o
}

// ForPath completes the operation.
func (o CheckOp) ForPath(path string) Op {
	return newOp(o.c, "check", path, false, func(full string) (zkconn.MultiOp, error) {
		if o.version < anyVersion {
			return zkconn.MultiOp{}, noVersion(o.version)
		}
		return zkconn.MultiOp{Op: jute.OpCheck, Req: &jute.CheckVersionRequest{Path: full, Version: o.version}}, nil
	})
}

// Op is one operation of a transaction, bound to the client it was made by. The zero Op
// is refused by the commit.
type Op struct {
	core       *core
	client     *Client
	name, path string
	multi      zkconn.MultiOp
	err        error
}

// OpResult is the outcome of one operation of a transaction or a batch.
//
// Java: CuratorTransactionResult.
type OpResult struct {
	Op   string // "create", "delete", "setData", "check"
	Path string // the actual path for a create
	// Stat is that of setDatas and creates. In a transaction the server tells it of no
	// creates but those of containers and of nodes with a time to live.
	Stat Stat
	Err  error // of an operation in a batch; a transaction fails as a whole
}

func newOp(c *Client, name, path string, sequential bool, multi func(full string) (zkconn.MultiOp, error)) Op {
	op := Op{client: c, name: name, path: path, err: ErrNotStarted}
	if c == nil || c.core == nil {
		return op
	}
	op.core = c.core
	var full string
	if full, op.err = c.fix(path, sequential); op.err == nil {
		op.multi, op.err = multi(full)
	}
	return op
}

func (p createParams) op(c *Client, path string) Op {
	return newOp(c, "create", path, p.mode.sequential(), func(full string) (zkconn.MultiOp, error) {
		if err := p.check(); err != nil {
			return zkconn.MultiOp{}, err
		}
		data, acl, err := p.contents(c, full)
		if err != nil {
			return zkconn.MultiOp{}, err
		}
		op, req := p.request(full, data, acl)
		if op == jute.OpCreate2 {
			op = jute.OpCreate // as Java: in a multi the server does not answer with the Stat
		}
		return zkconn.MultiOp{Op: op, Req: req}, nil
	})
}

func (p deleteParams) op(c *Client, path string) Op {
	return newOp(c, "delete", path, false, func(full string) (zkconn.MultiOp, error) {
		if p.wanted() < anyVersion {
			return zkconn.MultiOp{}, noVersion(p.version)
		}
		if err := c.SchemaSet().ValidateDelete(path); err != nil {
			return zkconn.MultiOp{}, err
		}
		return zkconn.MultiOp{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: full, Version: p.wanted()}}, nil
	})
}

func (p setDataParams) op(c *Client, path string, data []byte) Op {
	return newOp(c, "setData", path, false, func(full string) (zkconn.MultiOp, error) {
		s, err := p.write(c, full, data)
		if err != nil {
			return zkconn.MultiOp{}, err
		}
		return zkconn.MultiOp{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: full, Data: s.data, Version: s.version}}, nil
	})
}

// checkOps returns the first mistake that was made in the operations.
func checkOps(c *Client, ops []Op) error {
	for i, op := range ops {
		err := op.err
		switch {
		case op.name == "":
			err = fmt.Errorf("%w: operation %d is the zero Op", ErrInvalidBuilder, i)
		case err == nil && (c == nil || op.core != c.core):
			err = fmt.Errorf("%w: operation %d was made by another client", ErrInvalidBuilder, i)
		}
		if err != nil {
			return &OpError{Op: op.name, Path: op.path, Err: err}
		}
	}
	return nil
}

func (p transactionParams) do(ctx context.Context, c *Client, ops []Op) ([]OpResult, error) {
	if err := checkOps(c, ops); err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return nil, &OpError{Op: "multi", Err: fmt.Errorf("%w: a transaction without operations", ErrInvalidBuilder)}
	}
	multi := &zkconn.MultiRequest{}
	for _, op := range ops {
		multi.Ops = append(multi.Ops, op.multi)
	}
	var res zkconn.MultiResponse
	err := c.run(ctx, operation{name: "multi", batch: len(ops)}, func(ctx context.Context, conn *zkconn.Conn) error {
		res = zkconn.MultiResponse{}
		call := &zkconn.Call{Op: jute.OpMulti, Req: multi, Res: &res}
		if err := doOnSession(ctx, conn, call); err != nil {
			return err
		}
		if call.Err == nil && refused(ops, &res) {
			return res.Results[res.Failed].Err
		}
		return call.Err
	})
	if err != nil && !refused(ops, &res) {
		return nil, err
	}
	return transactionResults(ops, &res)
}

// refused tells whether the server has answered that an operation cannot be done.
func refused(ops []Op, res *zkconn.MultiResponse) bool {
	return len(res.Results) == len(ops) && res.Failed >= 0
}

func transactionResults(ops []Op, res *zkconn.MultiResponse) ([]OpResult, error) {
	if len(res.Results) != len(ops) {
		return nil, &OpError{Op: "multi", Err: errors.New("the server answered another number of operations")}
	}
	if i := res.Failed; i >= 0 {
		return nil, &OpError{Op: ops[i].name, Path: ops[i].path, Attempts: 1, Err: res.Results[i].Err}
	}
	results := make([]OpResult, len(ops))
	for i, r := range res.Results {
		results[i] = OpResult{Op: ops[i].name, Path: ops[i].path}
		switch ops[i].name {
		case "create":
			results[i].Path, results[i].Stat = ops[i].client.unfix(r.Path), newStat(r.Stat)
		case "setData":
			results[i].Stat = newStat(r.Stat)
		}
	}
	return results, nil
}
