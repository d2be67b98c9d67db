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

// release is remove with what goes with it. The first request is sent before release returns.
func (c *core) release(cause context.Context, full string, session int64, with recipeapi.Release) *recipeapi.PendingDelete {
	r := &removal{core: c, full: full, session: session, requests: releaseRequests(full, with)}
	return r.start(cause)
}

// releaseRequests returns the requests that delete a node, the best one first: with all that
// goes with it, without the marker, and alone.
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
	doubt    bool               // an earlier try may have deleted the node
	over     bool               // the session has ended: what the server did since is not our doing
}

// start sends the first request, if there is a connection, and has the rest done in the
// background.
func (r *removal) start(cause context.Context) *recipeapi.PendingDelete {
	c, conn := r.core, r.core.conn.Load()
	pending := &recipeapi.PendingDelete{Done: make(chan struct{})}
	op := c.background(cause, conn, r.full, len(r.requests[0]))
	first := r.send(conn)
	if !c.startRemoval(func() {
		defer close(pending.Done)
		err := op.untilKnown(func(ctx context.Context, conn *zkconn.Conn) error {
			sent := first
			if first = nil; sent == nil {
				sent = r.send(conn)
			}
			return r.try(ctx, conn, sent)
		})
		switch missing := errors.Is(err, ErrNoNode); {
		case err == nil, missing && r.doubt && !r.over:
			pending.Outcome = recipeapi.RemovalConfirmed
		case missing:
			pending.Outcome = recipeapi.RemovalMissing
		default:
			pending.Outcome, pending.Err = recipeapi.RemovalGivenUp, err
			c.giveUp("delete "+r.full, err)
		}
	}) {
		op.end(0, ErrClosed)
		return nil
	}
	return pending
}

// deleteRequest is a request that was started.
type deleteRequest struct {
	ops    []zkconn.MultiOp
	call   zkconn.Call
	res    zkconn.MultiResponse
	flight *zkconn.Flight
}

// send starts the first of the requests.
func (r *removal) send(conn *zkconn.Conn) *deleteRequest {
	d := &deleteRequest{ops: r.requests[0]}
	if len(d.ops) == 1 {
		d.call.Op, d.call.Req = jute.OpDelete, d.ops[0].Req
	} else {
		d.call.Op, d.call.Req, d.call.Res = jute.OpMulti, &zkconn.MultiRequest{Ops: d.ops}, &d.res
	}
	session := r.session
	if r.over {
		session = 0
	}
	d.flight = conn.Start(session, &d.call)
	return d
}

// answer waits for the answer. refused reports that the server does not want what goes with
// the delete, although the node may be there.
func (d *deleteRequest) answer(ctx context.Context) (refused bool, err error) {
	if err := d.flight.Wait(ctx); err != nil {
		return false, err
	}
	last, err := len(d.ops)-1, d.call.Err
	if err != nil {
		return last > 0 && !Retryable(err), err
	}
	if last == 0 || d.res.Failed < 0 {
		return false, nil
	}
	err = d.res.Results[d.res.Failed].Err
	return d.res.Failed != last || !errors.Is(err, ErrNoNode), err
}

// try waits for the answer to a request, and sends another one at once if that may help.
func (r *removal) try(ctx context.Context, conn *zkconn.Conn, sent *deleteRequest) error {
	for {
		refused, err := sent.answer(ctx)
		switch {
		case refused:
			r.requests = r.requests[1:]
		case r.session != 0 && !r.over && errors.Is(err, ErrSessionExpired):
			// The server removes the node, by and by: this is to be quicker.
			r.over, r.requests = true, r.requests[len(r.requests)-1:]
		default:
			r.doubt = r.doubt || MaybeApplied(err)
			return err
		}
		sent = r.send(conn)
	}
}
