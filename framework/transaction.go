package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
)

// TransactionOp starts one operation of a transaction.
//
// Java: transactionOp.
func (c *Client) TransactionOp() TransactionOp { return TransactionOp{c} }

// TransactionOp has the operations that a transaction can hold.
type TransactionOp struct{ c *Client }

// Check starts a test of a node's version. Java: transactionOp().check().
func (t TransactionOp) Check() CheckOp { return CheckOp{c: t.c, version: zkclient.AnyVersion} }

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
		if o.version < zkclient.AnyVersion {
			return zkconn.MultiOp{}, noVersion(o.version)
		}
		return zkconn.MultiOp{Op: jute.OpCheck, Req: &jute.CheckVersionRequest{Path: full, Version: o.version}}, nil
	})
}

// Op is one operation of a transaction, bound to the client it was made by. The zero Op
// is refused by the commit.
type Op struct {
	opHandle // leads the recipes to the inside
}

// opHandle has no exported method, so that only packages of this module get to the inside.
type opHandle = zkclient.OpHandle

// inside returns what the operation is made of.
func (o *Op) inside() *zkclient.Op { return zkclient.OpOf(o) }

func newOp(c *Client, name, path string, sequential bool, multi func(full string) (zkconn.MultiOp, error)) Op {
	op := zkclient.Op{Client: c.inside(), Name: name, Path: path}
	var full string
	if full, op.Err = op.Client.Fix(path, sequential); op.Err == nil {
		op.Multi, op.Err = multi(full)
	}
	return Op{zkclient.NewOpHandle(op)}
}

// views returns the views that have made the operations that fit, each namespace once.
func views(ops []Op, fits func(i int) bool) []*zkclient.Client {
	var some []*zkclient.Client
	seen := map[string]bool{}
	for i := range ops {
		if in := ops[i].inside().Client; in.Prefix() != "" && !seen[in.Prefix()] && fits(i) {
			seen[in.Prefix()] = true
			some = append(some, in)
		}
	}
	return some
}

// ensureNamespaces creates the missing nodes of several namespaces, and reports whether any was missing.
func ensureNamespaces(ctx context.Context, conn *zkconn.Conn, views []*zkclient.Client) (made bool, err error) {
	for _, in := range views {
		some, err := in.EnsureNamespace(ctx, conn)
		if err != nil {
			return false, err
		}
		made = made || some
	}
	return made, nil
}

