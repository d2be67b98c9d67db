package tree

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"maps"
	"slices"
	"time"
)

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
	st.data, st.children = newWatchTable(), newWatchTable()
	for _, sess := range st.sessions {
		sess.timeout = sess.granted
		st.Touch(now, sess)
	}
}

// Clear returns the state of a server that starts with an empty disk in the place of this
// one. It gives no session an id that this one has given.
func (st *State) Clear(now time.Time, config Config) *State {
	fresh := New(now, config)
	fresh.start = st.start
	fresh.nextID = max(fresh.nextID, st.nextID)
	return fresh
}
