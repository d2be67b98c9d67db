package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// What is sent in one write. It is enough to make the round trip unimportant, and no more than a slow
// server does in a part of the session's timeout, because pings and proofs of the session wait behind
// it.
const (
	batchSize  = 512
	batchBytes = 1 << 20
)

func (p batchParams) do(ctx context.Context, c *Client, ops []Op) ([]OpResult, error) {
	err := checkOps(c, ops)
	if err != nil {
		return nil, err
	}
	if _, err := c.inside().Usable(ctx); err != nil {
		return nil, &OpError{Op: "batch", Err: err}
	}
	b := batch{ops: ops, calls: make([]*zkconn.Call, len(ops)), sizes: make([]int, len(ops))}
	if err := b.encode(c.inside().MaxRequest()); err != nil {
		return nil, err
	}
	err = c.inside().Run(ctx, zkclient.Operation{Name: "batch", Batch: len(ops)}, b.attempt)
	if err != nil && !b.sent && !MaybeApplied(err) {
		return nil, err
	}
	results := make([]OpResult, len(ops))
	for i, call := range b.calls {
		results[i] = outcomeOf(ops[i].inside(), call)
	}
	return results, err
}

// batch is several operations on their way, each with a request of its own.
type batch struct {
	ops   []Op
	calls []*zkconn.Call // of ops
	sizes []int          // of calls, in bytes
	sent  bool
}

// encode makes the requests. One that is too large is refused here, before any is sent.
func (b *batch) encode(limit int) error {
	var encoded []byte
	for i := range b.ops {
		op := b.ops[i].inside()
		b.calls[i] = alone(op.Multi)
		encoded = b.calls[i].Req.Append(encoded[:0])
		if b.sizes[i] = 8 + len(encoded); b.sizes[i] > limit { // behind the xid and the operation
			err := fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, b.sizes[i], limit)
			return &OpError{Op: op.Name, Path: op.Path, Err: err}
		}
	}
	return nil
}

// attempt sends everything. The missing node of a namespace is created first, normally before the first
// request, so that none fails without it while later ones succeed.
func (b *batch) attempt(ctx context.Context, conn *zkconn.Conn) error {
	unknown := views(b.ops, func(i int) bool {
		return b.ops[i].inside().Name == "create" && !b.ops[i].inside().Client.KnowsNamespace()
	})
	if _, err := ensureNamespaces(ctx, conn, unknown); err != nil {
		return err
	}
	all := make([]int, len(b.ops))
	for i := range all {
		all[i] = i
	}
	if err := b.send(ctx, conn, all); err != nil {
		return err
	}
	idle := false
	for range 5 { // as in the create of a node
		homeless := b.homeless()
		if len(homeless) == 0 {
			return nil
		}
		made, err := ensureNamespaces(ctx, conn, homeless)
		if err != nil || !made && idle {
			return err
		}
		idle = !made
		var again []int
		for i := range b.ops {
			if slices.ContainsFunc(homeless, func(in *zkclient.Client) bool { return in.Prefix() == b.ops[i].inside().Client.Prefix() }) {
				again, b.calls[i] = append(again, i), alone(b.ops[i].inside().Multi)
			}
		}
		if err := b.send(ctx, conn, again); err != nil {
			return err
		}
	}
	return nil
}

// homeless returns the views whose namespace was deleted after it was seen to exist: all their
// operations, and a create is among them, failed with ErrNoNode. They can be sent again unchanged.
func (b *batch) homeless() []*zkclient.Client {
	lost := map[string]bool{}
	for i := range b.ops {
		prefix := b.ops[i].inside().Client.Prefix()
		missing := prefix != "" && errors.Is(outcomeOf(b.ops[i].inside(), b.calls[i]).Err, ErrNoNode)
		if before, seen := lost[prefix]; !seen || before {
			lost[prefix] = missing
		}
	}
	return views(b.ops, func(i int) bool { return b.ops[i].inside().Name == "create" && lost[b.ops[i].inside().Client.Prefix()] })
}

// send sends the requests with these indexes, in order, many in one write.
func (b *batch) send(ctx context.Context, conn *zkconn.Conn, indexes []int) error {
	for rest := indexes; len(rest) > 0; {
		var calls []*zkconn.Call
		for bytes := 0; len(calls) < len(rest) && len(calls) < batchSize; {
			i := rest[len(calls)]
			if bytes += b.sizes[i]; bytes > batchBytes && calls != nil {
				break
			}
			calls = append(calls, b.calls[i])
		}
		rest = rest[len(calls):]
		if err := conn.Do(ctx, 0, calls...); err != nil {
			for _, i := range rest {
				b.calls[i].Err = zkclient.NotApplied(err)
			}
			return partly(err, b.sent)
		}
		b.sent = true
	}
	return nil
}

// partly returns err, which says that something may have been applied if an earlier write was sent.
func partly(err error, sent bool) error {
	var lost *zkconn.TransportError
	if sent && errors.As(err, &lost) {
		return &zkconn.TransportError{Err: lost.Err, Detail: lost.Detail, Sent: true}
	}
	return err
}

// alone returns the request of an operation outside of a transaction.
func alone(multi zkconn.MultiOp) *zkconn.Call {
	call := &zkconn.Call{Op: multi.Op, Req: multi.Req}
	switch multi.Op {
	case jute.OpCreate: // in a transaction the server does not answer with the Stat, here it does
		call.Op, call.Res = jute.OpCreate2, &jute.Create2Response{}
	case jute.OpCreateContainer, jute.OpCreateTTL:
		call.Res = &jute.Create2Response{}
	case jute.OpSetData:
		call.Res = &jute.StatResponse{}
	case jute.OpCheck: // a server does not answer it outside of a transaction
		call.Op, call.Req, call.Res = jute.OpMulti, &zkconn.MultiRequest{Ops: []zkconn.MultiOp{multi}}, &zkconn.MultiResponse{}
	}
	return call
}

// outcomeOf returns the outcome of a request.
func outcomeOf(op *zkclient.Op, call *zkconn.Call) OpResult {
	result := OpResult{Op: op.Name, Path: op.Path}
	if call.Err != nil {
		result.Err = &OpError{Op: op.Name, Path: op.Path, Attempts: 1, Err: call.Err}
		return result
	}
	switch res := call.Res.(type) {
	case *jute.Create2Response:
		result.Path, result.Stat = op.Client.ClientPath(res.Path), newStat(res.Stat)
	case *jute.StatResponse:
		result.Stat = newStat(res.Stat)
	case *zkconn.MultiResponse:
		if res.Failed >= 0 {
			result.Err = &OpError{Op: op.Name, Path: op.Path, Attempts: 1, Err: res.Results[res.Failed].Err}
		}
	}
	return result
}
