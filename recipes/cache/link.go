package cache

import (
	"context"
	"errors"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/inbox"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// link is the way of a cache to the server.
type link struct {
	api       *zkclient.Client
	paths     paths
	conn      *zkconn.Conn
	box       *inbox.Inbox
	sub       *zkconn.Subscription // nil with one-shot watches
	watches   oneShots
	connected bool // as the messages of box say
	probes    int  // in flight, and unasked
	unasked   int  // probes that the client has refused, and that count until the end of a pause
}

// The requests that are no reads of a node.
type probe struct{}

type syncing struct{}

// open begins to take messages.
func (l *link) open() (err error) {
	if l.conn, err = l.api.Conn(); err != nil {
		return err
	}
	l.box, l.connected = inbox.New(l.conn)
	l.watches = oneShots{conn: l.conn, box: l.box, paths: l.paths}
	return nil
}

// subscribe sets the persistent watch, and tells whether the server has such.
func (l *link) subscribe(ctx context.Context, recursive bool) (ok bool, err error) {
	sub := l.box.Subscription(l.paths.full, recursive)
	err = l.api.Retry(ctx, "addWatch", l.paths.root, func(ctx context.Context, conn *zkconn.Conn) error {
		return conn.Subscribe(ctx, sub)
	})
	switch {
	case err == nil:
		l.sub = sub
	case errors.Is(err, framework.ErrUnimplemented):
		l.watches.set = map[watchKey]*zkconn.Watch{}
		return false, nil
	}
	return err == nil, err
}

// reach waits for a connection, for as long as the client's retry policy wants.
func (l *link) reach(ctx context.Context) error {
	return l.api.Retry(ctx, "exists", l.paths.root, func(ctx context.Context, conn *zkconn.Conn) error {
		return conn.Do(ctx, 0, zkconn.Exists(l.paths.full, nil))
	})
}

// reconnected takes over that there is another connection.
func (l *link) reconnected() {
	l.connected, l.probes, l.unasked = true, 0, 0
	l.watches.lost()
}

// send sends a read. With one-shot watches it sets one, unless it is set.
func (l *link) send(req *request) {
	full, watch := l.paths.server(req.path), l.watches.next(req.path, req.verb.watches())
	var call *zkconn.Call
	switch req.verb {
	case list:
		call = zkconn.List(full, watch)
	case check:
		call = zkconn.Exists(full, watch)
	default:
		call = zkconn.GetData(full, watch)
	}
	l.box.Send(call, req)
}

// probe sends a request whose reply tells a zxid. The reply comes behind the events of all
// changes up to it.
func (l *link) probe() {
	l.probes++
	l.box.Send(zkconn.Exists(l.paths.full, nil), probe{})
}

// probed takes over the end of a probe. It returns false if the client keeps no more requests: the next probe
// waits then, because the refusal comes at once, and another probe would be refused as fast.
func (l *link) probed(call *zkconn.Call) (ok bool) {
	if call.Err != nil && !call.Answered() && !withoutConnection(call) {
		l.unasked++
		return false
	}
	l.probes = max(l.probes-1, 0)
	return true
}

// askAgain allows probes again in place of those that the client has refused.
func (l *link) askAgain() {
	l.probes, l.unasked = max(l.probes-l.unasked, 0), 0
}

// sync has the server in use catch up with its leader.
func (l *link) sync() { l.box.Send(zkconn.Sync(l.paths.full), syncing{}) }

// close gives the watches back. That the server has none any more is confirmed unless ctx ends, or
// the connection does, with which they go.
func (l *link) close(ctx context.Context) {
	if l.sub != nil {
		ctx, cancel := lifecycle.Reachable(ctx, l.api)
		_ = l.conn.Unsubscribe(ctx, l.sub)
		cancel()
	}
	l.watches.end()
	l.box.Close()
}

// withoutConnection tells whether a request has failed for want of a connection or of a session, which says
// nothing of its node. What the client itself refuses on a connection is no such failure: a request too
// many, or one that is too large.
func withoutConnection(call *zkconn.Call) bool {
	switch {
	case errors.Is(call.Err, framework.ErrConnectionLoss), errors.Is(call.Err, framework.ErrSessionExpired):
		return true
	case errors.Is(call.Err, zkconn.ErrThrottled), errors.Is(call.Err, framework.ErrTooLarge):
		return false
	}
	return !call.Answered()
}

type watchKey struct {
	path string // the client's
	kind zkconn.WatchKind
}

// oneShots are the one-shot watches of a cache whose server has no others.
type oneShots struct {
	conn  *zkconn.Conn
	box   *inbox.Inbox
	paths paths
	set   map[watchKey]*zkconn.Watch // the server has them, or a read that sets them is in flight; nil with a persistent watch
}

// used tells whether there is no persistent watch.
func (w *oneShots) used() bool { return w.set != nil }

// next returns the watch that a read of a node is to set, nil if there is such a watch.
func (w *oneShots) next(path string, kind zkconn.WatchKind) *zkconn.Watch {
	if !w.used() || w.set[watchKey{path, kind}] != nil {
		return nil
	}
	watch := w.box.Watch(w.paths.server(path), kind)
	w.set[watchKey{path, kind}] = watch
	return watch
}

// hasFired tells whether a watch on a node has fired, and no read has set another one since.
func (w *oneShots) hasFired(path string, kind zkconn.WatchKind) bool {
	return w.used() && w.set[watchKey{path, kind}] == nil
}

// fired takes note that the server has no watch on a node any more.
func (w *oneShots) fired(path string, e zkconn.EventType) {
	if e != zkconn.NodeChildrenChanged {
		delete(w.set, watchKey{path, zkconn.WatchData})
	}
	if e != zkconn.NodeDataChanged && e != zkconn.NodeCreated {
		delete(w.set, watchKey{path, zkconn.WatchChildren})
	}
}

// notSet forgets a watch that was not set.
func (w *oneShots) notSet(watch *zkconn.Watch) {
	for _, kind := range []zkconn.WatchKind{zkconn.WatchData, zkconn.WatchChildren} {
		if key := (watchKey{w.paths.client(watch.Path()), kind}); w.set[key] == watch {
			delete(w.set, key)
		}
	}
}

// drop gives back the watches of a node.
func (w *oneShots) drop(path string) {
	for _, kind := range []zkconn.WatchKind{zkconn.WatchData, zkconn.WatchChildren} {
		key := watchKey{path, kind}
		if watch := w.set[key]; watch != nil {
			w.conn.Unwatch(watch)
			delete(w.set, key)
		}
	}
}

// keepData calls do, which does not give back the watch on the node's data.
func (w *oneShots) keepData(path string, do func()) {
	key := watchKey{path, zkconn.WatchData}
	watch := w.set[key]
	delete(w.set, key)
	do()
	if watch != nil {
		w.set[key] = watch
	}
}

// lost takes note that the watches have gone with their connection.
func (w *oneShots) lost() { clear(w.set) }

// end gives all watches back.
func (w *oneShots) end() {
	for _, watch := range w.set {
		w.conn.Unwatch(watch)
	}
}

// paths translates between the paths of the client and those of the server.
type paths struct{ root, full string }

// server returns the server's path for a path of the client.
func (p paths) server(path string) string {
	if p.root == p.full {
		return path
	}
	return swapRoot(path, p.root, p.full)
}

// client returns the client's path for a path of the server.
func (p paths) client(full string) string {
	if p.root == p.full {
		return full
	}
	return swapRoot(full, p.full, p.root)
}

// swapRoot replaces the root at the beginning of a path.
func swapRoot(path, from, to string) string {
	rest := strings.TrimPrefix(path, from)
	if from == "/" && path != "/" {
		rest = path
	}
	if to == "/" && rest != "" {
		return rest
	}
	return to + rest
}
