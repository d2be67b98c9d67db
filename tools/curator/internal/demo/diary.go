package demo

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Kind says what has happened.
type Kind int

// The kinds of events.
const (
	Took    Kind = iota + 1 // a worker has got what it waited for
	Lost                    // it knows that it has lost it
	Killed                  // its process has ended without a word
	Frozen                  // its process was stopped
	Thawed                  // its process goes on
	Refused                 // the resource has refused its token
	Hired                   // its process was started again
	Ended                   // the story has ended
)

// Event is something that has happened in a Fleet.
type Event struct {
	At     time.Duration // since Start
	Kind   Kind
	Worker string
	Path   string // of what it holds or waits for
	Token  int64  // of Took and Refused
	Higher int64  // of Refused: the token that the resource has seen
	Grants int    // of Ended: how often it was taken
	Falls  int    // of Ended: how often the token was not higher than the one before
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
		return fmt.Sprintf("%s goes on, and still believes that it holds %s", e.Worker, e.Path)
	case Refused:
		return fmt.Sprintf("%s writes with token %d: refused, %d was there", e.Worker, e.Token, e.Higher)
	case Hired:
		return fmt.Sprintf("%s is started again", e.Worker)
	case Ended:
		if e.Falls > 0 {
			return fmt.Sprintf("the end: the token of %s did not rise %d times", e.Path, e.Falls)
		}
		return fmt.Sprintf("the end: %s was taken %d times, each time with a higher token", e.Path, e.Grants)
	}
	return fmt.Sprintf("%s: event %d", e.Worker, e.Kind)
}

// maxDiary is how many events are kept.
const maxDiary = 256

// diary has the last events.
type diary struct {
	mu      sync.Mutex
	begun   time.Time
	events  []Event
	dropped int // events before those
	grants  map[string]grants
	changed chan struct{} // closed at the next event
}

// grants are those of a lock.
type grants struct {
	last  Event
	count int
	falls int // of the token
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

// add writes an event down, with its time.
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
