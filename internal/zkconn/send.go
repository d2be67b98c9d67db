package zkconn

import (
	"errors"
	"fmt"
	"slices"
)

// maxWaiting is how many requests may wait for an answer: a server that is stopped, and
// callers that give up soon and try again, must not fill the memory.
const maxWaiting = 100_000

var (
	errDead    = errors.New("the connection has ended")
	errCrowded = &TransportError{Err: ErrThrottled, Detail: fmt.Errorf("%d requests wait for an answer", maxWaiting)}
)

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
		if len(call.kept) > 0 {
			m.watches.restore(call)
		}
		for watch := range call.watches {
			m.watches.add(watch)
		}
		if call.Watch != nil {
			served := m.watches.persistent.hasPersistentWatch(call.Watch.path)
			if served && call.Watch.kept == keptAsked {
				call.Watch.kept = keptServed
			}
			b.setWatch(i, !served)
		}
	}
	m.enqueueFrame(outgoing{batch: b})
	return nil
}
