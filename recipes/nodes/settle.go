package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// step is one exchange with the server.
type step int

const (
	look    step = iota // read the node
	create              // create it, and read
	replace             // create it in place of the one of an earlier session, and read (K2)
	set                 // set its data, and read
	settled             // nothing is left to be done
)

// operations has the names of the steps in spans and metrics.
var operations = [...]string{look: "getData", create: "create", replace: "multi", set: "setData"}

// maxSteps bounds how often the node is looked at in a row. As a rule one or two do.
const maxSteps = 8

// errNoParent is returned when the node cannot be created because its parent is missing.
var errNoParent = fmt.Errorf("%w: the parent is missing", framework.ErrNoNode)

// settle makes the node what is wanted, with the watch set (K1, K4), and begins with a step. The
// read that ends each step decides what is next, whatever the server has answered to the step
// itself. So a lost answer needs no treatment of its own. Without repair the data of others stays
// (K3).
func (k *keeper) settle(ctx context.Context, first step, repair bool) error {
	again := false
	return k.api.Retry(ctx, operations[first], k.actualPath(), func(ctx context.Context, conn *zkconn.Conn) error {
		at, repair := first, repair || again
		again = true // there was a reconnect before another try
		for range maxSteps {
			next, err := k.take(ctx, conn, at, repair)
			if err != nil || next == settled {
				return err
			}
			at = next
		}
		return errUnsettled
	})
}

// take takes one step, and returns the next.
func (k *keeper) take(ctx context.Context, conn *zkconn.Conn, at step, repair bool) (step, error) {
	want := k.mail.want()
	if at == set && k.takeover && k.sessions.foreign(k.known) {
		k.mail.keep(want, errTakenOver)
		at = look
	}
	k.tried = want
	node, err := k.request(k.keptBuilder(want.data), k.actualPath())
	if err != nil {
		return settled, err
	}
	c, err := k.changeFor(at, node)
	if err != nil {
		return settled, err
	}
	if at == set && k.mail.watched() {
		return k.overwrite(ctx, conn, c, node, want)
	}
	seen, err := k.exchange(ctx, conn, c)
	if err != nil {
		return settled, err
	}
	k.note(ctx, c, want, seen)
	if !seen.there {
		return k.whenMissing(ctx, conn, at, c, node)
	}
	return k.whenThere(at, c, node, seen, want, repair)
}

// overwrite sets the data of a node that is watched. The event of the own change has the node read
// again, with the watch; a read in the same write would set a watch that this event fires.
func (k *keeper) overwrite(ctx context.Context, conn *zkconn.Conn, c *change, node *zkclient.CreateRequest, want wanted) (step, error) {
	if err := conn.Do(ctx, 0, c.call); err != nil {
		return settled, err
	}
	switch refused := c.refused(); {
	case errors.Is(refused, framework.ErrNoNode):
		return create, nil
	case refused != nil:
		return settled, refused
	}
	stat := c.call.Res.(*jute.StatResponse).Stat
	k.known.data, k.known.mzxid, k.known.version, k.known.session = node.Data, stat.Mzxid, stat.Version, c.call.Session
	k.written, k.writtenAs = stat.Mzxid, want.version
	k.mail.written(want)
	return settled, nil
}

func (k *keeper) changeFor(at step, node *zkclient.CreateRequest) (*change, error) {
	switch at {
	case create:
		return k.creation(node, nil)
	case replace:
		return k.creation(node, &k.known)
	case set:
		return k.overwriting(node), nil
	}
	return nil, nil
}

// note takes over what a step has shown.
func (k *keeper) note(ctx context.Context, c *change, want wanted, seen sighting) {
	before := k.known
	k.known = seen
	applied := c != nil && c.refused() == nil
	if applied {
		k.written, k.writtenAs = c.call.Zxid, want.version
	}
	if applied && c.makes {
		k.noteCreated(ctx)
	}
	k.lookAt = time.Time{}
	if !seen.there {
		return
	}
	if !seen.readable {
		k.lookAt = time.Now().Add(unreadablePause)
	}
	// A create whose answer was lost is recognized by what it has made.
	found := k.doubt && !applied && seen.czxid != before.czxid && seen.version == 0 && !k.sessions.foreign(seen)
	k.doubt = false
	if found {
		k.noteCreated(ctx)
	}
}

// whenMissing returns the step that follows one after which the node is missing.
func (k *keeper) whenMissing(ctx context.Context, conn *zkconn.Conn, at step, c *change, node *zkclient.CreateRequest) (step, error) {
	refused := c.refused()
	switch {
	case at != create, refused == nil, errors.Is(refused, framework.ErrNodeExists):
		return create, nil // it has gone meanwhile
	case !errors.Is(refused, framework.ErrNoNode):
		return settled, refused
	}
	err := node.MakeParents(ctx, conn)
	if errors.Is(err, framework.ErrNoNode) {
		err = errNoParent
	}
	return create, err
}

// whenThere returns the step that follows one after which the node is there.
func (k *keeper) whenThere(at step, c *change, node *zkclient.CreateRequest, seen sighting, want wanted, repair bool) (step, error) {
	if k.takesOver(seen) {
		return k.whenToBeReplaced(at, c)
	}
	if seen.owner != 0 && seen.owner != seen.session {
		if !k.sessions.foreign(seen) {
			return k.whenToBeReplaced(at, c)
		}
		k.warnOf(seen)
		repair = repair && !k.takeover // the other one has taken it over
	}
	refused := c.refused()
	switch {
	case at == set && refused != nil && !errors.Is(refused, framework.ErrNoNode):
		return settled, refused
	case k.has(seen, node, want):
		k.mail.written(want)
		return settled, nil
	case k.behindUs(at, c, seen): // K3
		k.mail.written(want)
		return settled, nil
	case repair:
		return set, nil
	}
	return settled, nil
}

// behindUs reports whether the read behind a change that was applied shows what others have written
// since: the data are not those of the change.
func (k *keeper) behindUs(at step, c *change, seen sighting) bool {
	if c == nil || c.refused() != nil {
		return false
	}
	return at == set || seen.czxid == c.call.Zxid
}

// takesOver reports whether the node is replaced because it was there before, see WithTakeover.
func (k *keeper) takesOver(seen sighting) bool {
	if !k.takeover || !k.starting {
		return false
	}
	if k.ephemeral() {
		return seen.owner != seen.session
	}
	return seen.owner != 0
}

// whenToBeReplaced replaces the node: that of an earlier session of this client, which the server
// is about to remove, or the one to take over. If somebody is quicker, the node is looked at again.
func (k *keeper) whenToBeReplaced(at step, c *change) (step, error) {
	refused := c.refused()
	if at == replace && !errors.Is(refused, framework.ErrBadVersion) && !errors.Is(refused, framework.ErrNoNode) {
		return settled, refused
	}
	return replace, nil
}

// has reports whether the node has the data that is wanted.
func (k *keeper) has(seen sighting, node *zkclient.CreateRequest, want wanted) bool {
	if seen.readable {
		return bytes.Equal(seen.data, node.Data)
	}
	return seen.mzxid == k.written && want.version == k.writtenAs
}

// warnOf logs, once for each of them, that an ephemeral node is another client's.
func (k *keeper) warnOf(seen sighting) {
	if k.warned == seen.owner {
		return
	}
	k.warned = seen.owner
	k.warn("the kept node is an ephemeral node of another client; it is made anew when it goes. Two programs that keep one node disturb each other",
		"session", fmt.Sprintf("0x%x", uint64(seen.owner)))
}
