package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// remove deletes a node in the background until the outcome is known. With a session
// that is not zero the node is an ephemeral one of that session. It returns nil when the
// client is closed. cause is the context of what it is done for.
func (c *core) remove(cause context.Context, full string, version int32, session int64) *recipeapi.PendingDelete {
	return c.removeBy(cause, full, session, 1, nil, func(ctx context.Context, conn *zkconn.Conn, owner int64, sent func()) error {
		return deleteNode(ctx, conn, owner, full, version, sent)
	})
}

// release is remove with what goes with it. The marker is for the first try: a later one may
// come when somebody else has the lock already. What else the server refuses is left.
func (c *core) release(cause context.Context, full string, session int64, with recipeapi.Release) *recipeapi.PendingDelete {
	if with == (recipeapi.Release{}) {
		return c.remove(cause, full, anyVersion, session)
	}
	first, later := releaseOps(full, with), releaseOps(full, recipeapi.Release{HolderRecord: with.HolderRecord})
	next := first
	return c.removeBy(cause, full, session, len(first), with.Line, func(ctx context.Context, conn *zkconn.Conn, owner int64, sent func()) error {
		ops := next
		next = later
		for owner != 0 && len(ops) > 1 {
			if refused, err := releaseNode(ctx, conn, owner, ops, sent); !refused {
				return err
			}
			if len(ops) == len(later) {
				break
			}
			ops = later
		}
		return deleteNode(ctx, conn, owner, full, anyVersion, sent)
	})
}

// releaseNode does releaseOps, all at once. refused reports that the server did not want that,
// although the node may be there.
func releaseNode(ctx context.Context, conn *zkconn.Conn, session int64, ops []zkconn.MultiOp, sent func()) (refused bool, err error) {
	var res zkconn.MultiResponse
	call := &zkconn.Call{Op: jute.OpMulti, Res: &res, Req: &zkconn.MultiRequest{Ops: ops}, Queued: sent}
	switch err := conn.Do(ctx, session, call); {
	case err != nil:
		return false, err
	case call.Err != nil:
		return true, call.Err
	case res.Failed < 0:
		return false, nil
	}
	err = res.Results[res.Failed].Err
	return res.Failed != len(ops)-1 || !errors.Is(err, ErrNoNode), err
}

// releaseOps are what goes with the delete of a node, and at the end that itself.
func releaseOps(full string, with recipeapi.Release) (ops []zkconn.MultiOp) {
	remove := func(path string) {
		ops = append(ops, zkconn.MultiOp{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: path, Version: anyVersion}})
	}
	if with.HolderRecord != "" {
		remove(with.HolderRecord)
	}
	if with.Marker != "" {
		req := &jute.CreateRequest{Path: with.Marker, ACL: openACL}
		ops = append(ops, zkconn.MultiOp{Op: jute.OpCreate, Req: req})
		remove(with.Marker)
	}
	remove(full)
	return ops
}

// removeBy is remove by whatever del does, a transaction of batch operations if that is more
// than one; del is told the session by which to delete, 0 for any, and calls sent when its
// request is under way, for those behind it in the line.
func (c *core) removeBy(cause context.Context, full string, session int64, batch int, line *recipeapi.Line, del func(ctx context.Context, conn *zkconn.Conn, owner int64, sent func()) error) *recipeapi.PendingDelete {
	r := &recipeapi.PendingDelete{Done: make(chan struct{})}
	wait, sent := line.Join()
	started := c.startRemoval(func() {
		defer close(r.Done)
		defer sent()
		wait()
		doubt := false // an earlier try may have deleted it
		over := false  // the session has ended: whatever the server did since is not our doing
		err := c.persist(cause, full, batch, func(ctx context.Context, conn *zkconn.Conn) error {
			owner := session
			if over {
				owner = 0
			}
			err := del(ctx, conn, owner, sent)
			if owner != 0 && errors.Is(err, ErrSessionExpired) {
				// The server removes the node, by and by: this is to be quicker.
				over = true
				err = del(ctx, conn, 0, sent)
			}
			sent() // or not: those behind do not wait for other tries
			doubt = doubt || MaybeApplied(err)
			return err
		})
		switch {
		case err == nil, errors.Is(err, ErrNoNode) && doubt && !over:
			r.Outcome = recipeapi.RemovalConfirmed
		case errors.Is(err, ErrNoNode):
			r.Outcome = recipeapi.RemovalMissing
		default:
			r.Outcome, r.Err = recipeapi.RemovalGivenUp, err
			c.giveUp("delete "+full, err)
		}
	})
	if !started {
		sent()
		return nil
	}
	return r
}

