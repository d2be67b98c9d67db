package framework

import (
	"context"
	"errors"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

// remove deletes a node in the background until the outcome is known. With a session
// that is not zero the node is an ephemeral one of that session. It returns nil when the
// client is closed. cause is the context of what it is done for.
func (c *core) remove(cause context.Context, full string, version int32, session int64) *recipeapi.PendingDelete {
	r := &removal{core: c, full: full, session: session, requests: [][]zkconn.MultiOp{{deleteOp(full, version)}}}
	return r.start(cause)
}

// release is remove with what goes with it. If there is a connection, the first request is
// queued on it before release returns.
func (c *core) release(cause context.Context, full string, session int64, with recipeapi.Release) *recipeapi.PendingDelete {
	r := &removal{
		core: c, full: full, session: session, requests: releaseRequests(full, with), nameShared: with.NameShared,
	}
	return r.start(cause)
}

// releaseRequests returns the requests that delete a node, the best one first: with the holder record
// and the marker, without the marker, and the node alone.
func releaseRequests(full string, with recipeapi.Release) (requests [][]zkconn.MultiOp) {
	var record []zkconn.MultiOp
	node := deleteOp(full, anyVersion)
	if with.HolderRecord != "" {
		record = append(record, deleteOp(with.HolderRecord, with.RecordVersion))
	}
	if with.Marker != "" {
		create := zkconn.MultiOp{Op: jute.OpCreate, Req: &jute.CreateRequest{Path: with.Marker, ACL: openACL}}
		requests = append(requests, append(slices.Clone(record), create, deleteOp(with.Marker, anyVersion), node))
	}
	if record != nil {
		requests = append(requests, append(record, node))
	}
	return append(requests, []zkconn.MultiOp{node})
}

func deleteOp(path string, version int32) zkconn.MultiOp {
	return zkconn.MultiOp{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: path, Version: version}}
}

// removal is the deletion of one node.
type removal struct {
	core     *core
	full     string
	session  int64              // whose ephemeral node it is; 0 for any node
	requests [][]zkconn.MultiOp // the first one is tried, until the server refuses it
	pending  recipeapi.PendingDelete
	op       backgroundDelete
	doubt    bool // an earlier try may have deleted the node
	over     bool // the session has ended: if the node is gone, the server may have deleted it

	nameShared bool // see recipeapi.Release
}

// start sends the first request, if there is a connection. If the server confirms that one, as
// it almost always does, no goroutine is needed.
func (r *removal) start(cause context.Context) *recipeapi.PendingDelete {
	c, conn := r.core, r.core.conn.Load()
	r.op = c.background(cause, conn, r.full, len(r.requests[0])) // may panic in a user's tracer
	if !c.beginRemoval() {
		r.op.end(0, ErrClosed)
		return nil
	}
	r.pending.Done = make(chan struct{})
	first := r.newRequest()
	var then func(*zkconn.Flight)
	if !r.op.seen {
		then = func(f *zkconn.Flight) {
			if first.take(f.Wait(c.life)); first.err == nil {
				r.end(nil)
			} else {
				go r.goOn(first)
			}
		}
	}
	flight, queued := conn.Start(r.session, then, &first.call)
	if then == nil || !queued {
		go func() {
			first.take(flight.Wait(r.op.ctx))
			r.goOn(first)
		}()
	}
	return &r.pending
}

// goOn repeats the delete until its outcome is known. The answer to the first request is known.
func (r *removal) goOn(first *deleteRequest) {
	r.end(r.op.untilKnown(func(ctx context.Context, conn *zkconn.Conn) error {
		sent := first
		if first = nil; sent == nil {
			sent = r.send(ctx, conn)
		}
		return r.try(ctx, conn, sent)
	}))
}

// end tells the outcome.
func (r *removal) end(err error) {
	switch missing := errors.Is(err, ErrNoNode); {
	case err == nil, missing && r.doubt && !r.over:
		r.pending.Outcome = recipeapi.RemovalConfirmed
	case missing:
		r.pending.Outcome = recipeapi.RemovalMissing
	default:
		r.pending.Outcome, r.pending.Err = recipeapi.RemovalGivenUp, err
		r.core.giveUp("delete "+r.full, err)
	}
	close(r.pending.Done)
	r.core.endRemoval()
}

// deleteRequest is one request to delete a node, and its answer.
type deleteRequest struct {
	ops  []zkconn.MultiOp
	call zkconn.Call
	res  zkconn.MultiResponse
	err  error
	// refused says that the server refuses another part of the transaction, although the node may
	// be there.
	refused bool
}

// newRequest returns the first one of r.requests, to be sent.
func (r *removal) newRequest() *deleteRequest {
	d := &deleteRequest{ops: r.requests[0]}
	if len(d.ops) == 1 {
		d.call.Op, d.call.Req = jute.OpDelete, d.ops[0].Req
	} else {
		d.call.Op, d.call.Req, d.call.Res = jute.OpMulti, &zkconn.MultiRequest{Ops: d.ops}, &d.res
	}
	return d
}

// send sends the first one of r.requests, and waits for the answer.
func (r *removal) send(ctx context.Context, conn *zkconn.Conn) *deleteRequest {
	d := r.newRequest()
	session := r.session
	if r.over {
		session = 0
	}
	d.take(conn.Do(ctx, session, &d.call))
	return d
}

// take notes the answer to the request. err is the error of the connection.
func (d *deleteRequest) take(err error) {
	last := len(d.ops) - 1
	switch {
	case err != nil:
		d.err = err
	case d.call.Err != nil:
		d.err, d.refused = d.call.Err, last > 0 && !Retryable(d.call.Err)
	case last > 0 && d.res.Failed >= 0:
		d.err = d.res.Results[d.res.Failed].Err
		d.refused = d.res.Failed != last || !errors.Is(d.err, ErrNoNode)
	}
}

// try returns the outcome of a request that was sent. If another request may succeed it sends that first.
func (r *removal) try(ctx context.Context, conn *zkconn.Conn, sent *deleteRequest) error {
	for {
		switch {
		case sent.refused:
			r.requests = r.requests[1:]
		case r.session != 0 && !r.over && errors.Is(sent.err, ErrSessionExpired):
			// The server will remove the node; a delete is quicker.
			r.over, r.requests = true, r.requests[len(r.requests)-1:]
			if r.nameShared {
				return ErrNoNode
			}
		default:
			r.doubt = r.doubt || MaybeApplied(sent.err)
			return sent.err
		}
		sent = r.send(ctx, conn)
	}
}
