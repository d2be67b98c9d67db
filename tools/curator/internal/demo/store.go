package demo

import "sync"

// store is the resource that the locks protect. It refuses a token that is lower than one it has
// seen, so that a worker that was frozen cannot overwrite the data of a later holder.
type store struct {
	mu      sync.Mutex
	highest map[string]int64 // the highest token, by the path of the lock
}

// write returns the highest token that the store has seen, this one included. If the result is higher
// than token, the write was refused.
func (s *store) write(path string, token int64) (highest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.highest[path] = max(s.highest[path], token)
	return s.highest[path]
}
