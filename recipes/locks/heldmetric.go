package locks

import "sync"

// heldMetric is what the metric of held locks was told of a hold. The end may be known before
// the begin was counted.
type heldMetric struct {
	mu     sync.Mutex
	opened bool
	count  bool
	end    func(counted bool) // to be called once the begin is counted; nil for not yet
}

// open counts the begin of the hold.
func (m *heldMetric) open(count func() bool) {
	counted := count()
	m.mu.Lock()
	m.opened, m.count = true, counted
	end := m.end
	m.mu.Unlock()
	if end != nil {
		end(counted)
	}
}

// close counts the end of the hold, now or as soon as the begin was counted.
func (m *heldMetric) close(end func(counted bool)) {
	m.mu.Lock()
	opened, counted := m.opened, m.count
	m.end = end
	m.mu.Unlock()
	if opened {
		end(counted)
	}
}
