package zkserver

import (
	"slices"
	"sync"
	"time"
)

// clock is the server's only clock: that of package time, as far ahead as it was moved.
type clock struct {
	start time.Time // ticks are counted from here

	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed by the next advance
}

func newClock() *clock { return &clock{start: time.Now(), moved: make(chan struct{})} }

// now returns the time.
func (c *clock) now() time.Time { return c.start.Add(c.elapsed()) }

// elapsed returns how long ago the clock was made.
func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.start) + c.ahead
}

// until returns how long it is until t, and a channel that is closed when that is no
// longer so.
func (c *clock) until(t time.Time) (time.Duration, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(t) - c.ahead, c.moved
}

// advance moves the clock ahead.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	close(c.moved)
	c.moved = make(chan struct{})
}

// AdvanceClock moves the server's clock ahead by d; a d below zero is zero. When it
// returns, the sessions have ended that by then were not heard of for their timeouts, and
// the nodes are gone that were due, unless the server is paused: then that comes with the
// resume. Delays, and the time that a connection has for its handshake, do not change.
func (s *Server) AdvanceClock(d time.Duration) {
	s.clock.advance(max(d, 0))
	if s.pauses.Load() == 0 {
		s.expireOverdue()
		s.reapDue()
	}
}

// expireSessions ends sessions whose time is over, at every tick.
func (s *Server) expireSessions() {
	tick := s.config.TickTime
	for s.waitUntil(s.clock.start.Add((s.clock.elapsed()/tick + 1) * tick)) {
		s.expireOverdue()
	}
}

// expireOverdue ends the sessions whose time is over.
func (s *Server) expireOverdue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.store.overdue() {
		s.expire(sess)
	}
}

// expire ends a session and cuts its connection. The caller holds the lock.
func (s *Server) expire(sess *session) {
	s.config.Logger.Debug("session expired", "session", sess.id)
	c := sess.conn
	s.store.endSession(sess)
	if c != nil {
		s.cut(c)
	}
}

// reapNodes removes empty containers and timed nodes, at every interval.
func (s *Server) reapNodes() {
	for next := s.reapDue(); s.waitUntil(next); {
		next = s.reapDue()
	}
}

// reapDue removes empty containers and timed nodes if it is time to look for them, and
// returns when that is the next time.
func (s *Server) reapDue() (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	if late := now.Sub(s.nextReap); late >= 0 {
		s.store.reap(now)
		interval := s.config.ContainerCheckInterval
		s.nextReap = s.nextReap.Add((late/interval + 1) * interval)
	}
	return s.nextReap
}

// waitUntil waits for a time, and while the server is paused. It is false after Close.
func (s *Server) waitUntil(t time.Time) bool {
	for {
		left, moved := s.clock.until(t)
		if left <= 0 {
			return s.running.Pass(s.done)
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-moved:
		case <-s.done:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// reap removes the containers whose last child has gone, and the timed nodes without
// children that have not been written for their time to live: each in a transaction of
// its own. A container that never had a child stays.
func (st *store) reap(now time.Time) {
	var ended []string
	for path, n := range st.tree {
		if len(n.children) > 0 {
			continue
		}
		idle := now.Sub(time.UnixMilli(n.mtime))
		if n.kind == container && n.creates > 0 || n.kind == timed && idle > n.ttl {
			ended = append(ended, path)
		}
	}
	slices.Sort(ended)
	for _, path := range ended {
		parent, _ := parentOf(path)
		tx := st.begin(0, nil)
		tx.detach(path, st.tree.get(parent), st.tree.get(path))
		tx.commit()
	}
}
