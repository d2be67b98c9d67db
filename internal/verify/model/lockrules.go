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
