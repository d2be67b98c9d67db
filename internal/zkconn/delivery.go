package zkconn

import "sync"

// delivery tells the users of one connection of finished batches, in the order in which these
// were finished. Most of them are finished by the goroutine that reads. But any goroutine may end
// the connection, and then has to report the replies that will never come. It reports them behind
// what the reader is just reporting; and the reader, before it returns to the driver, which
// connects again, waits for done. So what is told of one connection is told ahead of what the
// next one says.
type delivery struct {
	done chan struct{} // closed after end, when everything was told

	mu       sync.Mutex
	finished []func()
	running  bool // a goroutine calls the functions
	ended    bool // there will be no more, and done is to be closed
}

// add takes note of a batch that has all of its replies, or gets no more of them. The caller calls
// run behind it, without locks.
func (d *delivery) add(then func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finished = append(d.finished, then)
}

// run calls what was added. One goroutine at a time does so: a second leaves it to the first.
func (d *delivery) run() {
	for then := d.next(nil); then != nil; then = d.next(then) {
		for _, fn := range then {
			fn()
		}
	}
}

// end closes done when everything that was added has been called.
func (d *delivery) end() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.run()
}

// next returns what to call next; nil if that is nothing, or if another goroutine runs. before is
// what the goroutine has called just now, nil at first.
func (d *delivery) next(before []func()) []func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running && before == nil {
		return nil
	}
	then := d.finished
	d.finished = nil
	d.running = then != nil
	if !d.running && d.ended {
		d.ended = false
		close(d.done)
	}
	return then
}
