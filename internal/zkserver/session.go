package zkserver

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"maps"
	"slices"
	"time"
)

// passwordLen is the length of a session's password.
const passwordLen = 16

// session is a client's session.
type session struct {
	id         int64
	password   []byte
	granted    time.Duration // the timeout when it was created: a restart returns to it
	timeout    time.Duration // the timeout of its last connection
	expires    int64         // the tick at which it ends
	ephemerals map[string]struct{}
	conn       *conn // nil while disconnected
}

// firstSessionID returns an id for the first session of a server that starts at now, made
// as ZooKeeper does: the server's number, 1, in the top byte, then the clock.
func firstSessionID(now time.Time) int64 {
	return int64(uint64(now.UnixMilli())<<24>>8) | 1<<56
}

// createSession starts a session. It is a transaction.
func (st *store) createSession(timeout time.Duration) *session {
	st.zxid++
	sess := &session{
		id:         st.nextID,
		password:   make([]byte, passwordLen),
		granted:    timeout,
		timeout:    timeout,
		ephemerals: map[string]struct{}{},
	}
	rand.Read(sess.password)
	st.nextID++
	st.sessions[sess.id] = sess
	st.touch(sess)
	return sess
}

// resume returns the session that a client asks to continue, nil if it is over or the
// password is wrong.
func (st *store) resume(id int64, password []byte) *session {
	sess := st.sessions[id]
	if sess == nil || subtle.ConstantTimeCompare(sess.password, password) != 1 {
		return nil
	}
	return sess
}

// touch puts off a session's end. It ends at a whole tick, the first one that is later
// than its timeout from now.
func (st *store) touch(sess *session) {
	sess.expires = int64((st.clock.elapsed()+sess.timeout)/st.config.TickTime) + 1
}

// overdue returns the sessions that have ended by now, in the order of their ends.
func (st *store) overdue() []*session {
	tick := int64(st.clock.elapsed() / st.config.TickTime)
	var ended []*session
	for _, sess := range st.sessions {
		if sess.expires <= tick {
			ended = append(ended, sess)
		}
	}
	slices.SortFunc(ended, func(a, b *session) int {
		return cmp.Or(cmp.Compare(a.expires, b.expires), cmp.Compare(a.id, b.id))
	})
	return ended
}

// endSession removes a session and its ephemeral nodes, oldest first, in one transaction.
func (st *store) endSession(sess *session) {
	tx := st.begin(sess.id, nil)
	paths := slices.SortedFunc(maps.Keys(sess.ephemerals), func(a, b string) int {
		return cmp.Or(cmp.Compare(st.tree.get(a).czxid, st.tree.get(b).czxid), cmp.Compare(a, b))
	})
	for _, path := range paths {
		parent, _ := parentOf(path)
		tx.detach(path, st.tree.get(parent), st.tree.get(path))
	}
	delete(st.sessions, sess.id)
	tx.commit()
}

// reload gives every session its full time, as a server does that has read them from disk.
func (st *store) reload() {
	st.data, st.children = newWatchTable(), newWatchTable()
	for _, sess := range st.sessions {
		sess.timeout = sess.granted
		st.touch(sess)
	}
}
