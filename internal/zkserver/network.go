package zkserver

import (
	"context"
	"sync"
	"syscall"

	"github.com/go-curator/curator/internal/jute"
)

// Partition lets nothing through in a direction until heal is called, which may be called
// more than once. No connection is closed: as after a real loss of the network, what is
// on its way, the end of a connection included, arrives late.
func (s *Server) Partition(d Direction) (heal func()) { return s.network.hold(d) }

// PartitionSession is Partition for the connections of one session, those that ask to
// continue it included, also when it is over: its client does not learn of that. A new
// connection is accepted, but its handshake is lost.
func (s *Server) PartitionSession(id int64, d Direction) (heal func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.links[id]
	if l == nil {
		l = &link{}
		s.links[id] = l
		for c := range s.conns {
			if c.claimed == id {
				c.link.Store(l)
			}
		}
	}
	return l.hold(d)
}

// claim makes a connection one of a session's. The caller holds the lock.
func (s *Server) claim(c *conn, id int64) {
	c.claimed = id
	if l := s.links[id]; l != nil {
		c.link.Store(l)
	}
}

// claimResumed is claim for the session that a handshake asks to continue.
func (s *Server) claimResumed(c *conn, frame []byte) {
	var req jute.ConnectRequest
	d := jute.NewDecoder(frame)
	if req.Decode(d); d.Err() != nil || req.SessionID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claim(c, req.SessionID)
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
	if !s.network.toServer.Pass(ctx.Done()) || !s.network.toClient.Pass(ctx.Done()) {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.admits() {
		return syscall.ECONNREFUSED
	}
	return nil
}

// Disconnect closes the connection of a session, or with 0 every connection: at once, also
// while the server is paused.
func (s *Server) Disconnect(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if id == 0 || c.claimed == id {
			s.sever(c)
		}
	}
}

// ExpireSession ends a session now, as its timeout would. It is false if there is none.
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.state.Session(id)
	if sess == nil {
		return false
	}
	s.expire(sess)
	return true
}
