package barriers

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// The watches of an Enter.
const (
	ownTag int8 = iota
	readyTag
)

// member is what is known of a member's node.
type member struct {
	node    string // the server's path; "" for a guest, who has none
	czxid   int64
	session int64
	opened  int64           // the czxid of the "ready" that let the member in; 0 if it was not seen
	own     *watchset.Watch // the watch on the node; nil for none
}

// phase is a state of an Enter.
type phase int

const (
	create phase = iota // no node
	look                // the node is there; what is there beside it?
	judge               // decide by what was seen
	open                // enough members: make "ready"
	pass                // we came late: pass as a guest
	wait                // sleep until a watch fires
	done                // in
)

// entry is one Enter.
type entry struct {
	*place
	memberQty int
	set       *watchset.Set

	member
	doubt        string // a node that may have been created, on the session doubtSession
	doubtSession int64
	old          []string // nodes of sessions that are over: they must not be counted

	view    view
	dead    bool // view.ready is left of a round whose members have died
	stale   bool // the last look was refuted: the server is behind
	passing bool // our node may have been deleted by pass

	unmarked *atomic.Bool // "ready" cannot be marked: see marks
	refused  int          // how often open was refused
	swept    int64        // the czxid of the dead "ready" that was removed, if that was possible

	seen bool // the barrier was seen closed
}

// run goes on until the member is in. After an error nodes may be left: see giveUp.
func (e *entry) run(ctx context.Context) (err error) {
	for state := create; state != done && err == nil; {
		switch state {
		case create:
			state, err = e.create(ctx)
		case look:
			state, err = e.look(ctx)
		case judge:
			state, err = e.judge(ctx)
		case open:
			state, err = e.open(ctx)
		case pass:
			state, err = e.pass(ctx)
		case wait:
			state, err = e.wait(ctx)
		}
	}
	return err
}

// create makes a node, under a fresh name (rule B1), and looks in the same write (rule B2). The
// node comes first: a request that is behind it in the server's order sees it.
func (e *entry) create(ctx context.Context) (phase, error) {
	e.member, e.passing = member{}, false
	err := e.retry(ctx, "create", e.tryCreate)
	if errors.Is(err, errSessionOver) {
		return create, nil // that of the node in doubt
	}
	if err != nil {
		return create, err
	}
	return judge, nil
}

// tryCreate is one try. First it finds out whether an earlier one has made a node.
func (e *entry) tryCreate(ctx context.Context, conn *zkconn.Conn) error {
	if e.node != "" { // by an earlier try, whose reads have failed
		e.doubt, e.doubtSession, e.member = e.node, e.session, member{}
	}
	if e.doubt != "" {
		found, err := e.resolve(ctx, conn)
		if err != nil || found {
			return err
		}
	}
	for {
		made, err := e.sendCreate(ctx, conn)
		if err != nil || made {
			return err
		}
	}
}

// resolve looks for the node that may have been created, on its session. If the connection is another one
// by now, servers refuse what may still arrive on the old one, and the session layer has sent a sync
// ahead, so that this server has seen what was applied before.
func (e *entry) resolve(ctx context.Context, conn *zkconn.Conn) (found bool, err error) {
	calls, take := e.reads(conn, e.doubt)
	err = take(conn.Do(ctx, e.doubtSession, calls...))
	if errors.Is(err, framework.ErrSessionExpired) {
		e.old, e.doubt = append(e.old, e.doubt), ""
		return false, err
	}
	if err != nil {
		return false, err
	}
	own := calls[0].Stat()
	if own != nil {
		e.member = member{node: e.doubt, czxid: own.Czxid, session: e.doubtSession}
	}
	e.doubt = ""
	return own != nil, nil
}

// parentTries is how often the parents are made in a row if they are missing again: somebody may be
// deleting them. Below a chroot that does not exist they cannot be made.
const parentTries = 8

