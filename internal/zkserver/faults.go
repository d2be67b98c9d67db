package zkserver

import (
	"context"
	"sync"
	"syscall"
)

// Inject makes the server treat requests as the rule says. Rules are tried in the order in
// which they were injected, and the first one that fits is used. hit returns how often this
// one was; remove takes it away.
func (s *Server) Inject(r Rule) (hit func() int, remove func()) {
	injected := &rule{Rule: r, left: max(r.Times, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, injected)
	hit = func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return injected.hits
	}
	remove = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		injected.left = 0
	}
	return hit, remove
}

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

// Pause stops the server as SIGSTOP would, until resume is called, which may be called
// more than once: it does not read, answer or expire. Time goes on meanwhile. At the resume
// the sessions end that have not been heard of for too long, even if requests of their
// clients are waiting: real servers mostly, but not always, see to their clocks first. Stop and
// Restart end a pause, as the end of a stopped process does.
func (s *Server) Pause() (resume func()) {
	p := &pause{release: s.running.Hold()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses[p] = struct{}{}
	return sync.OnceFunc(func() { s.resume(p) })
}

// resume ends a pause, unless the server was stopped since.
func (s *Server) resume(p *pause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, lasts := s.pauses[p]; !lasts {
		return
	}
	delete(s.pauses, p)
	if len(s.pauses) == 0 {
		s.catchUp()
	}
	p.release()
}

// Stop closes every connection and serves no new one until Start. Data and sessions stay, and
// no session ends meanwhile. Listeners stay open, so that nobody else gets their ports: who
// connects to one is closed at once.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

// stop is Stop. The caller holds the lock.
func (s *Server) stop() {
	s.stopped = true
	for c := range s.conns {
		s.sever(c)
	}
	for p := range s.pauses {
		p.release()
	}
	clear(s.pauses)
}

// Start serves again after Stop. Each session has its full timeout anew, as when ZooKeeper
// reads them from disk, and watches are gone. A server that was not stopped goes on. The result
// is false for one that was closed.
func (s *Server) Start() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
	return !s.closed
}

// start is Start. The caller holds the lock.
func (s *Server) start() {
	if !s.stopped {
		return
	}
	s.stopped = false
	s.state.Reload(s.clock.now())
}

// Restart is Stop and Start. Without keep, data and sessions are gone; clients that have seen a
// later zxid are refused then, as by ZooKeeper.
func (s *Server) Restart(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	if !keep {
		s.state = s.state.Clear(s.clock.now(), s.config.tree())
	}
	s.start()
}
