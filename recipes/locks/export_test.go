package locks

// InLine returns how many goroutines wait for their turn, with WithLocalHandover; -1 when nobody
// has the turn.
func InLine(m *InterProcessMutex) int { return locksOf(m.queue.api).lines.waiting(m.queue.key()) }
