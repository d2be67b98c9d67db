package scenario

import (
	"sync"
	"time"
)

// Leaders measures for how long more than one client has believed at the same time that it leads. Its
// methods can be called by several goroutines.
type Leaders struct {
	mu    sync.Mutex
	count int
	since time.Time // the time of the second Begin, while count is above 1
	total time.Duration
}

// Begin is called as soon as a client believes that it leads.
func (l *Leaders) Begin() {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count++; l.count == 2 {
		l.since = now
	}
}

// End is called as soon as a client no longer believes that it leads.
func (l *Leaders) End() {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count--; l.count == 1 {
		l.total += now.Sub(l.since)
	}
}

// Count returns the number of clients that believe that they lead.
func (l *Leaders) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Overlap returns for how long, in sum, there was more than one leader until now.
func (l *Leaders) Overlap() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count > 1 {
		return l.total + time.Since(l.since)
	}
	return l.total
}
