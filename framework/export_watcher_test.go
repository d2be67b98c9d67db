package framework

// Settings returns how many settings of a Watcher there are: what Remove would take back.
func (w *Watcher) Settings() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, same := range w.set {
		n += len(same)
	}
	return n
}
