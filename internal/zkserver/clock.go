package zkserver

import (
	"sync"
	"time"
)

// clock is the server's only clock: that of package time, as far ahead as it was moved.
type clock struct {
	start time.Time // ticks are counted from here

	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed by the next advance
}

func newClock() *clock { return &clock{start: time.Now(), moved: make(chan struct{})} }

// now returns the time.
func (c *clock) now() time.Time { return c.start.Add(c.elapsed()) }

// elapsed returns how long ago the clock was made.
func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.start) + c.ahead
}

// until returns how long it is until t, and a channel that is closed when that is no
// longer so.
func (c *clock) until(t time.Time) (time.Duration, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(t) - c.ahead, c.moved
}

// advance moves the clock ahead.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	close(c.moved)
	c.moved = make(chan struct{})
}
