// Package tree is the state of a ZooKeeper server: nodes with their data, ACLs and Stats; sessions;
// watches; quotas. [State.Do] applies one request and returns its reply, as the [Release] does that the
// server follows.
//
// It has no network, no clock and no goroutine: its caller passes the time, and the same calls
// have the same results. Package zkserver makes a server of it, and adds handshakes,
// authentication, four-letter words and faults.
//
// It is fuzzed alone, and compared with a real server alone: see the tests here and those of
// package zkserver.
//
// Nothing here is safe for concurrent use. No call waits.
package tree

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"maps"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// Config sets up a State.
type Config struct {
	// TickTime is the unit of session time: sessions expire at multiples of it, counted from
	// the time of New. It must be above 0.
	TickTime time.Duration
	// FirstZxid is what the ids of transactions are counted from.
	FirstZxid int64
	// MaxNeverUsed is how long a container stays that never had a child; 0 is for ever.
	MaxNeverUsed time.Duration
	// Release is the release of ZooKeeper to answer as, 3.8.0 by default.
	Release Release
	// FirstSession is the id of the first session, also behind Clear. 0 is an id that is made of the time,
	// as ZooKeeper makes it.
	FirstSession int64
}

// State is what a server knows. It is made by New.
type State struct {
	release   Release
	tick      time.Duration
	start     time.Time // ticks are counted from here
	neverUsed time.Duration
	nodes     nodes
	zxid      int64 // of the last transaction
	sessions  map[int64]*Session
	nextID    int64 // of the next session
	data      watchTable
	children  watchTable
	quotas    quotas
}

// New returns the state of a server that starts for the first time, at start.
func New(start time.Time, config Config) *State {
	return &State{
		release:   config.Release,
		tick:      config.TickTime,
		start:     start,
		neverUsed: config.MaxNeverUsed,
		nodes:     newNodes(),
		zxid:      config.FirstZxid,
		sessions:  map[int64]*Session{},
		nextID:    cmp.Or(config.FirstSession, firstSessionID(start)),
		data:      newWatchTable(config.Release),
		children:  newWatchTable(config.Release),
		quotas:    quotas{},
	}
}

// firstSessionID returns an id for the first session of a server that starts at now, made
// as ZooKeeper does: the server's number, 1, in the top byte, then the clock.
func firstSessionID(now time.Time) int64 {
	return int64(uint64(now.UnixMilli())<<24>>8) | 1<<56
}

// Zxid returns the id of the last transaction.
func (st *State) Zxid() int64 { return st.zxid }

// Forget takes away the watches of a connection.
func (st *State) Forget(c *Client) {
	st.data.removeClient(c)
	st.children.removeClient(c)
}

// CreateSession starts a session, in a transaction. The password is what a client has to know
// to continue it.
func (st *State) CreateSession(now time.Time, timeout time.Duration, password []byte) *Session {
	st.zxid++
	sess := &Session{
		id:         st.nextID,
		password:   bytes.Clone(password),
		granted:    timeout,
		timeout:    timeout,
		ephemerals: map[string]struct{}{},
	}
	st.nextID++
	st.sessions[sess.id] = sess
	st.Touch(now, sess)
	return sess
}

// Session returns the session with the id, nil if there is none.
func (st *State) Session(id int64) *Session { return st.sessions[id] }

// Sessions returns the ids of the sessions, sorted.
func (st *State) Sessions() []int64 { return slices.Sorted(maps.Keys(st.sessions)) }

// Resume continues a session with another timeout and returns it. It returns nil if the
// session is over, or the password is wrong.
func (st *State) Resume(now time.Time, id int64, password []byte, timeout time.Duration) *Session {
	sess := st.sessions[id]
	if sess == nil || subtle.ConstantTimeCompare(sess.password, password) != 1 {
		return nil
	}
	sess.timeout = timeout
	st.Touch(now, sess)
	return sess
}

// Touch puts off a session's end. It ends at a whole tick, the first one that is later
// than its timeout from now.
func (st *State) Touch(now time.Time, sess *Session) {
	sess.expires = int64((now.Sub(st.start)+sess.timeout)/st.tick) + 1
}

// Overdue returns the sessions that should have ended by now, in the order of their ends.
func (st *State) Overdue(now time.Time) []*Session {
	tick := int64(now.Sub(st.start) / st.tick)
	var ended []*Session
	for _, sess := range st.sessions {
		if sess.expires <= tick {
			ended = append(ended, sess)
		}
	}
	slices.SortFunc(ended, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.expires, b.expires), cmp.Compare(a.id, b.id))
	})
	return ended
}

// Reload does what a restart does: the watches go, and every session gets the full time that
// it was first granted, as a server gives it that has read them from disk.
func (st *State) Reload(now time.Time) {
	st.data, st.children = newWatchTable(st.release), newWatchTable(st.release)
	for _, sess := range st.sessions {
		sess.timeout = sess.granted
		st.Touch(now, sess)
	}
}

// Clear returns the state of a server that starts with an empty disk in the place of this
// one. It gives no session an id that this one has given, unless the ids have a FirstSession.
func (st *State) Clear(now time.Time, config Config) *State {
	fresh := New(now, config)
	fresh.start = st.start
	if config.FirstSession == 0 {
		fresh.nextID = max(fresh.nextID, st.nextID)
	}
	return fresh
}

// Get returns a node's data and Stat, and whether there is one.
func (st *State) Get(path string) ([]byte, jute.Stat, bool) {
	n := st.nodes.get(path)
	if n == nil {
		return nil, jute.Stat{}, false
	}
	return bytes.Clone(n.data), n.stat(), true
}

// Children returns the names of a node's children, sorted; none if there is no such node.
func (st *State) Children(path string) []string {
	n := st.nodes.get(path)
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.children))
}

// SetSequence sets the number that the next sequential child of a node gets. Its Cversion
// changes with it. It is false if there is no such node.
func (st *State) SetSequence(path string, next int32) bool {
	n := st.nodes.get(path)
	if n == nil {
		return false
	}
	n.creates = next
	return true
}

// Watches returns how many watches clients have set. A persistent one counts once.
func (st *State) Watches() int {
	return st.data.count(anyMode) + st.children.count(oneShot)
}

// Figures are counts of what a State has, as ZooKeeper's four-letter words count.
type Figures struct {
	Nodes      int // the root counts twice
	Ephemerals int
	Bytes      int // of data and paths
	Sessions   int
	Watches    int // in both tables: a persistent one is in each; those of a client on a path are one

	WatchingClients, WatchedPaths, DataWatches int // watches on data only
}

// Figures counts what there is.
func (st *State) Figures() Figures {
	f := Figures{
		Nodes:           len(st.nodes) + 1,
		Sessions:        len(st.sessions),
		WatchingClients: len(st.data.byClient),
		WatchedPaths:    len(st.data.byPath),
		DataWatches:     st.data.entries(),
	}
	f.Watches = f.DataWatches + st.children.entries()
	for _, sess := range st.sessions {
		f.Ephemerals += len(sess.ephemerals)
	}
	for path, n := range st.nodes {
		f.Bytes += len(path) + len(n.data)
	}
	return f
}
