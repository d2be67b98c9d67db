package zkserver

import (
	"sync"
)

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
