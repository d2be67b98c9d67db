package cache

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/inbox"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// follower follows the server: it keeps a replica up to date, and shows versions of it. One goroutine uses it:
// first that of Start, then the cache's own.
type follower struct {
	cfg      *config
	out      output
	link     link
	replica  *replica
	troubles troubles
	shown    version
	loaded   bool  // a version was shown
	lost     error // why the last read got no answer; nil if it got one
	replies  int   // how many there were
}

func newFollower(cfg *config, api *zkclient.Client, paths paths, out output) *follower {
	f := &follower{cfg: cfg, out: out, link: link{api: api, paths: paths}, troubles: newTroubles(out.stale)}
	f.replica = newReplica(cfg, paths.root, out, &f.link.watches)
	return f
}

// begin sets the watch and reads everything.
func (f *follower) begin(ctx context.Context) (err error) {
	if err = f.link.open(); err != nil {
		return &framework.OpError{Op: "addWatch", Path: f.link.paths.root, Err: err}
	}
	f.replica.epoch = f.link.conn.Epoch() // if it is that of a connection to come, nothing was read on the one before
	begun := false
	defer func() { // also when a function of the user panics
		if !begun {
			cleanUp, cancel := lifecycle.CleanUp(ctx)
			defer cancel()
			f.end(cleanUp)
		}
	}()
	persistent, err := f.link.subscribe(ctx, f.cfg.shape != nodeAlone)
	if err != nil {
		return err
	}
	if !persistent {
		f.out.warn("the server has no persistent watches, since it is older than ZooKeeper 3.6: a cache sets watches on every node")
	}
	err = f.load(ctx)
	begun = err == nil
	return err
}

// maxCuts is how many connections may end in a first load before a single read was answered.
const maxCuts = 5

// load reads everything for the first time, over several connections if it must.
func (f *follower) load(ctx context.Context) error {
	f.replica.add(f.replica.root, get, true)
	for cuts := 1; ; cuts++ {
		before := f.replies
		err := f.run(ctx, func() bool { return f.loaded || f.lost != nil || !f.link.connected })
		if err != nil || f.loaded {
			return err
		}
		if f.replies > before {
			cuts = 0
		}
		if cuts == maxCuts {
			return &framework.OpError{Op: "getData", Path: f.replica.root, Attempts: cuts, Err: cmp.Or(f.lost, framework.ErrConnectionLoss)}
		}
		f.lost = nil
		if err := f.link.reach(ctx); err != nil {
			return err
		}
	}
}

// run takes messages until one of them, or nothing to do any more, satisfies until, or ctx ends.
// It returns the error of a first load.
func (f *follower) run(ctx context.Context, until func() bool) error {
	var messages []inbox.Message
	for {
		messages = f.link.box.Take(messages)
		for i := range messages {
			if err := f.take(&messages[i]); err != nil {
				return err
			}
		}
		f.advance()
		if until() {
			return nil
		}
		select {
		case <-f.link.box.C():
		case <-f.replica.held.lag.C:
			f.showOverdue()
		case <-f.troubles.again.C:
			f.replica.requests.retry()
			f.link.askAgain()
		case <-f.replica.unread.retry.C:
			f.replica.unread.due(func(path string, n *unread) { f.replica.readUnread(path, n, false) })
		case <-ctx.Done():
			return zkclient.ContextError(ctx)
		}
	}
}

// take takes one message over.
func (f *follower) take(m *inbox.Message) (err error) {
	switch m.Kind {
	case inbox.Event:
		f.event(m.Event)
	case inbox.Reply:
		err = f.reply(m)
	case inbox.Suspended, inbox.Closed:
		f.link.connected = false
		f.troubles.disconnected()
	case inbox.Connected:
		f.restart(m.Epoch)
	}
	if err == nil {
		f.showOverdue()
	}
	return err
}

// event takes over what a watch tells.
func (f *follower) event(e zkconn.WatchEvent) {
	r, path := f.replica, f.link.paths.client(e.Path)
	r.watches.fired(path, e.Type)
	r.stream.events++
	switch e.Type {
	case zkconn.NodeCreated, zkconn.NodeDataChanged:
		r.want(path, get)
	case zkconn.NodeChildrenChanged:
		if r.watches.used() {
			r.want(path, list)
		}
	case zkconn.NodeDeleted:
		r.deleted(path, e.Zxid)
	case zkconn.WatchReset:
		if r.watches.used() && f.link.connected { // somebody has taken the watch away
			r.want(path, get)
			r.want(path, list)
		}
	}
}

// restart begins to compare the tree with that of the servers on another connection.
func (f *follower) restart(epoch int64) {
	f.link.reconnected()
	if f.replica.restart(epoch) {
		f.shown.zxid = 0 // what was shown stays until all nodes are compared
	}
}

// reply takes one reply over.
func (f *follower) reply(m *inbox.Message) error {
	if _, ok := m.Tag.(syncing); ok {
		return nil // its zxid is that of no read
	}
	answered := m.Call.Zxid > 0
	if answered {
		f.replica.last = max(f.replica.last, m.Call.Zxid)
		f.replies++
	}
	switch tag := m.Tag.(type) {
	case *request:
		if err := f.answered(tag, m.Call); err != nil {
			return err
		}
	case probe:
		if !f.link.probed(m.Call) {
			f.troubles.again.Reset(f.troubles.pause)
		}
	}
	if answered {
		f.showExact()
	}
	return nil
}

