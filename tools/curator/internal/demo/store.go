package demo

import "sync"

// store is the resource that the locks guard. It refuses tokens that are lower than one it has
// seen: so a worker that was frozen cannot overwrite what its successor has written.
type store struct {
	mu      sync.Mutex
	highest map[string]int64 // token by the path of the lock
}

// write returns the highest token that the store has seen, the writer's included. The write is
// refused if that is higher than the writer's.
func (s *store) write(path string, token int64) (highest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.highest[path] = max(s.highest[path], token)
	return s.highest[path]
}