// sendCreate creates a node and looks. It returns false if there is to be another try.
func (e *entry) sendCreate(ctx context.Context, conn *zkconn.Conn) (made bool, err error) {
	request, err := e.api.Prepare(zkclient.NodeSpec{
		Path: zkclient.Join(e.path, layout.NewUUID()), Mode: zkclient.Ephemeral, DefaultData: true, Compressed: zkclient.Never,
	})
	if err != nil {
		return false, err
	}
	full, creation := request.Path, request.Call()
	reads, take := e.reads(conn, full)
	var calls []*zkconn.Call
	for _, old := range e.old { // ahead of our new node, so that nobody counts both
		calls = append(calls, zkconn.Delete(old, -1))
	}
	calls = append(append(calls, creation), reads...)
	if err = conn.Do(ctx, 0, calls...); err != nil {
		if framework.MaybeApplied(err) {
			e.doubt, e.doubtSession = full, creation.Session
		}
		return false, take(err)
	}
	e.old = nil
	if errors.Is(creation.Err, framework.ErrNoNode) {
		// This makes the parents of a path that is below the barrier's.
		_ = take(nil)
		for range parentTries {
			_, err = e.client.CheckExists().CreatingParentContainersIfNeeded().ForPath(ctx, zkclient.Join(e.path, layout.ReadyName))
			if !errors.Is(err, framework.ErrNoNode) {
				break
			}
		}
		return false, err
	}
	if creation.Err != nil {
		_ = take(nil)
		return false, creation.Err
	}
	e.member = member{node: full, czxid: creation.Stat().Czxid, session: creation.Session}
	if err = take(nil); err != nil {
		return false, err
	}
	if reads[0].Stat() == nil {
		e.member = member{} // deleted already
		return false, nil
	}
	return true, nil
}

// reads returns the reads of a look, in the order of own node, "ready" and list, with watches on
// the first two where there are none. take takes their answers over, or the error of the request.
func (e *entry) reads(conn *zkconn.Conn, own string) (calls []*zkconn.Call, take func(err error) error) {
	wants := []watchset.Want{{Path: own, Kind: watchset.Data, Tag: ownTag}, {Path: e.ready(), Kind: watchset.Exists, Tag: readyTag}}
	armed, idle := e.set.ArmByReading(wants)
	for _, w := range idle {
		conn.Unwatch(&w.Watch)
	}
	for _, want := range wants {
		i := slices.IndexFunc(armed, func(r watchset.Read) bool { return r.Tag == want.Tag })
		if i >= 0 {
			calls = append(calls, armed[i].Call)
		} else {
			calls = append(calls, watchset.ReadCall(want, nil))
		}
	}
	calls = append(calls, zkconn.List(e.full, nil))
	return calls, func(err error) error {
		for _, r := range armed {
			e.set.Keep(r, err == nil && (r.Call.Err == nil || r.Tag == readyTag && errors.Is(r.Call.Err, framework.ErrNoNode)))
		}
		e.view = view{ready: calls[1].Stat(), names: layout.BarrierMembers(calls[2].Names()), barrier: calls[2].Stat()}
		return failure(err, calls...)
	}
}

// look looks again, with the watches (rule B5).
func (e *entry) look(ctx context.Context) (phase, error) {
	var own *zkconn.Stat
	err := e.retry(ctx, "exists", func(ctx context.Context, conn *zkconn.Conn) error {
		calls, take := e.reads(conn, e.node)
		all := calls
		if e.stale {
			all = append([]*zkconn.Call{zkconn.Sync(e.full)}, calls...)
		}
		err := take(conn.Do(ctx, e.session, all...))
		if err == nil && e.stale {
			err = all[0].Err // without the sync, the look may be as old as the last one
		}
		own = calls[0].Stat()
		return err
	})
	switch {
	case errors.Is(err, errSessionOver): // rule B11
		e.old = append(e.old, e.node)
		return create, nil
	case err != nil:
		return look, err
	case own == nil && e.passing: // rule B6: the reply was lost
		e.member = member{opened: e.opened}
		return done, nil
	case own == nil:
		return create, nil
	}
	e.stale, e.passing = false, false
	return judge, nil
}

