package zkserver

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
