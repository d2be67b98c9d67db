package framework

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// batchSize is how many operations travel in one write: enough for the round trip not to
// count, and no more than a server has to hold for a client.
const batchSize = 4096

func (p batchParams) do(ctx context.Context, c *Client, ops []Op) ([]OpResult, error) {
	if err := checkOps(c, ops); err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return nil, nil
	}
	calls := make([]*zkconn.Call, len(ops))
	for i, op := range ops {
		calls[i] = op.alone()
	}
	sent := false
	err := c.run(ctx, operation{name: "batch"}, func(ctx context.Context, conn *zkconn.Conn) error {
		for at := 0; at < len(calls); at += batchSize {
			if err := conn.Do(ctx, 0, calls[at:min(at+batchSize, len(calls))]...); err != nil {
				for _, rest := range calls[min(at+batchSize, len(calls)):] {
					rest.Err = err
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
	for i, op := range ops {
		results[i] = op.outcome(calls[i])
	}
	return results, err
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
