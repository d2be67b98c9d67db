package model

import (
	"slices"
	"time"
)

const (
	// partedNear is how long before the note of it a connection may break: clients notice a silent
	// server late.
	partedNear = int64(6 * time.Second)
	// connectedNear is how long before the note of it there may be a connection again.
	connectedNear = int64(2 * time.Second)
)

// allows reports whether a step agrees with the notes.
func (f *follower) allows(st step) bool {
	switch st.kind {
	case stepStart:
		return f.mayStart(st.a)
	case stepUser:
		return move(st.b) == moveRelease && f.mayRelease(st.a) || move(st.b) == moveReleaseRead && f.mayReleaseRead(st.a)
	case stepWish:
		return move(st.b) == moveCancel && f.mayGiveUp(st.a) || move(st.b) == moveDowngrade && f.mayDowngrade(st.a)
	case stepDisconnect:
		return f.near(st.a, Parted, partedNear) || f.holdsBack(st.a)
	case stepDeadline:
		return true
	case stepReconnect:
		return f.mayConnect(st.a)
	case stepCommit, stepDeliver, stepRead, stepLate, stepStallEnds:
		return true
	}
	return false // comes from outside
}

// mayStart reports whether an acquisition of a client goes on, or begins anew because its node is gone.
func (f *follower) mayStart(c uint8) bool {
	if f.at.begun[c] == 0 {
		return false
	}
	a := f.acquisitions[c][f.at.begun[c]-1]
	return !f.passed(a.ended) && !f.passed(a.granted)
}

// mayRelease reports whether a client that holds the lock in the model may release it. One whose
// Acquire fails may have been granted the lock, and has given it back. A writer that was downgraded releases
// the write lock at once.
func (f *follower) mayRelease(c uint8) bool {
	a := f.current(c)
	return a != nil && (f.passed(a.releasing) || a.refused != never || f.at.begun[c] > f.at.started[c] || f.client[c].flags&downAnswered != 0)
}

// mayDowngrade reports whether a writer is downgraded.
func (f *follower) mayDowngrade(c uint8) bool {
	a := f.current(c)
	return a != nil && f.passed(a.downgrading)
}

// mayReleaseRead reports whether a writer that was downgraded may release the read lock. One whose Downgrade
// fails gives it back.
func (f *follower) mayReleaseRead(c uint8) bool {
	a := f.current(c)
	return a != nil && (f.passed(a.releasing) || a.downgraded == never || f.at.begun[c] > f.at.started[c])
}

// mayGiveUp reports whether the client's Acquire fails.
func (f *follower) mayGiveUp(c uint8) bool {
	a := f.current(c)
	return a != nil && a.refused != never
}

// mayConnect reports whether a client may have a connection again: soon, or when it is not noted that it
// has lost it.
func (f *follower) mayConnect(c uint8) bool {
	i := f.nextConnection(c)
	return i == never || f.near(c, Connected, connectedNear) || f.connectedNow(c) && i != int(f.at.note)
}

// connectedNow reports whether the last note about a client's connection says that it has one.
func (f *follower) connectedNow(c uint8) bool {
	i, _ := slices.BinarySearch(f.connections[c], int(f.at.note))
	return i == 0 || f.trace.Notes[f.connections[c][i-1]].Kind == Connected
}

// holdsBack reports whether nothing has reached a client for so long that a state has hardly room for
// what has happened since. Then it is taken for one whose connection breaks, also if that is not noted.
func (f *follower) holdsBack(c uint8) bool {
	const nearlyFull, long = maxLog - maxRoom - 6, 8
	return f.length >= nearlyFull && f.session[c].applied+long < f.length
}

// oddity returns how unlikely a step is that is allowed; 0 for one that mostly happens.
func (f *follower) oddity(st step) int {
	switch st.kind {
	case stepDeadline:
		return 1
	case stepWish:
		return int(b2i(move(st.b) == moveCancel))
	case stepStart:
		if f.at.started[st.a] == f.at.begun[st.a] && f.current(st.a).granted == never {
			return 1
		}
	case stepDisconnect:
		if f.nextConnection(st.a) != int(f.at.note) {
			return 1
		}
	case stepReconnect:
		switch i := f.nextConnection(st.a); {
		case i == never || i == int(f.at.note):
		case f.trace.Notes[i].Kind == Connected:
			return 1
		default:
			return 3
		}
	}
	return 0
}

// notesItself reports whether the next note may be read as soon as it agrees with the state: nothing
// that is possible before it is impossible behind it.
func (f *follower) notesItself() bool {
	if int(f.at.note) == len(f.trace.Notes) {
		return false
	}
	n := f.trace.Notes[f.at.note]
	switch n.Kind {
	case Granted, Held, Lost, Releasing, ReleasedWell, ReleasedBadly, Downgrading, Downgraded, NotDowngraded:
		return true
	case Begun, Refused:
		return f.at.begun[n.Client] == f.at.started[n.Client]
	}
	return false
}

// oddityOfLeaving is 0 for a client that is the next one to create a node: mostly that is one of an
// acquisition that has begun.
func (f *follower) oddityOfLeaving(c uint8) int {
	if i := int(f.at.change); i < len(f.trace.Changes) && f.trace.Changes[i].Kind == Created && f.trace.Changes[i].Client == int(c) {
		return 0
	}
	return 1
}

// maxLag is how many transactions a server lags behind at most.
const maxLag = 10

// maxRoom is how many transactions one step may add to the log.
const maxRoom = 4

// tidy makes states equal that differ in nothing that matters any more, and keeps them small.
func (f *follower) tidy() {
	f.left = some(disconnects, 1, expiries, 1, cancels, 1, downgrades, 1)
	for c := range f.clients {
		cl, ss := &f.client[c], &f.session[c]
		cl.tries, cl.round = 0, 0
		if ss.half == 0 {
			f.giveBack(c)
		}
		if cl.phase == phaseIdle && ss.requests == 0 && ss.half == 0 {
			f.sleep(c)
		} else {
			f.limitLag(c)
		}
	}
	f.shorten()
	f.renumber()
}

// sleep forgets what does not matter to a client that waits for nothing.
func (f *follower) sleep(c uint8) {
	ss := &f.session[c]
	if ss.connected != 0 && ss.closed != 0 {
		f.part(c)
	}
	ss.data, ss.marker, ss.lostData, ss.lostMarker = 0, 0, 0, 0
	ss.applied, ss.seen, ss.expired = f.length, f.length, 0
}

// limitLag keeps the server of a client from lagging too far behind.
func (f *follower) limitLag(c uint8) {
	ss := &f.session[c]
	if f.length <= maxLag {
		return
	}
	least := f.length - maxLag
	switch next := f.nextHeard(c); {
	case ss.connected == 0:
		f.noteLag(ss.seen, least)
		ss.seen = max(ss.seen, least)
		ss.applied = max(ss.applied, ss.seen)
	case ss.half == 0:
		if next != 0 {
			least = min(least, next-1)
		}
		f.noteLag(ss.applied, least)
		ss.applied = max(ss.applied, least)
		ss.seen = max(ss.seen, min(least, ss.applied))
	}
}

// noteLag notes that a server that lags more is left out, if it is behind the least position that it may
// be at.
func (f *follower) noteLag(at, least uint8) {
	if at < least {
		f.cuts |= cutLag
	}
}
