package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// node is the node that is kept: what it is to be, what is known of it, and the steps that make the one the
// other.
type node struct {
	target
	knowledge
	mail     *mailbox
	created  listen.Set[string]
	starting bool   // Start has not returned yet
	tried    wanted // the data of the last step
}

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
func (n *node) settle(ctx context.Context, first step, repair bool) error {
	again := false
	return n.api.Retry(ctx, operations[first], n.actualPath(), func(ctx context.Context, conn *zkconn.Conn) error {
		at, repair := first, repair || again
		again = true // there was a reconnect before another try
		for range maxSteps {
			next, err := n.take(ctx, conn, at, repair)
			if err != nil || next == settled {
				return err
			}
			at = next
		}
		return errUnsettled
	})
}

// exchange is what is sent in a step, and what the read has shown.
type exchange struct {
	at   step
	want wanted                  // the data that the node is to have
	node *zkclient.CreateRequest // the node with it
	call *zkconn.Call            // the change, which is one transaction; nil for look
	seen sighting
}

// makes reports whether the change creates the node.
func (x *exchange) makes() bool { return x.at == create || x.at == replace }

// refused returns why the server has not applied the change, nil if it has.
func (x *exchange) refused() error {
	if x.call == nil {
		return nil
	}
	return x.call.Refused()
}

// applied reports whether there is a change that the server has applied.
func (x *exchange) applied() bool { return x.call != nil && x.call.Refused() == nil }

// take takes one step, and returns the next.
func (n *node) take(ctx context.Context, conn *zkconn.Conn, at step, repair bool) (next step, err error) {
	x := exchange{at: at, want: n.mail.want()}
	if at == set && n.takeover && (n.known.ownerUnknown() || n.sessions.foreign(n.known)) {
		n.mail.keep(x.want, errTakenOver)
		x.at = look
	}
	n.tried = x.want
	if x.node, err = n.request(x.want.data); err != nil {
		return settled, err
	}
	if x.call, err = n.change(&x); err != nil {
		return settled, err
	}
	if x.at == set && n.mail.watched() {
		return n.overwrite(ctx, conn, &x)
	}
	if err := n.send(ctx, conn, &x); err != nil {
		return settled, err
	}
	n.note(ctx, &x)
	if !x.seen.there {
		return n.whenMissing(ctx, conn, &x)
	}
	return n.whenThere(&x, repair)
}

// change returns the change of a step.
func (n *node) change(x *exchange) (*zkconn.Call, error) {
	switch x.at {
	case create:
		return n.creation(x.node, nil)
	case replace:
		return n.creation(x.node, &n.known)
	case set:
		return zkconn.SetData(n.full, x.node.Data, zkclient.AnyVersion), nil
	}
	return nil, nil
}

// creation returns the change that creates the node, in place of the one at a version if that is
// not nil (K2), and with its child if it has a time to live: made apart, a node whose child was
// never created would stay for ever.
func (n *node) creation(node *zkclient.CreateRequest, inPlaceOf *sighting) (*zkconn.Call, error) {
	if inPlaceOf == nil && !n.timed() {
		return node.Call(), nil
	}
	var ops []zkconn.MultiOp
	if inPlaceOf != nil {
		ops = append(ops, zkconn.DeleteOp(n.full, inPlaceOf.version))
	}
	ops = append(ops, node.MultiOp())
	if n.timed() {
		child, err := n.api.Prepare(n.child())
		if err != nil {
			return nil, err
		}
		ops = append(ops, child.MultiOp())
	}
	return zkconn.Multi(ops...), nil
}

// overwrite sets the data of a node that is watched. The event of the own change has the node read
// again, with the watch; a read in the same write would set a watch that this event fires.
func (n *node) overwrite(ctx context.Context, conn *zkconn.Conn, x *exchange) (step, error) {
	if err := conn.Do(ctx, 0, x.call); err != nil {
		return settled, err
	}
	switch refused := x.refused(); {
	case errors.Is(refused, framework.ErrNoNode):
		return create, nil
	case refused != nil:
		return settled, refused
	}
	stat := x.call.Stat()
	n.known.data, n.known.mzxid, n.known.version, n.known.session = x.node.Data, stat.Mzxid, stat.Version, x.call.Session
	n.written, n.writtenAs = stat.Mzxid, x.want.version
	n.mail.written(x.want)
	return settled, nil
}

