// Package verdict decides for pairs of clients of the same lock whether both believed that they
// held it at the same time. It has only the arithmetic, and starts nothing.
//
// Its functions may be called from several goroutines as long as none changes a value that
// another one uses.
package verdict

import "time"

// Case is a row of the table: pairs under the same kind of fault with the same settings.
type Case struct {
	Scenario string
	Policy   string
	Timeout  time.Duration // of the holder's session
}

// Pair is what was seen of one pair: X, which held a lock when the fault began, and Y, which
// waited for it. The instants are distances from one origin, by one monotonic clock. Zero is
// never.
type Pair struct {
	Case
	Fault    time.Duration // when it began
	Ended    time.Duration // when the context of X's lease ended
	Acquired time.Duration // when Y's Acquire returned
	Watched  time.Duration // until when the two were watched; later instants do not count
	Error    time.Duration // by how much the distance of Ended and Acquired may be wrong, at most
}

// Outcome is what became of a pair.
type Outcome int

// The outcomes.
const (
	// Handed is that X had stopped believing when Y began to, or at the same instant.
	Handed Outcome = iota
	// Overlapped is that Y began to believe before X had stopped.
	Overlapped
	// Kept is that X never stopped, and Y did not begin.
	Kept
	// Lost is that X stopped, and Y did not begin while they were watched.
	Lost
	// Early is that X stopped before the fault began, so that the pair shows nothing of it.
	Early
)

// Judge returns what became of a pair, and for how long: how long both believed, at least, if
// that is what they did, or how long nobody did between the two.
func (p Pair) Judge() (Outcome, time.Duration) {
	ended, acquired := p.Ended, p.Acquired
	if ended > p.Watched {
		ended = 0
	}
	if acquired > p.Watched {
		acquired = 0
	}
	switch {
	case acquired != 0 && ended == 0:
		return Overlapped, p.Watched - acquired
	case acquired != 0 && acquired < ended:
		return Overlapped, ended - acquired
	case ended != 0 && ended < p.Fault:
		return Early, 0
	case acquired != 0:
		return Handed, acquired - ended
	case ended != 0:
		return Lost, 0
	default:
		return Kept, 0
	}
}
