package zkconn

import "slices"

// send queues a batch, or returns errDead, errCrowded or ErrPersistentWatch.
func (m *muxConn) send(b *batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.err != nil || m.writeFailed:
		return errDead
	case m.requests.len() >= maxWaiting:
		return errCrowded
	}
	if slices.ContainsFunc(b.calls, m.watches.persistent.conflicts) {
		return ErrPersistentWatch
	}
	for i, call := range b.calls {
		call.Session = m.session
		for watch := range call.watches {
			m.watches.add(watch)
		}
		if call.Watch != nil {
			b.setWatch(i, !m.watches.persistent.hasPersistentWatch(call.Watch.path))
		}
	}
	m.enqueueFrame(outgoing{batch: b})
	return nil
}
