package curatortest

import (
	"os"
	"sync"
	"time"
)

// memoryDeadline is the deadline of reads or writes. The zero memoryDeadline never passes.
type memoryDeadline struct {
	mu    sync.Mutex
	timer *time.Timer
	now   *memoryTerm
}

// memoryTerm is one value of a memoryDeadline.
type memoryTerm struct {
	passed   chan struct{} // closed when the deadline has passed
	replaced chan struct{} // closed when another deadline was set
}

// term returns the present value. The caller holds the lock.
func (d *memoryDeadline) term() *memoryTerm {
	if d.now == nil {
		d.now = &memoryTerm{make(chan struct{}), make(chan struct{})}
	}
	return d.now
}

// set sets the deadline, also for calls that wait already. The zero time never passes.
func (d *memoryDeadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop() // if the timer has fired, it only ends the former term
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

// check returns an error if the deadline has passed.
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

// wait waits until changed is closed or another deadline is set. It returns an error if the deadline
// passes first.
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
