package curatortest

import (
	"os"
	"sync"
	"time"
)

// memoryDeadline is when waiting ends. The zero memoryDeadline is never.
type memoryDeadline struct {
	mu    sync.Mutex
	timer *time.Timer
	now   *memoryTerm
}

// memoryTerm is a deadline as it was set once.
type memoryTerm struct {
	passed   chan struct{} // closed when it has passed
	replaced chan struct{} // closed when another one was set
}

// term returns the deadline that holds now. The caller holds the lock.
func (d *memoryDeadline) term() *memoryTerm {
	if d.now == nil {
		d.now = &memoryTerm{make(chan struct{}), make(chan struct{})}
	}
	return d.now
}

// set sets the deadline; zero is never. It holds for who waits already, too.
func (d *memoryDeadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop() // if it is too late for that, it ends a term that is over
	}
	close(d.term().replaced)
	d.now = nil
	passed := d.term().passed
	switch left := time.Until(t); {
	case t.IsZero():
	case left > 0:
		d.timer = time.AfterFunc(left, func() { close(passed) })
	default:
		close(passed)
	}
}

// check fails if the deadline has passed.
func (d *memoryDeadline) check() error {
	d.mu.Lock()
	term := d.term()
	d.mu.Unlock()
	select {
	case <-term.passed:
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

// wait waits for changed or another deadline, and fails if this one passes.
func (d *memoryDeadline) wait(changed <-chan struct{}) error {
	d.mu.Lock()
	term := d.term()
	d.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-term.replaced:
		return nil
	case <-term.passed:
		return os.ErrDeadlineExceeded
	}
}
