package queue

import (
	"context"
	"errors"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// claim is the creation of the lock node of an item, with the read of the item in the same write.
type claim struct {
	q          *core
	lock, item string // the server's paths

	// doubt is the session on which a lock node may have been created whose reply was lost; 0
	// for none.
	doubt int64

	outcome claimOutcome
	node    zkclient.Created // with claimTaken and claimItemGone
	data    []byte           // of the item, with claimTaken
	stat    zkconn.Stat
}

// claimOutcome is how a claim ended.
type claimOutcome int8

const (
	claimTaken    claimOutcome = iota + 1 // the lock node is ours, and the item is there
	claimLocked                           // another consumer has the item
	claimItemGone                         // the lock node is ours, but the item is gone
)

// errClaimed is returned when another consumer of this client tries for the item.
var errClaimed = errors.New("another consumer of this client tries for the item")

// mayBeOurs reports whether the claim has made a lock node, or may have. c may be nil.
func (c *claim) mayBeOurs() bool {
	return c != nil && (c.doubt != 0 || c.outcome == claimTaken || c.outcome == claimItemGone)
}

// lockItem tries to lock an item. After an error, and after every outcome but claimTaken, nothing
// of ours is left, or it is being removed.
func (q *core) lockItem(ctx context.Context, name string) (c *claim, err error) {
	c = &claim{q: q, lock: q.locks + "/" + name, item: q.full + "/" + name}
	if !claimsOf(q.api).take(c.lock) {
		return nil, errClaimed
	}
	done := false
	defer func() { // also when a user's retry policy panics
		if !done {
			c.abandon(ctx)
		}
	}()
	err = q.api.Retry(ctx, "create", q.lockPath(name), c.attempt)
	if err == nil && c.outcome == claimTaken {
		c.data, err = q.api.Data(c.item, c.data, zkclient.AsConfigured)
		err = unreadable(err)
	}
	done = err == nil && c.outcome == claimTaken
	return c, err
}

// abandon deletes what the claim has created, or may have created.
func (c *claim) abandon(ctx context.Context) {
	switch {
	case c.outcome == claimTaken || c.outcome == claimItemGone:
		c.q.dropAfter(c.lock, ephemeral.Release{}.Remove(ctx, c.q.api, c.lock, c.node.Session, true))
	case c.doubt != 0 && c.q.api.Go(func(running context.Context) { c.abandonDoubt(running, ctx) }):
	default:
		c.q.dropAfter(c.lock, nil)
	}
}

// abandonDoubt deletes the lock node if it is ours. The create may have been refused, because another consumer has
// the item: then the node is that one's. cause is the trace of the claim.
func (c *claim) abandonDoubt(ctx, cause context.Context) {
	var removal *zkclient.Removal
	if c.ours(ctx) {
		removal = ephemeral.Release{}.Remove(cause, c.q.api, c.lock, c.doubt, true)
	}
	c.q.dropAfter(c.lock, removal)
}

// ours finds out whether a lock node is there and ours. It is not when the session is over, or the client is closed:
// then the node goes with the session.
func (c *claim) ours(ctx context.Context) bool {
	conn, err := c.q.api.Conn()
	if err != nil {
		return false
	}
	var exists *zkconn.Call
	again := func(err error) bool {
		return !errors.Is(err, framework.ErrSessionExpired) && !errors.Is(err, framework.ErrClosed)
	}
	err = zkclient.RetryForever(ctx, conn, retryPace(), again, func(ctx context.Context) error {
		exists = zkconn.Exists(c.lock, nil)
		err := conn.Do(ctx, c.doubt, exists)
		if err == nil && framework.Retryable(exists.Err) {
			err = exists.Err
		}
		return err
	})
	return err == nil && exists.Err == nil && exists.Stat().EphemeralOwner == c.doubt
}

// dropAfter drops the claim on a lock node when its deletion has ended. With a nil removal it does
// so immediately.
func (q *core) dropAfter(lock string, removal *zkclient.Removal) {
	held := claimsOf(q.api)
	if removal != nil && q.api.Go(func(ctx context.Context) {
		select {
		case <-removal.Done:
		case <-ctx.Done():
		}
		held.drop(lock)
	}) {
		return
	}
	held.drop(lock)
}

// attempt is one try.
func (c *claim) attempt(ctx context.Context, conn *zkconn.Conn) error {
	if c.doubt != 0 {
		if err := c.resolve(ctx, conn); err != nil || c.outcome != 0 {
			return err
		}
	}
	return c.q.below(ctx, c.q.cfg.lockPath, isNoNode, func() error { return c.send(ctx, conn) })
}

// send creates the lock node and reads the item in one write.
func (c *claim) send(ctx context.Context, conn *zkconn.Conn) error {
	request, err := c.q.api.Prepare(zkclient.NodeSpec{Path: c.q.api.ClientPath(c.lock), Mode: zkclient.Ephemeral, DefaultData: true})
	if err != nil {
		return err
	}
	create, read := request.Call(), zkconn.GetData(c.item, nil)
	if err := conn.Do(ctx, 0, create, read); err != nil {
		if framework.MaybeApplied(err) {
			c.doubt = create.Session
		}
		return err
	}
	switch {
	case errors.Is(create.Err, framework.ErrNodeExists):
		c.outcome = claimLocked
		return nil
	case create.Err != nil:
		return create.Err
	}
	return c.take(create, read)
}

// take takes over the answers to the create of the lock node, or to a read of it, and to the read of the item.
// The lock node is ours.
func (c *claim) take(lock, read *zkconn.Call) error {
	made := lock.Stat()
	c.node = zkclient.Created{Path: c.lock, Czxid: made.Czxid, Owner: made.EphemeralOwner, Session: lock.Session}
	c.outcome = claimItemGone
	if isNoNode(read.Err) {
		return nil
	}
	if read.Err != nil {
		c.doubt = c.node.Session // the next try finds the lock node
		return unreadable(&framework.OpError{Op: read.Name(), Path: c.q.api.ClientPath(c.item), Attempts: 1, Err: read.Err})
	}
	c.outcome, c.data, c.stat = claimTaken, read.Data(), *read.Stat()
	return nil
}

// resolve looks for a lock node that an earlier try may have created, on the session of that try: so no
// server without a quorum is asked, whose state may be older. If the connection is another one by now,
// servers refuse what may still arrive on the old one, and the session layer has sent a sync ahead, so
// that this server has seen what was applied before.
func (c *claim) resolve(ctx context.Context, conn *zkconn.Conn) error {
	exists, read := zkconn.Exists(c.lock, nil), zkconn.GetData(c.item, nil)
	err := conn.Do(ctx, c.doubt, exists, read)
	if errors.Is(err, framework.ErrSessionExpired) {
		c.doubt, c.outcome = 0, 0 // the node goes with its session; until then the create is refused
		return nil
	}
	if err != nil {
		return zkclient.NotApplied(err)
	}
	switch {
	case isNoNode(exists.Err):
		c.doubt, c.outcome = 0, 0
		return nil
	case errors.Is(exists.Err, framework.ErrNoAuth), exists.Err == nil && exists.Stat().EphemeralOwner != c.doubt:
		c.doubt, c.outcome = 0, claimLocked // by another consumer: we may read a lock node of ours
		return nil
	case exists.Err != nil:
		return exists.Err
	}
	return c.take(exists, read)
}

// claims are the lock nodes that the consumers of one client have, or try to create. Consumers of
// one client share its session. Without the claims a consumer that finds a lock node of that
// session after a lost reply could not tell whether it is its own.
type claims struct {
	mu    sync.Mutex
	taken map[string]struct{} // the server's paths
}

// claimsOf returns the claims of a client.
func claimsOf(api *zkclient.Client) *claims {
	return zkclient.SharedOf[claims](api)
}

// take takes the claim. It returns false if another consumer has it.
func (c *claims) take(full string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.taken[full]; taken {
		return false
	}
	if c.taken == nil {
		c.taken = map[string]struct{}{}
	}
	c.taken[full] = struct{}{}
	return true
}

func (c *claims) drop(full string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.taken, full)
}

// unreadableError says that one item cannot be read: the server refuses it, or its data are not what the
// client understands. That ends no Consume.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }

func (e *unreadableError) Unwrap() error { return e.err }

// unreadable returns the error of the read of one item, as an unreadableError unless it says nothing about
// the item: that it is gone, that there was no answer, or that there will be none.
func unreadable(err error) error {
	if err == nil || framework.Retryable(err) {
		return err
	}
	for _, other := range []error{
		framework.ErrNoNode, framework.ErrClosed, framework.ErrAuthFailed, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, other) {
			return err
		}
	}
	return &unreadableError{err}
}
