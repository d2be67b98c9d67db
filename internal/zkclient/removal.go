package zkclient

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// Removal is a delete in the background that goes on until its outcome is known.
type Removal struct {
	// Done is closed when the outcome is known, or when the client was closed.
	Done chan struct{}
	// Outcome is set before Done is closed.
	Outcome RemovalOutcome
	// Err is why it was given up, with RemovalGivenUp.
	Err error
}

// RemovalOutcome is how a Removal ended.
type RemovalOutcome int

// The outcomes.
const (
	// RemovalConfirmed: the node was there until we deleted it. That is also certain if a reply was
	// lost and the node is gone while its session lives.
	RemovalConfirmed RemovalOutcome = iota + 1
	// RemovalMissing: the node was gone already.
	RemovalMissing
	// RemovalGivenUp: the server refuses the delete, or the client was closed.
	RemovalGivenUp
)

// Remove deletes an ephemeral node of a session for certain, in the background, as a part of the trace of
// cause, which may be nil, and whose end does not matter. A session of 0 is any, for a node that may be any.
// It returns nil when the client is closed.
func (c *Client) Remove(cause context.Context, full string, session int64) *Removal {
	return c.Release(cause, full, session, [][]zkconn.MultiOp{{zkconn.DeleteOp(full, AnyVersion)}}, false)
}

// RemoveVersion is Remove of any node that is at a version.
func (c *Client) RemoveVersion(cause context.Context, full string, version int32) *Removal {
	return c.Release(cause, full, 0, [][]zkconn.MultiOp{{zkconn.DeleteOp(full, version)}}, false)
}

// Release is Remove with something else in the same transaction, as far as the server lets it: requests has
// the best one first, and each ends with the delete of the node. If there is a connection, the first is
// queued on it before Release returns: the requests of several calls leave in their order.
//
// nameShared says that another session may make a node of the same name when this one is over. Nothing is
// deleted then: the server removes the node with the session.
func (c *Client) Release(cause context.Context, full string, session int64, requests [][]zkconn.MultiOp, nameShared bool) *Removal {
	r := &removal{c: c, full: full, session: session, requests: requests, nameShared: nameShared}
	return r.start(cause)
}

// Delete deletes a node, on a session if that is not zero.
func Delete(ctx context.Context, conn *zkconn.Conn, session int64, full string, version int32) error {
	return do(ctx, conn, session, &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: full, Version: version}})
}

// removal is the deletion of one node.
type removal struct {
	c        *Client
	full     string
	session  int64              // whose ephemeral node it is; 0 for any node
	requests [][]zkconn.MultiOp // the first one is tried, until the server refuses it
	pending  Removal
	op       backgroundOp
	doubt    bool // an earlier try may have deleted the node
	over     bool // the session has ended: if the node is gone, the server may have deleted it

	nameShared bool // see Client.Release
}

// start sends the first request, if there is a connection. If the server confirms that one, as
// it almost always does, no goroutine is needed.
func (r *removal) start(cause context.Context) *Removal {
	c, conn := r.c, r.c.conn.Load()
	r.op = c.background(cause, r.full, len(r.requests[0])) // may panic in a user's tracer
	if !c.beginRemoval() {
		r.op.end(0, zkconn.ErrClosed)
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
	switch missing := errors.Is(err, zkconn.ErrNoNode); {
	case err == nil, missing && r.doubt && !r.over:
		r.pending.Outcome = RemovalConfirmed
	case missing:
		r.pending.Outcome = RemovalMissing
	default:
		r.pending.Outcome, r.pending.Err = RemovalGivenUp, err
		r.c.giveUp("delete "+r.full, err)
	}
	close(r.pending.Done)
	r.c.endRemoval()
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
		d.refused = d.res.Failed != last || !errors.Is(d.err, zkconn.ErrNoNode)
	}
}

// try returns the outcome of a request that was sent. If another request may succeed it sends that first.
func (r *removal) try(ctx context.Context, conn *zkconn.Conn, sent *deleteRequest) error {
	for {
		switch {
		case sent.refused:
			r.requests = r.requests[1:]
		case r.session != 0 && !r.over && errors.Is(sent.err, zkconn.ErrSessionExpired):
			// The server will remove the node; a delete is quicker.
			r.over, r.requests = true, r.requests[len(r.requests)-1:]
			if r.nameShared {
				return zkconn.ErrNoNode
			}
		default:
			r.doubt = r.doubt || MaybeApplied(sent.err)
			return sent.err
		}
		sent = r.send(ctx, conn)
	}
}
