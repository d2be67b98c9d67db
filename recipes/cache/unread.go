package cache

import "time"

// A node whose reads the server refuses is left out after maxFails refusals, or after maxFailing: the
// nodes around it must not wait for it. It is tried again after pauses that grow to outPause, and after an event,
// but at most once in minOut.
const (
	maxFails   = 5
	maxFailing = 30 * time.Second
	minOut     = time.Second
	outPause   = 30 * time.Second
)

// unread is a node that is left out.
type unread struct {
	err   error
	kept  bool // its reads fail: what the cache has of it stays. Else it may not be read, or not be understood
	get   bool // this is what fails
	list  bool
	tried time.Time // the last time
	next  time.Time // when it is tried again; zero for never, unless it changes or the connection does
	pause time.Duration
}

// fails tells whether a verb is what fails.
func (u *unread) fails(v verb) bool { return u.list && v == list || u.get && v != list }

func (u *unread) set(v verb, fails bool) {
	if v == list {
		u.list = fails
	} else {
		u.get = fails
	}
}

// unreads are the nodes that are left out.
type unreads struct {
	out     map[string]*unread // by path
	kept    int                // how many of them are kept
	named   map[string]error   // the kept ones, as they were shown; never changed
	dirty   bool               // named is to be made again
	retry   *time.Timer        // for the next that is to be tried again
	retryAt time.Time          // when it ends; zero if it does not run
}

// awaitRetry has a node tried again at that time, if it is not zero.
func (u *unreads) awaitRetry(next time.Time) {
	if !next.IsZero() && (u.retryAt.IsZero() || next.Before(u.retryAt)) {
		u.retryAt = next
		u.retry.Reset(max(time.Until(next), 0))
	}
}

// names returns the nodes that are kept although they cannot be read, with the reasons.
func (u *unreads) names() map[string]error {
	if u.dirty {
		u.named, u.dirty = map[string]error{}, false
		for path, n := range u.out {
			if n.kept {
				u.named[path] = n.err
			}
		}
	}
	return u.named
}
