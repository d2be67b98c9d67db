package zkconn

import (
	"errors"
	"fmt"
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
	if err := m.refusal(); err != nil {
		return err
	}
	return m.admit(b)
}

// submit is send for what users and recipes send: with Config.MaxInFlight the batch may have to wait for
// others. Its watches are set, and looked at, when it is queued behind that.
func (m *muxConn) submit(b *batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refusal(); err != nil {
		return err
	}
	if !m.requests.gate.enter(b) {
		return nil
	}
	err := m.admit(b)
	if err != nil {
		m.requests.gate.leave(b)
	}
	return err
}

// refusal returns why no batch can be queued now; m.mu is held.
func (m *muxConn) refusal() error {
	if m.err != nil || m.writeFailed {
		return errDead
	}
	if m.requests.len() >= maxWaiting {
		m.requests.gate.forget()
	}
	if m.requests.len() >= maxWaiting {
		return errCrowded
	}
	return nil
}

// withdraw takes a batch back unless it was sent. A batch at the gate may just be about to be queued.
func (m *muxConn) withdraw(b *batch) bool {
	if b.gated {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	return b.withdraw()
}

// limit sets how many batches of users and recipes may be under way at a time, zero for any number.
func (m *muxConn) limit(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests.gate.limit = n
}
