package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/zkconn"
)

// remove deletes a node in the background until the outcome is known. With a session
// that is not zero the node is an ephemeral one of that session. It returns nil when the
// client is closed.
func (c *core) remove(full string, version int32, session int64) *seam.Removal {
	r := &seam.Removal{Done: make(chan struct{})}
	started := c.startRemoval(func() {
		defer close(r.Done)
		doubt := false // an earlier try may have deleted it
		over := false  // the session has ended: whatever the server did since is not our doing
		err := c.persist(func(conn *zkconn.Conn) error {
			owner := session
			if over {
				owner = 0
			}
			err := deleteNode(c.life, conn, owner, full, version)
			if owner != 0 && errors.Is(err, ErrSessionExpired) {
				// The server removes the node, by and by: this is to be quicker.
				over = true
				err = deleteNode(c.life, conn, 0, full, version)
			}
			doubt = doubt || MaybeApplied(err)
			return err
		})
		switch {
		case err == nil, errors.Is(err, ErrNoNode) && doubt && !over:
			r.Outcome = seam.RemovalConfirmed
		case errors.Is(err, ErrNoNode):
			r.Outcome = seam.RemovalMissing
		default:
			r.Outcome, r.Err = seam.RemovalGivenUp, err
			c.giveUp("delete "+full, err)
		}
	})
	if !started {
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
// returns nil when the client is closed.
func (c *core) sweep(dir, prefix string) *seam.Removal {
	r := &seam.Removal{Done: make(chan struct{})}
	started := c.startRemoval(func() {
		defer close(r.Done)
		err := c.persist(func(conn *zkconn.Conn) error {
			return removeProtected(c.life, conn, dir, prefix)
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

// persist tries fn until it succeeds, fails for a reason that does not pass, or the
// client is closed. It waits for connections rather than for time.
func (c *core) persist(fn func(conn *zkconn.Conn) error) error {
	pace := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(10*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second),
		backoff.WithMaxElapsedTime(0))
	for {
		conn := c.conn.Load()
		err := conn.Ready(c.life)
		if err == nil {
			err = fn(conn)
		}
		if err == nil || lasting(err) {
			return err
		}
		if err := pause(c.life, pace.NextBackOff()); err != nil {
			return err
		}
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
