package zkserver

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

// Get returns a node's data and Stat, and whether there is one.
func (s *Server) Get(path string) ([]byte, jute.Stat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.store.tree.get(path)
	if n == nil {
		return nil, jute.Stat{}, false
	}
	return bytes.Clone(n.data), n.stat(), true
}

// Children returns the names of a node's children, sorted; none if there is no such node.
func (s *Server) Children(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.store.tree.get(path)
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.children))
}

// Watches returns how many watches there are.
func (s *Server) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.watches()
}

// Sessions returns the ids of the sessions, sorted.
func (s *Server) Sessions() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.store.sessions))
}

// SetSequence sets the number that the next sequential child of a node gets. Its Cversion
// changes with it. It is false if there is no such node.
func (s *Server) SetSequence(path string, next int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.store.tree.get(path)
	if n == nil {
		return false
	}
	n.creates = next
	return true
}