// answered takes over the reply to a request. Its error ends a first load.
func (f *follower) answered(req *request, call *zkconn.Call) error {
	r, err := f.replica, call.Err
	r.requests.answered(req)
	missing := errors.Is(err, framework.ErrNoNode)
	if err != nil && call.Watch != nil && !(missing && req.verb == check) {
		r.watches.notSet(call.Watch)
	}
	switch {
	case err == nil:
		f.lost = nil
		err = f.read(req, call)
		r.rewatch(req)
		return err
	case missing:
		f.lost = nil
		r.missing(req)
		return nil
	case withoutConnection(call):
		f.lost = err // it is sent again on the next connection
		return nil
	case errors.Is(err, framework.ErrNoAuth):
		return f.leaveOut(req, err)
	default:
		answered := call.Answered() && !framework.Retryable(err) // else the server is to blame
		return f.failed(req, err, answered || errors.Is(err, framework.ErrTooLarge))
	}
}

// read takes over what a node is.
func (f *follower) read(req *request, call *zkconn.Call) error {
	switch req.verb {
	case list:
		f.replica.setChildren(req, call.Stat(), call.Names())
	case check:
		f.replica.compareStat(req, call.Stat())
	default:
		data := call.Data()
		if f.cfg.compressed {
			var err error
			if data, err = f.link.api.Decompress(req.path, data); err != nil {
				return f.leaveOut(req, err)
			}
		}
		f.replica.setData(req, call.Stat(), data)
	}
	return nil
}

// leaveOut takes over that a node may not be read, or not be understood.
func (f *follower) leaveOut(req *request, err error) error {
	if !f.loaded && req.path == f.replica.root && errors.Is(err, framework.ErrNoAuth) {
		return req.failure(1, err)
	}
	f.replica.leaveOut(req, err)
	return nil
}

// failed takes over that a read has failed for a reason that may pass. refused says that it was refused for
// the node's sake: only that counts as a failure of the node.
func (f *follower) failed(req *request, err error, refused bool) error {
	switch {
	case !f.loaded:
		return req.failure(1, err)
	case refused && f.replica.refused(req, err):
		return nil
	case f.troubles.failed():
		f.out.warn("a cache cannot read a node, and goes on trying", "node", req.path, "error", err)
	}
	if f.replica.requests.fail(req) {
		f.troubles.await()
	}
	return nil
}

// advance sends what is to be sent.
func (f *follower) advance() {
	r := f.replica
	if since, failing := f.troubles.isFailing(); failing && r.requests.failing == 0 {
		if r.unread.kept == 0 {
			f.out.info("a cache can read its nodes again", "failed for", time.Since(since))
		}
		f.troubles.recovered()
	}
	if !f.link.connected {
		return
	}
	f.pump()
	asked := f.out.asked()
	if asked > f.link.conn.LastZxid() {
		f.link.sync()
	}
	settled := r.requests.idle() && f.loaded && (r.held.changed || !f.shown.exact && r.exact())
	if asked > r.last || settled && f.link.probes == 0 {
		f.link.probe()
	}
}

// pump sends what is to be read, as far as the window and the other users of the connection allow.
func (f *follower) pump() {
	r := f.replica
	for room, sent := 0, 0; ; room, sent = room-1, sent+1 {
		if sent%glance == 0 { // the others send meanwhile
			room = crowd - f.link.conn.Outstanding()
		}
		req := r.next()
		if req == nil || room <= 0 && r.requests.flying >= share || !r.requests.depart(req, req.weigh(r.tree.Get(req.path))) {
			return
		}
		f.link.send(req)
	}
}

// A version is exact when it is shown at a reply while nothing is to be read: the reply comes
// behind the events of all changes up to its zxid and ahead of those of all later ones, and since
// nothing is to be read, the last reply about each changed node came behind its last event. An
// event alone is no such moment, because the next event may be of the same transaction.

// showExact shows the tree, if it is the one that the server had at the reply which was just taken
// over.
func (f *follower) showExact() {
	r := f.replica
	if !r.requests.idle() {
		return
	}
	exact := r.exact()
	if r.held.changed || r.last > f.shown.zxid || exact && !f.shown.exact || f.troubles.isCut() || !f.loaded {
		f.show(r.last, exact)
	}
}

// showOverdue shows the tree as it is, if changes have been held back for the maximal lag. A load
// is waited for, and for as long again for an exact version after it.
func (f *follower) showOverdue() {
	r := f.replica
	switch {
	case !r.held.overdue():
	case r.requests.walking > 0:
		r.held.again()
	case r.held.changed || !f.loaded:
		f.show(max(r.requests.since(r.last), f.shown.zxid), false)
	}
}

// show shows the tree, unless somebody is told of its changes for whom data is to be read first.
func (f *follower) show(zxid int64, exact bool) {
	heard := f.out.heard()
	if heard && f.cfg.dataless && f.replica.readFresh(f.shown.root, !f.loaded || f.troubles.isCut()) {
		return
	}
	if f.link.connected {
		f.troubles.compared()
	}
	f.shown, f.loaded = f.replica.publish(zxid, exact, heard), true
	f.out.show(f.shown)
}

// end gives the watches back, as link.close says.
func (f *follower) end(ctx context.Context) {
	f.link.close(ctx)
	for _, t := range []*time.Timer{f.replica.held.lag, f.troubles.again, f.replica.unread.retry} {
		t.Stop()
	}
}
