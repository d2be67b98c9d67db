package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// What travels in one write: enough for the round trip not to count, and no more than a slow
// server does in a part of the session's timeout: pings wait behind it, and with them the
// belief in the session.
const (
	batchSize  = 512
	batchBytes = 1 << 20
)

func (p batchParams) do(ctx context.Context, c *Client, ops []Op) ([]OpResult, error) {
	err := checkOps(c, ops)
	if err != nil {
		return nil, err
	}
	if _, err := c.started(ctx); err != nil {
		return nil, &OpError{Op: "batch", Err: err}
	}
	writes, err := c.writes(ops)
	if err != nil {
		return nil, err
	}
	sent := false
	err = c.run(ctx, operation{name: "batch", batch: len(ops)}, func(ctx context.Context, conn *zkconn.Conn) error {
		for i, calls := range writes {
			if err := conn.Do(ctx, 0, calls...); err != nil {
				for _, call := range slices.Concat(writes[i+1:]...) {
					call.Err = harmless(err)
				}
				return partly(err, sent)
			}
			sent = true
		}
		return nil
	})
	if err != nil && !sent && !MaybeApplied(err) {
		return nil, err
	}
	results := make([]OpResult, len(ops))
	for i, call := range slices.Concat(writes...) {
		results[i] = ops[i].outcome(call)
	}
	return results, err
}

// writes returns the requests, those of one write together. One that is too large is
// refused here, before any is sent.
func (c *Client) writes(ops []Op) (writes [][]*zkconn.Call, err error) {
	var encoded []byte
	var calls []*zkconn.Call
	bytes := 0
	for _, op := range ops {
		call := op.alone()
		encoded = call.Req.Append(encoded[:0])
		size := 8 + len(encoded) // behind the xid and the operation
		if limit := c.core.cfg.maxData; size > limit {
			err := fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, limit)
			return nil, &OpError{Op: op.name, Path: op.path, Err: err}
		}
		if len(calls) == batchSize || bytes+size > batchBytes {
			writes, calls, bytes = append(writes, calls), nil, 0
		}
		calls, bytes = append(calls, call), bytes+size
	}
	if calls != nil {
		writes = append(writes, calls)
	}
	return writes, nil
}

// partly is err, which says that something may have been applied if something was.
func partly(err error, sent bool) error {
	var lost *zkconn.TransportError
	if sent && errors.As(err, &lost) {
		return &zkconn.TransportError{Err: lost.Err, Detail: lost.Detail, Sent: true}
	}
	return err
}

// alone returns the request of an operation that is sent by itself.
func (op *Op) alone() *zkconn.Call {
	call := &zkconn.Call{Op: op.multi.Op, Req: op.multi.Req}
	switch op.multi.Op {
	case jute.OpCreate: // so it is in a transaction, where the server does not answer with the Stat
		call.Op, call.Res = jute.OpCreate2, &jute.Create2Response{}
	case jute.OpCreateContainer, jute.OpCreateTTL:
		call.Res = &jute.Create2Response{}
	case jute.OpSetData:
		call.Res = &jute.StatResponse{}
	case jute.OpCheck: // a server does not answer it outside of a transaction
		call.Op, call.Req, call.Res = jute.OpMulti, &zkconn.MultiRequest{Ops: []zkconn.MultiOp{op.multi}}, &zkconn.MultiResponse{}
	}
	return call
}

// outcome returns what came of the request.
func (op *Op) outcome(call *zkconn.Call) OpResult {
	result := OpResult{Op: op.name, Path: op.path}
	if call.Err != nil {
		result.Err = &OpError{Op: op.name, Path: op.path, Attempts: 1, Err: call.Err}
		return result
	}
	switch res := call.Res.(type) {
	case *jute.Create2Response:
		result.Path, result.Stat = op.client.unfix(res.Path), newStat(res.Stat)
	case *jute.StatResponse:
		result.Stat = newStat(res.Stat)
	case *zkconn.MultiResponse:
		if res.Failed >= 0 {
			result.Err = &OpError{Op: op.name, Path: op.path, Attempts: 1, Err: res.Results[res.Failed].Err}
		}
	}
	return result
}
