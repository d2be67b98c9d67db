package zkserver

import (
	"context"
	"sync"
	"syscall"

	"github.com/go-curator/curator/internal/zkserver/valve"
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
// more than once: it does not read, answer or expire. Time goes on meanwhile, so that a
// session which was not heard of for too long may end at the resume, even if its client's
// requests are waiting.
func (s *Server) Pause() (resume func()) {
	releases := []func(){s.running.Hold(), s.toServer.Hold(), s.toClient.Hold()}
	return func() {
		for _, release := range releases {
			release()
		}
	}
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
	// A paused server's kernel still accepts, so that only partitions count.
	for _, v := range []*valve.Valve{&s.toServer, &s.toClient} {
		if s.running.Held() {
			break
		}
		if !v.Pass(ctx.Done()) {
			return context.Cause(ctx)
		}
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
		if id == 0 || c.session != nil && c.session.id == id {
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
		s.cut(c)
	}
	if keep {
		s.store.reload()
		return
	}
	fresh := newStore(s.config)
	fresh.start = s.store.start
	fresh.nextID = max(fresh.nextID, s.store.nextID)
	s.store = fresh
}