// judge decides by what was seen (rules B3 and B4).
func (e *entry) judge(ctx context.Context) (phase, error) {
	e.dead = false
	s := e.view.standingOf(e.czxid)
	if s == unclear {
		others, err := e.others(ctx)
		if errors.Is(err, errSessionOver) {
			return look, nil
		}
		if err != nil {
			return judge, err
		}
		s = e.view.clear(others)
		e.dead = s == outside
	}
	switch {
	case s == inside:
		e.opened = e.view.ready.Czxid
		return done, nil
	case s == late:
		return pass, nil
	case len(e.view.names) >= e.memberQty && slices.Contains(e.view.names, e.name()):
		return open, nil
	}
	e.seen = true
	if e.dead && e.view.ready.Version == layout.MarkedVersion && e.swept != e.view.ready.Czxid {
		e.swept = e.view.ready.Czxid
		e.sweep(ctx, e.node) // a member in Java would take it for an open round
		return look, nil
	}
	if e.set.AnyFired() {
		// An event that came before the answer may be of an earlier watch, which was set ahead of
		// our node: by this Enter for a node that is gone, or by another member on this client. It
		// proves nothing.
		return look, nil
	}
	return wait, nil
}

// name returns the name of our node.
func (e *entry) name() string { return path.Base(e.node) }

// others returns the stats of the other members' nodes, nil for those that have gone.
func (e *entry) others(ctx context.Context) (stats []*zkconn.Stat, err error) {
	names := slices.DeleteFunc(slices.Clone(e.view.names), func(name string) bool { return name == e.name() })
	err = e.retry(ctx, "exists", func(ctx context.Context, conn *zkconn.Conn) error {
		stats, err = e.statsOf(ctx, conn, e.session, names)
		return err
	})
	return stats, err
}

// open makes "ready", on the condition that all who are counted are there (rule B4). A dead
// "ready" goes in the same transaction: removed alone it could be that of the next round.
func (e *entry) open(ctx context.Context) (phase, error) {
	ops := []framework.Op{e.checkOp(e.node)}
	for _, name := range e.view.names {
		if name != e.name() && len(ops) < e.memberQty {
			ops = append(ops, e.checkOp(e.child(name)))
		}
	}
	if e.dead {
		ops = append(ops, e.deleteOp(e.ready()))
	}
	var marks []framework.Op
	if !e.unmarked.Load() && e.refused < maxRefused {
		var err error
		if marks, err = e.marks(ctx, e.view.barrier); err != nil {
			return open, err
		}
	}
	ops = append(ops, e.createReady())
	if e.fits(append(slices.Clone(ops), marks...)) {
		ops = append(ops, marks...)
	}
	committed, _, err := e.commit(ctx, ops...)
	switch {
	case committed:
		return done, nil
	case markRefused(err):
		e.unmarked.Store(true)
		return open, nil
	}
	e.seen, e.stale = true, true
	e.refused++
	return look, err // also if the reply was lost: then "ready" is younger than our node
}

// pass goes through an open round to which we come late, without being counted in the next one
// (rule B6).
func (e *entry) pass(ctx context.Context) (phase, error) {
	e.opened = e.view.ready.Czxid
	committed, lost, err := e.commit(ctx, e.checkOp(e.ready()), e.deleteOp(e.node))
	if committed {
		e.member = member{opened: e.opened}
		return done, nil
	}
	e.stale, e.passing = true, lost
	return look, err
}

// wait sleeps until a watch fires, and says what that means (rule B5).
func (e *entry) wait(ctx context.Context) (phase, error) {
	select {
	case <-e.set.C():
	case <-ctx.Done():
		return wait, ctx.Err()
	}
	var own, ready zkconn.EventType
	for w := range e.set.Backward() {
		if w.Tag == ownTag {
			own = w.Fired()
		} else {
			ready = w.Fired()
		}
	}
	switch {
	case own == zkconn.NodeDeleted:
		return create, nil
	case ready == zkconn.NodeCreated: // behind our node, which was there then: its watch is silent
		return done, nil
	case own == zkconn.WatchClosed, ready == zkconn.WatchClosed:
		return wait, framework.ErrClosed
	case own == 0 && ready == 0:
		return wait, nil
	}
	return look, nil
}
