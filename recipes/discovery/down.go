package discovery

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// downList knows which endpoints had too many errors lately.
type downList struct {
	threshold int
	span      time.Duration
	version   atomic.Int64

	mu     sync.Mutex
	next   chan struct{}            // closed when version has changed
	errors map[endpoint][]time.Time // the last ones, at most threshold of them
}

func newDownList(threshold int, span time.Duration) *downList {
	return &downList{threshold: threshold, span: span, next: make(chan struct{}), errors: map[endpoint][]time.Time{}}
}

// changes counts the endpoints that went down. It does not count those that came back.
func (d *downList) changes() int64 { return d.version.Load() }

// changed returns a channel that is closed at the next change.
func (d *downList) changed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next
}

// note counts an error.
func (d *downList) note(e endpoint, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for other, times := range d.errors { // those that have gone are not to stay for ever
		if now.Sub(times[len(times)-1]) >= d.span {
			delete(d.errors, other)
		}
	}
	times := d.errors[e]
	times = append(times, now)
	times = slices.Delete(times, 0, max(len(times)-d.threshold, 0))
	d.errors[e] = times
	if len(times) == d.threshold {
		d.version.Add(1)
		close(d.next)
		d.next = make(chan struct{})
	}
}

// until returns when an endpoint that is down comes back, zero for one that is not down.
func (d *downList) until(e endpoint, now time.Time) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	times := d.errors[e]
	if len(times) < d.threshold {
		return time.Time{}
	}
	if back := times[0].Add(d.span); now.Before(back) {
		return back
	}
	return time.Time{}
}
