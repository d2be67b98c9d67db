package zkconn

import "slices"

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

// ended are the sessions of a Conn whose end is certain.
type ended struct {
	expired []int64 // the newest last
	closed  int64   // by Close; 0 for none
}

func (e *ended) expire(session int64) {
	if e.expired = append(e.expired, session); len(e.expired) > maxExpired {
		e.expired = slices.Delete(e.expired, 0, 1)
	}
}

func (e *ended) of(session int64) SessionEnd {
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
