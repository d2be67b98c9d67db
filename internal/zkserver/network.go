package zkserver

import (
	"context"
	"sync"
	"syscall"
)

// Direction is a direction of the network.
type Direction int

// The directions.
const (
	Both Direction = iota
	ToServer
	ToClient
)

// Partition lets nothing through in a direction until heal is called, which may be called
// more than once. No connection is closed: as after a real loss of the network, what is
// on its way, the end of a connection included, arrives late.
func (s *Server) Partition(d Direction) (heal func()) {
	var heals []func()
	if d != ToClient {
		heals = append(heals, s.toServer.Hold())
	}
	if d != ToServer {
		heals = append(heals, s.toClient.Hold())
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// Pause stops the server as SIGSTOP would, until resume is called, which may be called
// more than once: it does not read, answer or expire. Time goes on meanwhile. At the resume
// the sessions end that have not been heard of for too long, even if requests of their
// clients are waiting: real servers mostly, but not always, see to their clocks first.
func (s *Server) Pause() (resume func()) {
	release := s.running.Hold()
	s.pauses.Add(1)
	return sync.OnceFunc(func() {
		if s.pauses.Add(-1) == 0 {
			s.expireOverdue()
		}
		release()
	})
}

// inbound waits while nothing gets to the server, and is false if done is closed before.
func (s *Server) inbound(done <-chan struct{}) bool {
	return s.toServer.Pass(done) && s.running.Pass(done)
}

// outbound waits while nothing gets to clients, and is false if done is closed before.
func (s *Server) outbound(done <-chan struct{}) bool {
	return s.running.Pass(done) && s.toClient.Pass(done)
}

// Refuse closes every new connection at once until accept is called, which may be called
// more than once.
func (s *Server) Refuse() (accept func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusing++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refusing--
	})
}

// Reach waits as long as the network keeps a client from connecting. It fails if the
// server refuses connections, or is closed, or ctx ends.
func (s *Server) Reach(ctx context.Context) error {
	// While the server is paused, its kernel still accepts.
	if !s.toServer.Pass(ctx.Done()) || !s.toClient.Pass(ctx.Done()) {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.refusing > 0 {
		return syscall.ECONNREFUSED
	}
	return nil
}

// Disconnect closes the connection of a session, or with 0 every connection.
func (s *Server) Disconnect(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if !c.gone && (id == 0 || c.session != nil && c.session.id == id) {
			s.cut(c)
		}
	}
}

// ExpireSession ends a session now, as its timeout would. It is false if there is none.
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.store.sessions[id]
	if sess == nil {
		return false
	}
	s.expire(sess)
	return true
}

// Restart closes every connection. With keep, data and sessions stay, and each session has
// its full timeout anew, as when ZooKeeper reads them from disk. Without, everything is
// gone; clients that have seen a later zxid are refused then, as by ZooKeeper.
func (s *Server) Restart(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if !c.gone {
			s.cut(c)
		}
	}
	if keep {
		s.store.reload()
		return
	}
	fresh := newStore(s.config, s.start)
	fresh.nextID = max(fresh.nextID, s.store.nextID)
	s.store = fresh
}
