package model

// lockRules describes a contender for a mutex, a read-write lock or a semaphore. The zero value is
// the algorithm without the release marker.
type lockRules struct {
	of        nodeKind
	java      bool
	marker    bool // a holder that waited releases with the marker, and a waiter takes it for its grant
	eager     bool // a holder that never waited marks, too
	next      bool // who is next takes the end of the only node ahead for its grant (rule 6)
	try       bool // TryAcquire
	downgrade bool // a writer takes a read lease in its place
	fresh     bool // ... with a number of its own, as Java 5.4.0
	setsBack  bool // waiters rely on setWatches after a reconnect, and do not list
	readWrite bool // the lock is a read-write lock, in which a reader may take the place of a writer
	wrong     lockMistake
}

// lockMistake is what an algorithm does wrong on purpose.
type lockMistake uint8

const (
	lockRight            lockMistake = iota
	markerBySetData                  // the marker is a change of the node's data
	deletionGrants                   // any NodeDeleted ahead is a grant
	anyEventGrants                   // the end of the session fires the marker's watch, and that is a grant
	cancelMarks                      // a waiter that gives up deletes its node with the marker
	readerMarks                      // so does a reader, and writers take it for a grant
	markAfterDowngrade               // so does a writer that was downgraded
	downgradeUnchecked               // nobody looks whether the writer's node was there
	markerOfFirst                    // the marker of the first node is watched, not that of the node ahead
	markerAlone                      // the node ahead itself is not watched
	ownUnwatched                     // the own node is not watched
	ownWatchedLate                   // ... before the grant
	listFirst                        // the list is sent before the create
	adoptsOld                        // the node of an earlier session is kept
	noSearchSync                     // the search for the own node trusts any server
	trustsHalfArmed                  // watches are relied on although replies are missing
	watchesOne                       // a semaphore: only the node at index - leases is watched
	nextOfOwnSession                 // who is next takes the end of a node of its own session
	nextBehindWriter                 // ... of a writer, which may have been downgraded
	handsOverDeleted                 // the hold is handed over although the delete was sent
	handsOverUnwatched               // the watch on the node is given back with the old lease
	handsOverOwnDeadline             // the deadline of the new lease begins with the hand-over
)

func (a lockRules) kind() nodeKind { return a.of }

func (a lockRules) isJava() bool { return a.java }

func (a lockRules) isLatch() bool { return false }

func (a lockRules) putsBack() bool { return a.java || a.setsBack }

func (a lockRules) start(w *world, c uint8) {
	cl := &w.client[c]
	*cl = client{phase: phaseCreate, tries: cl.tries, round: cl.round, own: none, ahead: none, reader: none, ready: none}
	if a.wrong == listFirst {
		w.ask(c, opList, none)
		w.ask(c, opCreate, none)
		return
	}
	w.ask(c, opCreate, none) // in one write (rule 1)
	w.ask(c, opList, none)
}

func (a lockRules) list(w *world, c uint8) {
	cl := &w.client[c]
	cl.phase = phaseList
	cl.flags &^= listAgain | markerSeen
	w.ask(c, opList, none)
}

// ownGone begins anew, as a new contender, or fails.
func (a lockRules) ownGone(w *world, c uint8) {
	cl := &w.client[c]
	w.note("      %c finds that its node %n is gone", c, cl.own)
	if cl.flags&cancelled != 0 || int(cl.tries) >= w.cfg.retries {
		a.finish(w, c)
		return
	}
	cl.tries++
	a.start(w, c)
}

func (a lockRules) finish(w *world, c uint8) {
	cl := &w.client[c]
	round := cl.round + 1
	*cl = client{phase: phaseDone, own: none, ahead: none, reader: none, ready: none}
	if int(round) < w.cfg.rounds {
		cl.phase, cl.round = phaseIdle, round
	}
}

// giveUp deletes the node of a contender that was not granted.
func (a lockRules) giveUp(w *world, c uint8) {
	cl := &w.client[c]
	cl.phase, cl.ahead, cl.watching = phaseDelete, none, 0
	cl.flags &^= markerSeen
	op := opDelete
	if a.wrong == cancelMarks {
		op = opRelease
	}
	w.ask(c, op, cl.own)
}

// search lists the queue behind a sync. The client has sent one already, unless noCatchUp.
func (a lockRules) search(w *world, c uint8) {
	if a.wrong != noSearchSync && (w.cfg.noCatchUp && !a.java || a.java && w.cfg.javaSyncs) {
		w.ask(c, opSync, none)
	}
	w.ask(c, opList, none)
}

var _ algorithm = lockRules{}

// reply handles the reply to a request of client c.
func (a lockRules) reply(w *world, c uint8, r request, alive nodeSet) {
	switch r.op {
	case opCreate:
		a.created(w, c, r)
	case opDowngrade, opDowngradeFresh:
		a.readerCreated(w, c, r)
	case opDelete, opRelease:
		a.deleted(w, c, r)
	case opList:
		a.listed(w, c, alive)
	case opWatch:
		a.watched(w, c, r)
	case opWatchMarker:
		a.armed(w, c)
	}
}

