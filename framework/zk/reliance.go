package zk

import (
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
)

// reliance is what a program relies on a session for, as far as can be seen: its ephemeral nodes. If one of them is a
// place in a queue, as an ephemeral sequential node is, the session is given up at its deadline. For other ephemeral
// nodes, most of which announce something, an outage that the session survives must not cost it; but it is
// presumed over when no server has answered for its timeout.
type reliance struct {
	conn *zkconn.Conn

	mu      sync.Mutex
	session int64 // of the nodes, 0 if that is not known yet
	place   bool
	shared  bool // others have the client, who rely on the session in ways that cannot be seen
	closed  bool
}

// made notes that an ephemeral node is made, or is about to be, in a session; 0 for any.
func (r *reliance) made(session int64, place bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.session = session
	r.conn.PresumeAtTimeout(true)
	if place && !r.place {
		r.place = true
		r.conn.Use()
	}
}

// share notes that the client is known outside.
func (r *reliance) share() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared = true
	r.conn.PresumeAtTimeout(true)
}

// onPlace tells whether the session is to be given up at its deadline.
func (r *reliance) onPlace(session int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.place && (r.session == session || r.session == 0)
}

// ended notes that a session is over, and its nodes with it. What is about to be made is noted again when it is.
func (r *reliance) ended(session int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == session || r.session == 0 {
		r.forget()
	}
}

// close ends all reliance.
func (r *reliance) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.forget()
}

// forget undoes made; r.mu is held.
func (r *reliance) forget() {
	if r.place {
		r.conn.Unuse()
	}
	r.place = false
	r.conn.PresumeAtTimeout(r.shared)
}
