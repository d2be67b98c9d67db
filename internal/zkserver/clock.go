package zkserver

import (
	"slices"
	"time"
)

// expireSessions ends sessions whose time is over, at every tick.
func (s *Server) expireSessions() {
	tick := s.config.TickTime
	for s.waitUntil(s.start.Add((time.Since(s.start)/tick + 1) * tick)) {
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
	interval := s.config.ContainerCheckInterval
	for next := time.Now().Add(interval); s.waitUntil(next); next = next.Add(interval) {
		s.mu.Lock()
		s.store.reap(time.Now())
		s.mu.Unlock()
	}
}

// waitUntil waits for a time, and while the server is paused. It is false after Close.
func (s *Server) waitUntil(t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.running.Pass(s.done)
	case <-s.done:
		return false
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
