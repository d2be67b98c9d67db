// Package verdict decides for pairs of clients of the same lock whether both believed that they
// held it at the same time. It only computes, and starts nothing.
//
// Its functions may be called from several goroutines as long as no goroutine changes a value that
// another one uses.
package verdict

import "time"

// Case is a row of the table: pairs under the same kind of fault with the same settings.
type Case struct {
	Scenario string
	Policy   string
	Timeout  time.Duration // the session timeout of the holder
}

// Pair has the measurements of one pair: X, which held a lock when the fault began, and Y, which
// waited for it. The instants are durations since the same origin, by one monotonic clock. Zero means
// never.
type Pair struct {
	Case
	Fault    time.Duration // when the fault began
	Ended    time.Duration // when the context of X's lease ended
	Acquired time.Duration // when Y's Acquire returned
	Watched  time.Duration // when watching ended; later instants do not count
	Error    time.Duration // the maximum error of the time between Ended and Acquired
}

// Outcome is the outcome of a pair.
type Outcome int

// The outcomes.
const (
	// Handed means that X stopped believing that it holds the lock before Y began to, or at the
	// same instant.
	Handed Outcome = iota
	// Overlapped means that Y began to believe before X had stopped.
	Overlapped
	// Kept means that X never stopped, and Y never began.
	Kept
	// Lost means that X stopped, and Y did not begin while they were watched.
	Lost
	// Early means that X stopped before the fault began, so that the pair shows nothing about the
	// fault.
	Early
)

// Judge returns the outcome of a pair. For Overlapped the duration is how long both believed at least,
// and for Handed how long neither believed in between.
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
