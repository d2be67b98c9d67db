package demo

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Kind is the kind of an Event.
type Kind int

// The kinds of events. But for Ended they are events of one worker.
const (
	Took    Kind = iota + 1 // the worker has acquired its lock, or was elected
	Lost                    // the worker has noticed that it has lost its lock
	Killed                  // the worker's process was killed
	Frozen                  // the worker's process was stopped
	Thawed                  // the worker's process was continued
	Refused                 // the resource has refused the worker's token
	Hired                   // the worker's process was started again
	Ended                   // the end of Play
)

// Event is an event of a Fleet.
type Event struct {
	At     time.Duration // since Start
	Kind   Kind
	Worker string
	Path   string // of the lock or the election
	Token  int64  // of Took and Refused
	Higher int64  // of Refused: the highest token that the resource has seen
	Grants int    // of Ended: how often the lock was acquired
	Falls  int    // of Ended: how often the token was not higher than the previous one
}

// String returns the event as a sentence.
func (e Event) String() string {
	switch e.Kind {
	case Took:
		return fmt.Sprintf("%s takes %s with token %d", e.Worker, e.Path, e.Token)
	case Lost:
		return fmt.Sprintf("%s notices that it has lost %s", e.Worker, e.Path)
	case Killed:
		return fmt.Sprintf("%s is killed, but its session still holds %s", e.Worker, e.Path)
	case Frozen:
		return fmt.Sprintf("%s is frozen, and its session still holds %s", e.Worker, e.Path)
	case Thawed:
		return fmt.Sprintf("%s continues, and still believes that it holds %s", e.Worker, e.Path)
	case Refused:
		return fmt.Sprintf("%s writes with token %d: refused, token %d was seen", e.Worker, e.Token, e.Higher)
	case Hired:
		return fmt.Sprintf("%s is started again", e.Worker)
	case Ended:
		if e.Falls > 0 {
			return fmt.Sprintf("the end: %d times the token of %s was not higher than the previous one", e.Falls, e.Path)
		}
		return fmt.Sprintf("the end: %s was acquired %d times, each time with a higher token", e.Path, e.Grants)
	}
	return fmt.Sprintf("%s: event %d", e.Worker, e.Kind)
}

// maxDiary is the number of events that a diary keeps.
const maxDiary = 256

// diary keeps the last events.
type diary struct {
	mu      sync.Mutex
	begun   time.Time
	events  []Event
	dropped int // number of older events, which are not kept
	grants  map[string]grants
	changed chan struct{} // closed at the next event
}

// grants counts the events Took of one lock.
type grants struct {
	last  Event
	count int
	falls int // how often the token was not higher than the previous one
}

func (d *diary) grantsOf(path string) grants {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.grants[path]
}

func (d *diary) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = time.Now()
}

// add sets the time of an event, and adds it.
func (d *diary) add(e Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.At = time.Since(d.begun)
	if e.Kind == Took {
		g := d.grants[e.Path]
		if e.Token <= g.last.Token {
			g.falls++
		}
		g.last, g.count = e, g.count+1
		d.grants[e.Path] = g
	}
	if len(d.events) == maxDiary {
		d.events = slices.Delete(d.events, 0, 1)
		d.dropped++
	}
	d.events = append(d.events, e)
	close(d.changed)
	d.changed = make(chan struct{})
}
