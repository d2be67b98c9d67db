package model

import "time"

const (
	// maxLag is how many transactions a server lags behind at most.
	maxLag = 10
	// partedNear is how long before the note of it a connection may break: clients notice a silent
	// server late.
	partedNear = int64(6 * time.Second)
	// connectedNear is how long before the note of it there may be a connection again.
	connectedNear = int64(2 * time.Second)
	// commitLate is how long a transaction may take: the leader notes when it begins.
	commitLate = int64(15 * time.Second)
)

// follow pushes what may come behind a state, the likeliest last.
func (r *replayer) follow(saved []byte, oddity int) {
	if r.notesItself() {
		if r.branch(saved, oddity, r.readNote) {
			return
		}
		r.goBack(saved)
	}
	var odd, commits, moves []step
	r.steps(func(st step) {
		switch {
		case !r.allows(st):
		case r.isOdd(st):
			odd = append(odd, st)
		case st.kind == stepCommit || st.kind == stepLate:
			commits = append(commits, st)
		case st.kind == stepRead && len(moves) > 0 && moves[len(moves)-1].kind == stepRead && moves[len(moves)-1].a == st.a:
			odd = append(odd, moves[len(moves)-1]) // the server lags
			moves[len(moves)-1] = st
		default:
			moves = append(moves, st)
		}
	})
	next := r.nextNote()
	for c := range r.clients {
		r.branch(saved, oddity+1, func() bool { return r.dies(c) })
		r.branch(saved, oddity+1, func() bool { return r.renews(c) })
		r.branch(saved, oddity+r.oddityOfLeaving(c), func() bool { return r.leaves(c) })
	}
	for _, st := range odd {
		r.branch(saved, oddity+1, func() bool { return r.step(st) })
	}
	likely := false
	var later []step
	for _, st := range moves {
		if !likely && r.branch(saved, oddity, func() bool { return r.step(st) }) {
			likely = true
			continue
		}
		later = append(later, st)
	}
	unlikely := oddity
	if likely {
		unlikely++
	}
	for _, st := range later {
		r.branch(saved, unlikely, func() bool { return r.step(st) })
	}
	changes := r.branch(saved, unlikely, r.changeFromOutside)
	for _, st := range commits {
		changes = r.branch(saved, unlikely, func() bool { return r.step(st) }) || changes
	}
	if changes || likely && next == Parted {
		unlikely++
	}
	r.branch(saved, unlikely, r.readNote)
}

// oddityOfLeaving is 0 for a client that is the next one to create a node: mostly that is one of an
// acquisition that has begun.
func (r *replayer) oddityOfLeaving(c uint8) int {
	if i := int(r.at.change); i < len(r.trace.Changes) && r.trace.Changes[i].Kind == Created && r.trace.Changes[i].Client == int(c) {
		return 0
	}
	return 1
}

// nextNote returns the kind of the next note, or none.
func (r *replayer) nextNote() NoteKind {
	if int(r.at.note) == len(r.trace.Notes) {
		return none
	}
	return r.trace.Notes[r.at.note].Kind
}

// isOdd reports whether a step that is allowed mostly does not happen.
func (r *replayer) isOdd(st step) bool {
	switch st.kind {
	case stepWish, stepDeadline:
		return true
	case stepStart:
		return r.at.started[st.a] == r.at.begun[st.a] && r.current(st.a).granted == never
	case stepDisconnect:
		return r.nextConnection(st.a) != int(r.at.note)
	case stepReconnect:
		i := r.nextConnection(st.a)
		return i != never && i != int(r.at.note)
	}
	return false
}

// goBack restores a state that was saved.
func (r *replayer) goBack(saved []byte) {
	var s State
	r.restore(&s, saved)
}

// notesItself reports whether the next note may be read as soon as it agrees with the state: nothing
// that is possible before it is impossible behind it.
func (r *replayer) notesItself() bool {
	if int(r.at.note) == len(r.trace.Notes) {
		return false
	}
	n := r.trace.Notes[r.at.note]
	switch n.Kind {
	case Granted, Held, Lost, Releasing, ReleasedWell, ReleasedBadly:
		return true
	case Begun, Refused:
		return r.at.begun[n.Client] == r.at.started[n.Client]
	}
	return false
}

// allows reports whether a step agrees with the notes.
func (r *replayer) allows(st step) bool {
	switch st.kind {
	case stepStart:
		return r.mayStart(st.a)
	case stepUser:
		return move(st.b) == moveRelease && r.mayRelease(st.a)
	case stepWish:
		return move(st.b) == moveCancel && r.mayGiveUp(st.a)
	case stepDisconnect:
		return r.near(st.a, Parted, partedNear)
	case stepDeadline:
		return true
	case stepReconnect:
		return r.mayConnect(st.a)
	case stepCommit, stepDeliver, stepRead, stepLate, stepStallEnds:
		return true
	}
	return false // comes from outside
}

// mayStart reports whether an acquisition of a client goes on, or begins anew because its node is gone.
func (r *replayer) mayStart(c uint8) bool {
	if r.at.begun[c] == 0 {
		return false
	}
	a := r.acquisitions[c][r.at.begun[c]-1]
	return !r.passed(a.ended) && !r.passed(a.granted)
}

// passed reports whether a note was read.
func (r *replayer) passed(note int) bool { return note < int(r.at.note) }

// current returns the acquisition that the model's client is at, or nil.
func (r *replayer) current(c uint8) *acquisition {
	if r.at.started[c] == 0 {
		return nil
	}
	return &r.acquisitions[c][r.at.started[c]-1]
}

// mayRelease reports whether a client that holds the lock in the model may release it. One whose
// Acquire fails may have been granted the lock, and has given it back.
func (r *replayer) mayRelease(c uint8) bool {
	a := r.current(c)
	return a != nil && (r.passed(a.releasing) || a.refused != never || r.at.begun[c] > r.at.started[c])
}

// mayGiveUp reports whether the client's Acquire fails.
func (r *replayer) mayGiveUp(c uint8) bool {
	a := r.current(c)
	return a != nil && a.refused != never
}

// nextConnection returns the next note about a client's connection, or never.
func (r *replayer) nextConnection(c uint8) int {
	for _, i := range r.connections[c] {
		if !r.passed(i) {
			return i
		}
	}
	return never
}

// mayConnect reports whether a client may have a connection again: soon, or when nothing more is
// noted about it.
func (r *replayer) mayConnect(c uint8) bool {
	i := r.nextConnection(c)
	return i == never || r.near(c, Connected, connectedNear)
}

// near reports whether the next note about a client's connection is of a kind, and comes soon, or is
// the client's next note of all.
func (r *replayer) near(c uint8, kind NoteKind, span int64) bool {
	i := r.nextConnection(c)
	if i == never || r.trace.Notes[i].Kind != kind {
		return false
	}
	if r.trace.Notes[i].At-r.trace.Notes[r.at.note].At <= span {
		return true
	}
	for k := int(r.at.note); k < i; k++ {
		if r.trace.Notes[k].Client == int(c) {
			return false
		}
	}
	return true
}
