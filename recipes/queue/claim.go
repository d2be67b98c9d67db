package queue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
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
	stat    jute.Stat
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
	session := c.doubt
	if c.outcome == claimTaken || c.outcome == claimItemGone {
		session = c.node.Session
	}
	var removal *zkclient.Removal
	if session != 0 {
		removal = ephemeral.Release{}.Remove(ctx, c.q.api, c.lock, session, true)
	}
	c.q.dropAfter(c.lock, removal)
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
func (c *claim) attempt(ctx context.Context, conn *zkconn.Conn) (err error) {
	if c.doubt != 0 {
		if err := c.resolve(ctx, conn); err != nil || c.outcome != 0 {
			return err
		}
	}
	for range createTries {
		if err = c.send(ctx, conn); !errors.Is(err, framework.ErrNoNode) {
			return err
		}
		if err := ensure(ctx, c.q.client, c.q.cfg.lockPath); err != nil {
			return err
		}
	}
	return err
}

func (c *claim) read() *zkconn.Call {
	return &zkconn.Call{Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: c.item}, Res: &jute.GetDataResponse{}}
}

// send creates the lock node and reads the item in one write.
func (c *claim) send(ctx context.Context, conn *zkconn.Conn) error {
	request, err := c.q.api.Prepare(zkclient.NodeSpec{Path: c.q.api.ClientPath(c.lock), Mode: zkclient.Ephemeral, DefaultData: true})
	if err != nil {
		return err
	}
	create, read := request.Call(), c.read()
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
	created := create.Res.(*jute.Create2Response)
	c.node = zkclient.Created{
		Path: c.lock, Czxid: created.Stat.Czxid, Owner: created.Stat.EphemeralOwner, Session: create.Session,
	}
	return c.take(read)
}

// take takes over the answer to the read of the item. The lock node is ours.
func (c *claim) take(read *zkconn.Call) error {
	c.outcome = claimItemGone
	if errors.Is(read.Err, framework.ErrNoNode) {
		return nil
	}
	if read.Err != nil {
		c.doubt = c.node.Session // the next try finds the lock node
		return unreadable(&framework.OpError{Op: "getData", Path: c.q.api.ClientPath(c.item), Attempts: 1, Err: read.Err})
	}
	res := read.Res.(*jute.GetDataResponse)
	c.outcome, c.data, c.stat = claimTaken, res.Data, res.Stat
	return nil
}

// resolve looks for a lock node that an earlier try may have created, on the session of that try: so no
// server without a quorum is asked, whose state may be older. If the connection is another one by now,
// servers refuse what may still arrive on the old one, and the session layer has sent a sync ahead, so
// that this server has seen what was applied before.
func (c *claim) resolve(ctx context.Context, conn *zkconn.Conn) error {
	var found jute.StatResponse
	exists := &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: c.lock}, Res: &found}
	read := c.read()
	err := conn.Do(ctx, c.doubt, exists, read)
	if errors.Is(err, framework.ErrSessionExpired) {
		c.doubt, c.outcome = 0, 0 // the node goes with its session; until then the create is refused
		return nil
	}
	if err != nil {
		return notApplied(err)
	}
	switch {
	case errors.Is(exists.Err, framework.ErrNoNode):
		c.doubt, c.outcome = 0, 0
		return nil
	case exists.Err != nil:
		return exists.Err
	case found.Stat.EphemeralOwner != c.doubt:
		c.doubt, c.outcome = 0, claimLocked // by another consumer
		return nil
	}
	c.node = zkclient.Created{
		Path: c.lock, Czxid: found.Stat.Czxid, Owner: found.Stat.EphemeralOwner, Session: exists.Session,
	}
	return c.take(read)
}