// checkOps returns the first mistake that was made in the operations.
func checkOps(c *Client, ops []Op) error {
	for i := range ops {
		op := ops[i].inside()
		if err := c.inside().Refused(i, op); err != nil {
			return &OpError{Op: op.Name, Path: op.Path, Err: err}
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
	t := commit{ops: ops, in: c.inside()}
	if p.idempotent {
		if err := t.repeatable(); err != nil {
			return nil, err
		}
	}
	if p.idempotent {
		ctx = retry.Detach(ctx) // what is known of a lost reply is lost with this call: an outer loop cannot repeat it
	}
	err := t.in.Run(ctx, zkclient.Operation{Name: "multi", Batch: len(ops), Repeat: p.idempotent}, t.attempt)
	switch {
	case err != nil && t.repetition.Lost():
		return nil, t.doubtful(err)
	case err != nil && !t.refused():
		return nil, err
	}
	return t.results()
}

// commit is a transaction on its way.
type commit struct {
	in         *zkclient.Client
	ops        []Op
	res        zkconn.MultiResponse
	zxid       int64                // of the answer, 0 without one
	repetition *zkclient.Repetition // nil if it must not be repeated
}

// repeatable prepares the commit for its repetition, or returns why it must not be repeated.
func (t *commit) repeatable() error {
	for i := range t.ops {
		op := t.ops[i].inside()
		if err := op.Repeatable(); err != nil {
			return &OpError{Op: op.Name, Path: op.Path, Err: err}
		}
	}
	var err error
	if t.repetition, err = zkclient.NewRepetition(t.request().Ops); err != nil {
		return &OpError{Op: "multi", Err: err}
	}
	return nil
}

// doubtful returns the error of a transaction of which a reply was lost, and which may have been applied. It is not
// retryable: another call would not know that. err is that of Run. If the server has refused the repetition for
// good, the error is that of the operation.
func (t *commit) doubtful(err error) error {
	failed := &OpError{Op: "multi", Err: err}
	if run, ok := errors.AsType[*OpError](err); ok {
		failed.Attempts, failed.Err = run.Attempts, run.Err
	}
	if t.refused() {
		if why := t.res.Results[t.res.Failed].Err; !zkclient.Retryable(why) {
			op := t.ops[t.res.Failed].inside()
			failed.Op, failed.Path, failed.Err = op.Name, op.Path, why
		}
	}
	failed.outcome = zkclient.Doubtful()
	return failed
}

// attempt is one try. If the server refuses a repetition, it looks whether an earlier try was applied.
func (t *commit) attempt(ctx context.Context, conn *zkconn.Conn) error {
	if t.repetition == nil {
		return t.try(ctx, conn)
	}
	t.repetition.Begin(conn)
	err := t.try(ctx, conn)
	if err == nil {
		return nil
	}
	applied, known, err := t.repetition.Judge(ctx, conn, err, t.refused(), t.zxid)
	switch {
	case applied != nil:
		t.res = zkconn.MultiResponse{Results: applied, Failed: -1}
	case !known:
		t.res = zkconn.MultiResponse{}
	}
	return err
}

// try sends the transaction. If it fails because a namespace's node is missing, it creates that node
// first.
func (t *commit) try(ctx context.Context, conn *zkconn.Conn) error {
	err := t.send(ctx, conn)
	idle := false
	for range 5 { // as in the create of a node
		homeless := t.homeless()
		if len(homeless) == 0 {
			return err
		}
		made, failed := ensureNamespaces(ctx, conn, homeless)
		if failed != nil {
			t.res = zkconn.MultiResponse{}
			return failed
		}
		if !made && idle { // a node below the namespace is missing
			return err
		}
		idle = !made
		err = t.send(ctx, conn)
	}
	return err
}

// homeless returns the views whose namespace may be the missing node: those of all creates, if one of
// them has failed because its parent is missing.
func (t *commit) homeless() []*zkclient.Client {
	if !t.refused() {
		return nil
	}
	failed := t.ops[t.res.Failed].inside()
	if failed.Name != "create" || failed.Client.Prefix() == "" || !errors.Is(t.res.Results[t.res.Failed].Err, ErrNoNode) {
		return nil
	}
	return views(t.ops, func(i int) bool { return t.ops[i].inside().Name == "create" })
}

func (t *commit) request() *zkconn.MultiRequest {
	multi := &zkconn.MultiRequest{}
	for i := range t.ops {
		multi.Ops = append(multi.Ops, t.ops[i].inside().Multi)
	}
	return multi
}

func (t *commit) send(ctx context.Context, conn *zkconn.Conn) error {
	t.res = zkconn.MultiResponse{}
	call := &zkconn.Call{Op: jute.OpMulti, Req: t.request(), Res: &t.res}
	err := t.in.DoOnSession(ctx, conn, "multi", call)
	if t.zxid = call.Zxid; err != nil {
		return err
	}
	if call.Err == nil && t.refused() {
		return t.res.Results[t.res.Failed].Err
	}
	return call.Err
}

// refused tells whether the server has answered that an operation cannot be done.
func (t *commit) refused() bool {
	return len(t.res.Results) == len(t.ops) && t.res.Failed >= 0
}

// results returns the outcomes of the operations.
func (t *commit) results() (results []OpResult, err error) {
	if len(t.res.Results) != len(t.ops) {
		return nil, &OpError{Op: "multi", Err: errors.New("the server answered another number of operations")}
	}
	results = make([]OpResult, len(t.ops))
	for i, r := range t.res.Results {
		op := t.ops[i].inside()
		result := OpResult{Op: op.Name, Path: op.Path}
		switch {
		case i == t.res.Failed:
			err = &OpError{Op: op.Name, Path: op.Path, Attempts: 1, Err: r.Err}
			result.Err = err
		case t.res.Failed >= 0:
			result.Err = &OpError{Op: op.Name, Path: op.Path, Attempts: 1, Err: ErrRolledBack}
		case op.Name == "create":
			result.Path, result.Stat = op.Client.ClientPath(r.Path), newStat(r.Stat)
		case op.Name == "setData":
			result.Stat = newStat(r.Stat)
		}
		results[i] = result
	}
	return results, err
}
