package locks

// InLine returns how many goroutines wait for their turn, with WithLocalHandover; -1 when it is
// nobody's turn.
func InLine(m *InterProcessMutex) int {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if l := turns.lines[m.in.key()]; l != nil {
		return len(l.waiting)
	}
	return -1
}
