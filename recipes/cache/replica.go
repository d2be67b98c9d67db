package cache

import (
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/inbox"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// After a failed read the cache tries again, with growing pauses.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// replica follows the nodes of one cache. One goroutine uses it: first that of Start, then the
// cache's own.
//
// A node that exists at the server is in one of these states:
//
//	known     the tree has what the last reply said, and no event has come since
//	wanted    it may have changed, and there is a request for it
//	left out  it cannot be read (see unread), or the selector does not want it
//
// A reply that comes after the last event of a node shows all changes, however early its request
// was sent.
type replica struct {
	cfg    *config
	client *framework.Client
	inside *zkclient.Client
	paths  paths
	output output

	link
	tree     *pathtree.Tree[content]
	fresh    map[string][]byte // with WithoutData: the data that was read since the last version was shown
	requests requests
	last     int64 // the zxid of the last reply
	base     int64 // up to this zxid the children of all nodes in the tree are known; see restart
	epoch    int64 // of the servers' data, which last and base are of
	stream
	shows
	failures
	unreads
}

// link is a replica's way to the server.
type link struct {
	conn      *zkconn.Conn
	box       *inbox.Inbox
	sub       *zkconn.Subscription       // nil with one-shot watches
	watches   map[watchKey]*zkconn.Watch // the one-shot watches that are set; nil with a persistent watch
	oneShot   bool                       // the server has no persistent watches
	connected bool
	lost      error // why the last read got no answer; nil if it got one
	replies   int   // how many there were
	probes    int   // in flight, and unasked
	unasked   int   // probes that the client has refused, and that count until the end of a pause
}

// shows is what a replica has shown, and what it has to show.
type shows struct {
	loaded    bool // a version was shown
	shown     version
	changed   bool      // the tree is not what was shown
	heldSince time.Time // when changes began to be held back; zero if there are none
	lag       *time.Timer
}

// failures are what keeps a replica from following the server.
type failures struct {
	again     *time.Timer // for what has failed
	pause     time.Duration
	cutSince  time.Time // when the connection was lost; zero if the tree has been compared since
	failSince time.Time // when a read began to fail for another reason; zero if none does
}

// output takes what a replica has to tell. Its functions are called by the replica's goroutine.
type output struct {
	show  func(v version)
	stale func(since time.Time) // zero when it is over
	asked func() (zxid int64)   // returns the highest zxid that was asked for since the last call; 0 for none
	heard func() bool           // reports whether anybody is told of changes, and so uses fresh
}

// version is the tree at one moment.
type version struct {
	root   *pathtree.Node[content]
	epoch  int64 // of the servers' data, which zxid is of
	zxid   int64
	exact  bool
	fresh  map[string][]byte
	told   deletions        // since the version before, by events
	unread map[string]error // the nodes whose last known content it has, because they cannot be read
	heard  bool             // somebody is told of its changes
}

type watchKey struct {
	path string // the client's
	kind zkconn.WatchKind
}

func newReplica(cfg *config, client *framework.Client, paths paths, out output) *replica {
	r := &replica{
		cfg: cfg, client: client, inside: zkclient.Of(client), paths: paths, output: out,
		tree: pathtree.New[content](paths.root), requests: newRequests(),
		shows:    shows{lag: time.NewTimer(time.Hour)},
		failures: failures{again: time.NewTimer(time.Hour), pause: firstPause},
		unreads:  unreads{out: map[string]*unread{}, retry: time.NewTimer(time.Hour)},
	}
	r.stopTimers()
	return r
}

func (r *replica) stopTimers() {
	for _, t := range []*time.Timer{r.lag, r.again, r.retry} {
		t.Stop()
	}
}

// choose is config.choose.
func (r *replica) choose(path string) (accept, descend bool) {
	return r.cfg.choose(path, path == r.paths.root)
}

// wants tells whether a node is to be read whose parent is in the tree.
func (r *replica) wants(path string) bool {
	accept, descend := r.choose(path)
	return accept || descend
}

// touched takes note that something may have changed, which is held back for a while.
func (r *replica) touched() {
	if r.heldSince.IsZero() {
		r.heldSince = time.Now()
		r.lag.Reset(r.cfg.maxLag)
	}
}

// delete takes a node out of the tree, with what is below it.
func (r *replica) delete(path string) {
	r.forget(path)
	deleted := r.tree.Delete(path)
	if deleted == nil {
		return
	}
	r.changed = true
	r.touched()
	if r.watches == nil && len(r.out) == 0 {
		return
	}
	for n := range deleted.Every() {
		r.unwatch(n.Path())
		r.forget(n.Path())
	}
}

// forget takes note that a node is not left out any more.
func (r *replica) forget(path string) {
	u := r.out[path]
	if u == nil {
		return
	}
	delete(r.out, path)
	if u.kept {
		r.kept--
		r.changed, r.dirty = true, true
		r.touched()
	}
}

// unwatch gives back the one-shot watches of a node.
func (r *replica) unwatch(path string) {
	for _, kind := range []zkconn.WatchKind{zkconn.WatchData, zkconn.WatchChildren} {
		key := watchKey{path, kind}
		if w := r.watches[key]; w != nil {
			r.conn.Unwatch(w)
			delete(r.watches, key)
		}
	}
}

// exact tells whether a version can be exact.
func (r *replica) exact() bool { return !r.oneShot && r.kept == 0 }

// updateStale tells since when the cache cannot follow the server.
func (r *replica) updateStale() {
	since := r.cutSince
	if since.IsZero() || !r.failSince.IsZero() && r.failSince.Before(since) {
		since = r.failSince
	}
	r.output.stale(since)
}

// warn logs a warning.
func (r *replica) warn(text string, args ...any) {
	args = append([]any{"path", r.paths.root}, args...)
	r.inside.Log(func() { r.client.Logger().Warn(text, args...) })
}

func (r *replica) info(text string, args ...any) {
	args = append([]any{"path", r.paths.root}, args...)
	r.inside.Log(func() { r.client.Logger().Info(text, args...) })
}