// send sends a change, which may be nil, and a read of the node that sets the watch, in one
// write (K1). The session's order makes the read see the change. An error says that there was no
// answer to the change or to the read.
func (n *node) send(ctx context.Context, conn *zkconn.Conn, x *exchange) (err error) {
	x.seen, err = n.readAfter(ctx, conn, x.call, true)
	if x.makes() {
		n.sessions.add(x.call.Session)
		n.doubt = n.doubt || x.call.Err == nil || framework.MaybeApplied(x.call.Err)
	}
	if errors.Is(err, framework.ErrNoAuth) { // without the data there is the Stat, which everybody may read on older servers
		x.seen, err = n.readAfter(ctx, conn, nil, false)
	}
	if errors.Is(err, framework.ErrNoAuth) {
		own := int64(0)
		if err = nil; !x.applied() && (n.ephemeral() || n.known.owner != 0) {
			own, err = listed(ctx, conn, n.full)
		}
		x.seen = n.unreadable(x, x.seen.session, own)
	}
	return err
}

// unreadable returns what is known of a node if servers do not show its Stat to a client that may not read the data:
// ZooKeeper 3.8.4, 3.9.2 and later. The refusal proves that a node is there. If the server has just applied a change of
// ours, the Stat is that in its answer. Else own is the client's session if the node is listed as one of its ephemeral
// nodes. The node counts as the one that was known before if that has this owner, and no create may have been applied
// meanwhile. Another client's node stays known, too, so that it is not written again and again. Any other is unknown.
func (n *node) unreadable(x *exchange, session, own int64) sighting {
	seen := sighting{there: true, session: session}
	if own != 0 {
		seen.session = own // the list was asked for last
	}
	switch {
	case x.applied() && x.makes():
		seen.czxid, seen.mzxid = x.call.Zxid, x.call.Zxid
		if n.ephemeral() {
			seen.owner = x.call.Session
		}
	case x.applied():
		stat := x.call.Stat()
		seen.czxid, seen.mzxid, seen.version, seen.owner = stat.Czxid, stat.Mzxid, stat.Version, stat.EphemeralOwner
	case n.known.there && !n.known.unknown && !n.doubt &&
		(n.known.owner == own || own == 0 && n.sessions.foreign(n.known)):
		seen.czxid, seen.mzxid, seen.version, seen.owner = n.known.czxid, n.known.mzxid, n.known.version, n.known.owner
	default:
		seen.unknown, seen.owner = true, own
	}
	return seen
}

// readAfter sends a change, if there is one, and a read of the data or of the Stat behind it. What a server
// without a quorum shows does not count, because it may be older than what this client has made: it is not
// asked, or its refusal of the change is the answer.
func (n *node) readAfter(ctx context.Context, conn *zkconn.Conn, change *zkconn.Call, withData bool) (sighting, error) {
	watch, former := n.mail.newWatch(n.full)
	readCall := zkconn.Exists
	if withData {
		readCall = zkconn.GetData
	}
	read := readCall(n.full, watch)
	var err error
	if change == nil {
		err = conn.DoAtQuorum(ctx, read)
	} else if err = conn.Do(ctx, 0, change, read); err == nil && errors.Is(change.Refused(), framework.ErrNotReadOnly) {
		err = change.Refused()
	}
	if former != nil {
		conn.Unwatch(former)
	}
	if err == nil {
		err = read.Err
	}
	if errors.Is(err, framework.ErrNoNode) {
		if withData { // else the watch is set, on the missing node
			n.mail.noWatch()
		}
		return sighting{session: read.Session}, nil
	}
	if err != nil {
		n.mail.noWatch()
		return sighting{session: read.Session}, err
	}
	return newSighting(read, withData), nil
}

