package framework

// Registrations returns how many registrations of a Watcher there are: what Remove would take back.
func (w *Watcher) Registrations() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, same := range w.set {
		n += len(same)
	}
	return n
}

// HoldWatchEvents keeps the events of watches from all Watchers of the client until release.
func (c *Client) HoldWatchEvents() (release func()) { return c.core.watches.inbox.Hold() }
