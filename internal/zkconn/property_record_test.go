package zkconn_test

import (
	"fmt"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// record takes the events of a connection and checks their order.
type record struct {
	mu    sync.Mutex
	now   state.ConnectionState
	last  zkconn.Event
	using int64 // the session that the last connection had
	ended map[int64]bool
	doubt map[int64]bool // the deadline has passed, at least once
	errs  []error
}

func (r *record) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrongLocked(format, args...)
}

func (r *record) wrongLocked(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

func (r *record) wrong() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs
}

// over returns the sessions that were reported to have ended.
func (r *record) over() (ids []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.ended {
		ids = append(ids, id)
	}
	return ids
}

// doubted tells whether a deadline of the session was reported to have passed.
func (r *record) doubted(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doubt[id]
}

// take is the connection's OnEvent.
func (r *record) take(e zkconn.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended, r.doubt = map[int64]bool{}, map[int64]bool{}
	}
	switch e.Kind {
	case zkconn.StateChanged:
		r.changed(e)
	case zkconn.DeadlinePassed:
		if r.ended[e.Session] {
			r.wrongLocked("the deadline of session %x has passed after its end", e.Session)
		}
		r.doubt[e.Session] = true
	case zkconn.SessionEnded:
		if r.ended[e.Session] {
			r.wrongLocked("session %x has ended twice", e.Session)
		}
		r.ended[e.Session] = true
	}
	r.last = e
}

func (r *record) changed(e zkconn.Event) {
	if !state.Legal(r.now, e.State) {
		r.wrongLocked("%v after %v", e.State, r.now)
	}
	r.now = e.State
	switch {
	case e.State == state.Lost:
		if r.last.Kind != zkconn.SessionEnded || r.last.Session != e.Session {
			r.wrongLocked("LOST of session %x after %+v: nothing has ended it", e.Session, r.last)
		}
	case e.State.IsConnected():
		if first := r.using == 0; first != (e.State == state.Connected) {
			r.wrongLocked("%v; the first connection: %t", e.State, first)
		}
		if r.ended[e.Session] {
			r.wrongLocked("%v in session %x, which has ended", e.State, e.Session)
		}
		if r.using != 0 && r.using != e.Session && !r.ended[r.using] {
			r.wrongLocked("%v in session %x before the end of %x", e.State, e.Session, r.using)
		}
		r.using = e.Session
	}
}
