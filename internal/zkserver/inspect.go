package zkserver

import "github.com/go-curator/curator/internal/jute"

// Get returns a node's data and Stat, and whether there is one.
func (s *Server) Get(path string) ([]byte, jute.Stat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Get(path)
}

// Children returns the names of a node's children, sorted; none if there is no such node.
func (s *Server) Children(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Children(path)
}

// Watches returns how many watches there are.
func (s *Server) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Watches()
}

// Sessions returns the ids of the sessions, sorted.
func (s *Server) Sessions() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Sessions()
}

// SetSequence sets the number that the next sequential child of a node gets. Its Cversion
// changes with it. It is false if there is no such node.
func (s *Server) SetSequence(path string, next int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.SetSequence(path, next)
}

// Create makes a persistent node with an open ACL, in a transaction of its own, as a client's
// request would. It returns the code of the answer.
func (s *Server) Create(path string, data []byte) jute.Code {
	s.mu.Lock()
	reply := s.state.Create(s.clock.now(), path, data)
	s.mu.Unlock()
	s.say(reply.Exceeded)
	return reply.Code
}
