package locks

// InLine returns how many goroutines wait for their turn, with WithLocalHandover; -1 when nobody
// has the turn.
func InLine(m *InterProcessMutex) int { return locksOf(m.queue.api).lines.waiting(m.queue.key()) }

// HoldLines keeps every goroutine of the client from taking or passing on a turn, with WithLocalHandover,
// until the function that it returns is called.
func HoldLines(m *InterProcessMutex) (let func()) {
	lines := &locksOf(m.queue.api).lines
	lines.mu.Lock()
	return lines.mu.Unlock
}