func (a lockRules) created(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case cl.phase != phaseCreate:
	case r.result == resultNoDir && cl.flags&cancelled != 0:
		a.finish(w, c)
	case r.result == resultNoDir:
		w.ask(c, opMakeDir, none)
		w.ask(c, opCreate, none)
		w.ask(c, opList, none)
	default:
		cl.own = r.made
		if cl.flags&cancelled != 0 {
			a.giveUp(w, c)
		} else if cl.flags&listedFirst != 0 {
			a.decide(w, c, cl.members|only(cl.own))
		}
	}
}

func (a lockRules) listed(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	switch {
	case cl.flags&downSearch != 0, cl.flags&downgraded != 0 && cl.flags&downAnswered == 0 && cl.reader != none:
		a.readerListed(w, c, alive)
	case cl.phase == phaseSearch:
		a.found(w, c, alive)
	case a.wrong == listFirst && cl.phase == phaseCreate && cl.own == none:
		cl.members = alive
		cl.flags |= listedFirst
	case cl.phase != phaseCreate && cl.phase != phaseList || cl.own == none:
		// Without the reply to the create the list means nothing.
	case !alive.has(cl.own):
		a.ownGone(w, c)
	default:
		a.decide(w, c, alive)
	}
}

// found goes on after a create whose reply was lost.
func (a lockRules) found(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	cl.own = none
	for n := range alive.all() {
		x := &w.node[n]
		if x.owner == c && (x.epoch == w.sessionOf(c).epoch || a.wrong == adoptsOld) && cl.own == none {
			cl.own = n
		}
	}
	w.note("      %c looks for its node: %n", c, cl.own)
	switch {
	case cl.own == none && cl.flags&cancelled != 0:
		a.finish(w, c)
	case cl.own == none:
		a.start(w, c)
	case cl.flags&cancelled != 0:
		a.giveUp(w, c)
	default:
		a.decide(w, c, alive)
	}
}

// needs returns the watches that are of use to client c.
func (a lockRules) needs(s *State, c uint8) (data, marker nodeSet) {
	cl := &s.client[c]
	waits := cl.phase == phaseArm || cl.phase == phaseWait || cl.phase == phaseList
	if cl.own != none && (waits || cl.phase == phaseHeld || cl.phase == phaseDelete) {
		data = only(cl.own)
	}
	if waits {
		data |= cl.watching
		if cl.ahead != none {
			marker = only(cl.ahead)
		}
	}
	return data, marker
}

// reconnected goes on at another server: everything that was not answered is asked again (rule 8).
func (a lockRules) reconnected(w *world, c uint8) {
	cl, ss := &w.client[c], w.sessionOf(c)
	if (cl.phase == phaseHeld || cl.phase == phaseDelete) && cl.flags&downgraded != 0 && cl.flags&downAnswered == 0 {
		cl.flags |= downSearch
		a.search(w, c)
		if cl.own == none {
			return
		}
	}
	if cl.flags&readerLeaves != 0 && cl.phase != phaseDeleteRead {
		w.ask(c, opDelete, cl.reader)
	}
	switch cl.phase {
	case phaseCreate, phaseSearch:
		if cl.own != none {
			a.list(w, c)
			return
		}
		cl.phase = phaseSearch
		a.search(w, c)
	case phaseArm:
		if a.wrong == trustsHalfArmed {
			cl.phase = phaseWait
			return
		}
		a.list(w, c)
	case phaseWait:
		if a.setsBack && cl.flags&(listAgain|markerSeen) == 0 {
			return
		}
		a.list(w, c)
	case phaseList:
		a.list(w, c)
	case phaseHeld:
		if !a.java && a.wrong != ownUnwatched && !(ss.data | ss.lostData).has(cl.own) {
			w.ask(c, opWatch, cl.own)
		}
	case phaseDelete:
		w.ask(c, a.deletion(cl), cl.own)
	case phaseDeleteRead:
		w.ask(c, opDelete, cl.reader)
	}
}

// sessionOver begins anew with the next session: a node of the former one is never kept.
func (a lockRules) sessionOver(w *world, c uint8) {
	cl := &w.client[c]
	switch {
	case cl.phase == phaseIdle || cl.phase == phaseDone || cl.phase == phaseDead:
	case a.wrong == anyEventGrants && cl.phase == phaseWait && cl.ahead != none:
		a.grant(w, c, "the event that ends its watches")
	case cl.phase >= phaseHeld || cl.flags&cancelled != 0:
		a.finish(w, c)
	case (a.java || a.wrong == adoptsOld) && cl.own != none:
		a.list(w, c)
	case a.java || a.wrong == adoptsOld:
		cl.phase = phaseSearch
		w.ask(c, opSync, none)
		w.ask(c, opList, none)
	default:
		a.start(w, c)
	}
}