// startRemoval runs fn as one of those that PendingRemovals counts.
func (c *core) startRemoval(fn func()) bool {
	c.removals.Add(1)
	if c.pending.start(func() {
		defer c.removals.Add(-1)
		fn()
	}) {
		return true
	}
	c.removals.Add(-1)
	return false
}

// sweep removes the nodes in dir whose names begin with prefix, in the background. It
// returns nil when the client is closed. cause is the context of what it is done for.
func (c *core) sweep(cause context.Context, dir, prefix string) *recipeapi.PendingDelete {
	r := &recipeapi.PendingDelete{Done: make(chan struct{})}
	started := c.startRemoval(func() {
		defer close(r.Done)
		err := c.persist(cause, join(dir, prefix), 1, func(ctx context.Context, conn *zkconn.Conn) error {
			return removeProtected(ctx, conn, dir, prefix)
		})
		if err != nil {
			c.giveUp(fmt.Sprintf("remove what a lost create may have made at %s/%s", dir, prefix), err)
		}
	})
	if !started {
		return nil
	}
	return r
}

// removeProtected deletes the nodes in dir whose names begin with prefix.
func removeProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) error {
	names, session, err := findProtected(ctx, conn, dir, prefix)
	for _, name := range names.matching {
		call := &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: join(dir, name), Version: anyVersion}}
		if err := conn.Do(ctx, session, call); err != nil {
			return err
		}
		if call.Err != nil && !errors.Is(call.Err, ErrNoNode) {
			return call.Err
		}
	}
	return err
}

// persist tries fn, which deletes full, until it succeeds, fails for a reason that does not
// pass, or the client is closed. It waits for connections rather than for time.
func (c *core) persist(cause context.Context, full string, batch int, fn func(ctx context.Context, conn *zkconn.Conn) error) (err error) {
	ctx, traced, done := c.seen(cause, c.conn.Load(), full, batch)
	defer done()
	tries := 1
	defer func() { traced.End(tries, err) }()
	var pace backoff.BackOff // most succeed at once
	for {
		conn := c.conn.Load()
		err := conn.Ready(c.life)
		if err == nil {
			err = fn(ctx, conn)
		}
		if err == nil || lasting(err) {
			return err
		}
		if pace == nil {
			pace = backoff.NewExponentialBackOff(
				backoff.WithInitialInterval(10*time.Millisecond),
				backoff.WithMaxInterval(5*time.Second),
				backoff.WithMaxElapsedTime(0))
		}
		if err := wait.For(c.life, pace.NextBackOff()); err != nil {
			return err
		}
		tries++
		c.telemetry.Retry(ctx, "delete", tries, err)
	}
}

// lasting tells whether an error of a delete does not pass with time. What is not known
// to last is tried again: a node that stays blocks others.
func lasting(err error) bool {
	for _, last := range []error{
		ErrNoNode, ErrNotEmpty, ErrBadVersion, ErrNoAuth, ErrAuthFailed, ErrClosed, ErrInvalidPath,
		zkconn.ErrBadArguments, zkconn.ErrUnimplemented, context.Canceled,
	} {
		if errors.Is(err, last) {
			return true
		}
	}
	return false
}

// giveUp reports work in the background that did not succeed, unless it is Close that
// ended it: that is reported by Close, and ephemeral nodes go with the session.
func (c *core) giveUp(what string, err error) {
	if errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	c.report(func() { c.cfg.logger.Warn("zookeeper: gave up in the background", "what", what, "error", err) })
	c.unhandled.Notify(fmt.Errorf("%s: %w", what, err))
}
