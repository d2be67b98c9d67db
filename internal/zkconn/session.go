package zkconn

import (
	"errors"
	"io"
	"slices"
	"time"
)

// session is what is known of the current session.
type session struct {
	id      int64
	timeout time.Duration
	passwd  []byte
	over    bool // ended, or given up here; it never comes back
}

// live tells whether there is a session that is not over.
func (s *session) live() bool { return s.id != 0 && !s.over }

// SessionEnd is what is known for certain of the end of a session.
type SessionEnd int

// The ends. A session that was given up here, without an answer, may live on.
const (
	// SessionMayLive: the session lives, or nobody knows.
	SessionMayLive SessionEnd = iota
	// SessionExpired: a server has said that it is over.
	SessionExpired
	// SessionClosed: it lived until Close, and the server has confirmed that.
	SessionClosed
)

// maxExpired is how many sessions are remembered that servers have ended. What was made on one is forgotten, or
// made again, soon after its end.
const maxExpired = 16

// endedSessions are the sessions of a Conn whose end is certain.
type endedSessions struct {
	expired []int64 // the newest last
	closed  int64   // by Close; 0 for none
}

func (e *endedSessions) expire(session int64) {
	if e.expired = append(e.expired, session); len(e.expired) > maxExpired {
		e.expired = slices.Delete(e.expired, 0, 1)
	}
}

func (e *endedSessions) of(session int64) SessionEnd {
	switch {
	case session == 0:
		return SessionMayLive
	case session == e.closed:
		return SessionClosed
	case slices.Contains(e.expired, session):
		return SessionExpired
	}
	return SessionMayLive
}

// refusals are handshakes in a row that servers have ended without an answer.
type refusals struct {
	n     int
	since time.Duration
}

// note counts an attempt that has failed with err.
func (r *refusals) note(err error, now time.Duration) {
	switch {
	case !errors.Is(err, io.EOF):
		*r = refusals{}
		return
	case r.n == 0:
		r.since = now
	}
	r.n++
}

// all tells whether all servers have refused several times, for two session timeouts: no server
// of a quorum is behind for that long.
func (r *refusals) all(servers int, now, timeout time.Duration) bool {
	return timeout > 0 && r.n >= 3*servers && now-r.since >= 2*timeout
}
