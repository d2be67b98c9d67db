package zkserver

import (
	"time"

	"github.com/go-curator/curator/internal/zkserver/tree"
)

// AdvanceClock moves the server's clock ahead by d; a d below zero is zero. When it
// returns, the sessions have ended that by then were not heard of for their timeouts, and
// the nodes are gone that were due, unless the server is paused: then that comes with the
// resume. Delays, and the time that a connection has for its handshake, do not change.
func (s *Server) AdvanceClock(d time.Duration) {
	s.clock.advance(max(d, 0))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pauses) == 0 {
		s.catchUp()
	}
}

// catchUp ends and removes what is due by now. The caller holds the lock.
func (s *Server) catchUp() {
	s.expireOverdue()
	s.reapDue()
}

// expireSessions ends sessions whose time is over, at every tick.
func (s *Server) expireSessions() {
	tick := s.config.TickTime
	for s.waitUntil(s.clock.start.Add(s.clock.elapsed().Truncate(tick) + tick)) {
		s.mu.Lock()
		s.expireOverdue()
		s.mu.Unlock()
	}
}

// expireOverdue ends the sessions whose time is over, unless the server is stopped. The caller
// holds the lock.
func (s *Server) expireOverdue() {
	if s.stopped {
		return
	}
	for _, sess := range s.state.Overdue(s.clock.now()) {
		s.expire(sess)
	}
}

// expire ends a session and cuts its connection. The caller holds the lock.
func (s *Server) expire(sess *tree.Session) {
	s.config.Logger.Debug("session expired", "session", sess.ID())
	c := s.holders[sess.ID()]
	s.state.EndSession(s.clock.now(), sess)
	if c != nil {
		s.cut(c)
	}
}

// reapNodes removes empty containers and timed nodes, at every interval.
func (s *Server) reapNodes() {
	reap := func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.reapDue()
	}
	for next := reap(); s.waitUntil(next); {
		next = reap()
	}
}

// reapDue removes empty containers and timed nodes if it is time to look for them, and the
// server is not stopped. It returns when the next time is. The caller holds the lock.
func (s *Server) reapDue() (next time.Time) {
	now := s.clock.now()
	if late := now.Sub(s.nextReap); late >= 0 {
		if !s.stopped {
			s.state.Reap(now)
		}
		interval := s.config.ContainerCheckInterval
		s.nextReap = s.nextReap.Add(late.Truncate(interval) + interval)
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
