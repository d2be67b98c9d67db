package locks

import "sync"

// heldMetric counts one hold in the metric of held locks. The end may be known before the
// beginning was counted.
type heldMetric struct {
	mu     sync.Mutex
	opened bool
	count  bool
	end    func(counted bool) // called once the beginning is counted; nil before the end is known
}

// open counts the beginning of the hold.
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

// close counts the end of the hold, now or as soon as the beginning was counted.
func (m *heldMetric) close(end func(counted bool)) {
	m.mu.Lock()
	opened, counted := m.opened, m.count
	m.end = end
	m.mu.Unlock()
	if opened {
		end(counted)
	}
}