// note takes over what a step has shown.
func (n *node) note(ctx context.Context, x *exchange) {
	before, seen := n.known, x.seen
	n.known = seen
	applied := x.applied()
	if applied {
		n.written, n.writtenAs = x.call.Zxid, x.want.version
	}
	if applied && x.makes() {
		n.noteCreated(ctx)
	}
	n.lookAt = time.Time{}
	if !seen.there {
		return
	}
	if !seen.readable {
		n.lookAt = time.Now().Add(unreadablePause)
	}
	if seen.ownerUnknown() {
		return
	}
	// A create whose answer was lost is recognized by what it has made.
	found := seen.czxid != before.czxid && seen.version == 0 && !n.sessions.foreign(seen)
	if seen.unknown {
		found = seen.owner != before.owner
	}
	found = found && n.doubt && !applied
	n.doubt = false
	if found {
		n.noteCreated(ctx)
	}
}

// noteCreated tells of a creation of the node.
func (n *node) noteCreated(ctx context.Context) {
	n.times++
	n.created.Notify(n.actualPath())
	if n.times > 1 && n.name != "" {
		n.api.Telemetry().Recreated(ctx, n.name)
	}
}

// whenMissing returns the step that follows one after which the node is missing.
func (n *node) whenMissing(ctx context.Context, conn *zkconn.Conn, x *exchange) (step, error) {
	refused := x.refused()
	switch {
	case x.at != create, refused == nil, errors.Is(refused, framework.ErrNodeExists):
		return create, nil // it has gone meanwhile
	case !errors.Is(refused, framework.ErrNoNode):
		return settled, refused
	}
	err := x.node.MakeParents(ctx, conn)
	if errors.Is(err, framework.ErrNoNode) {
		err = errNoParent
	}
	return create, err
}

// whenThere returns the step that follows one after which the node is there.
func (n *node) whenThere(x *exchange, repair bool) (step, error) {
	switch {
	case x.seen.ownerUnknown() && n.takeover:
		if n.starting {
			return settled, framework.ErrNoAuth
		}
		n.mail.keep(x.want, errTakenOver) // or so it may be
		return settled, nil
	case n.takesOver(x.seen):
		return whenToBeReplaced(x)
	}
	if x.seen.owner != 0 && x.seen.owner != x.seen.session {
		if !n.sessions.foreign(x.seen) {
			return whenToBeReplaced(x)
		}
		n.warnOf(x.seen)
		repair = repair && !n.takeover // the other one has taken it over
	}
	refused := x.refused()
	switch {
	case x.at == set && refused != nil && !errors.Is(refused, framework.ErrNoNode):
		return settled, refused
	case n.has(x):
		n.mail.written(x.want)
		return settled, nil
	case behindUs(x): // K3
		n.mail.written(x.want)
		return settled, nil
	case repair:
		return set, nil
	}
	return settled, nil
}

// behindUs reports whether the read behind a change that was applied shows what others have written
// since: the data are not those of the change.
func behindUs(x *exchange) bool {
	return x.applied() && (x.at == set || x.seen.czxid == x.call.Zxid)
}

// takesOver reports whether the node is replaced because it was there before, see WithTakeover.
func (n *node) takesOver(seen sighting) bool {
	if !n.takeover || !n.starting {
		return false
	}
	if n.ephemeral() {
		return seen.owner != seen.session
	}
	return seen.owner != 0
}

// whenToBeReplaced replaces the node: that of an earlier session of this client, which the server
// is about to remove, or the one to take over. If somebody is quicker, the node is looked at again.
func whenToBeReplaced(x *exchange) (step, error) {
	refused := x.refused()
	if x.at == replace && !errors.Is(refused, framework.ErrBadVersion) && !errors.Is(refused, framework.ErrNoNode) {
		return settled, refused
	}
	return replace, nil
}

// has reports whether the node has the data that is wanted.
func (n *node) has(x *exchange) bool {
	if x.seen.readable {
		return bytes.Equal(x.seen.data, x.node.Data)
	}
	return !x.seen.unknown && x.seen.mzxid == n.written && x.want.version == n.writtenAs
}

// warnOf logs, once for each of them, that an ephemeral node is another client's.
func (n *node) warnOf(seen sighting) {
	if n.warned == seen.owner {
		return
	}
	n.warned = seen.owner
	n.warn("the kept node is an ephemeral node of another client; it is made anew when it goes. Two programs that keep one node disturb each other",
		"session", fmt.Sprintf("0x%x", uint64(seen.owner)))
}
