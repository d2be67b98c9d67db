package model

// reply handles the reply to a request of a latch. What belongs to a former node changes nothing
// about the present one (rule L1).
func (a latchRules) reply(w *world, c uint8, r request, alive nodeSet) {
	switch r.op {
	case opCreate:
		a.created(w, c, r)
	case opDelete:
		w.client[c].deleting &^= only(r.node)
		a.end(w, c)
	case opRead:
		a.checked(w, c, r)
	case opList:
		a.listed(w, c, alive)
	case opWatch:
		a.watched(w, c, r)
	}
}

func (a latchRules) created(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case cl.phase != phaseCreate:
		if a.wrong == takesOldEvent && r.made != none && cl.phase != phaseDone {
			cl.own = r.made
		}
	case r.result == resultNoDir && cl.flags&cancelled != 0:
		cl.phase = phaseDelete
		a.end(w, c)
	case r.result == resultNoDir && a.wrong == createsOnce:
		cl.phase = phaseWait
	case r.result == resultNoDir:
		w.ask(c, opMakeDir, none)
		w.ask(c, opCreate, none)
		if !a.java {
			w.ask(c, opList, none)
		}
	default:
		cl.own = r.made
		if cl.flags&cancelled != 0 {
			a.close(w, c)
		} else if a.java {
			a.list(w, c)
		}
	}
}

// checked handles the look of Java's latch at the owner of its node.
func (a latchRules) checked(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case cl.phase != phaseCheck || r.node != cl.own:
	case r.result == resultNoNode, w.node[cl.own].epoch != w.sessionOf(c).epoch:
		a.drop(w, c, cl.own)
		a.start(w, c)
	default:
		a.lead(w, c, "the list and a look at the owner")
	}
}

func (a latchRules) listed(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	switch {
	case cl.phase == phaseSearch:
		a.found(w, c, alive)
	case cl.phase != phaseCreate && cl.phase != phaseList, cl.own == none:
	case !alive.has(cl.own):
		if cl.phase != phaseCreate || a.wrong != takesOldList {
			a.gone(w, c)
		}
	default:
		a.decide(w, c, alive)
	}
}

// found goes on after a create whose reply was lost. The id in its name is another for each node.
func (a latchRules) found(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	cl.own = none
	for n := range (alive &^ cl.deleting).all() {
		if x := &w.node[n]; x.owner == c && x.epoch == w.sessionOf(c).epoch {
			cl.own = n
		}
	}
	w.note("      %c looks for its node: %n", c, cl.own)
	switch {
	case cl.flags&cancelled != 0:
		cl.phase = phaseDelete
		a.close(w, c)
	case cl.own == none:
		a.start(w, c)
	default:
		a.decide(w, c, alive)
	}
}

func (a latchRules) watched(w *world, c uint8, r request) {
	cl := &w.client[c]
	waits := cl.phase == phaseArm || cl.phase == phaseWait
	switch gone := r.result == resultNoNode; {
	case cl.flags&cancelled != 0:
	case r.node == cl.own && gone && a.watchesOwn() && (waits || cl.phase == phaseList || cl.phase == phaseHeld):
		a.gone(w, c)
		return
	case cl.watching.has(r.node) && gone && waits && a.wrong != ignoresNoNode:
		a.list(w, c)
		return
	}
	a.armed(w, c)
}

func (a latchRules) event(w *world, c uint8, e event, n uint8) {
	cl := &w.client[c]
	waits := cl.phase == phaseArm || cl.phase == phaseWait
	lives := waits || cl.phase == phaseList || cl.phase == phaseHeld
	rearms := !a.java && a.wrong != changeUsesUpWatch
	switch {
	case cl.flags&cancelled != 0:
	case e == nodeDeleted && n == cl.own && lives && a.watchesOwn():
		a.gone(w, c)
	case e == nodeDeleted && cl.deleting.has(n) && a.wrong == takesOldEvent && cl.phase == phaseCreate:
		a.start(w, c)
	case e == nodeDeleted && cl.watching.has(n) && waits && a.wrong == latchDeletionGrants:
		a.lead(w, c, "the deletion of the node ahead")
	case e == nodeDeleted && cl.watching.has(n) && waits:
		cl.watching, cl.ahead = 0, none
		a.list(w, c)
	case e == nodeDeleted && cl.watching.has(n) && cl.phase == phaseList:
		cl.watching = 0
	case e == nodeChanged && n == cl.own && lives && rearms && a.watchesOwn():
		w.ask(c, opWatch, n)
	case e == nodeChanged && cl.watching.has(n) && waits && rearms:
		cl.phase = phaseArm
		w.ask(c, opWatch, n)
	}
}

func (a latchRules) disconnected(w *world, c uint8) {
	if !a.sessionPolicy {
		a.suspend(w, c)
	}
}

func (a latchRules) deadline(w *world, c uint8) {
	if a.wrong != termWithoutDeadline {
		a.suspend(w, c)
	}
}

// reconnected lists again, and repeats deletes (rules L5, L7 and L8).
func (a latchRules) reconnected(w *world, c uint8) {
	cl, ss := &w.client[c], w.sessionOf(c)
	if a.wrong == deletesOnce {
		cl.deleting = 0
		a.end(w, c)
	}
	for n := range cl.deleting.all() {
		w.ask(c, opDelete, n)
	}
	switch cl.phase {
	case phaseCreate, phaseSearch:
		if cl.own != none {
			a.list(w, c)
			return
		}
		cl.phase = phaseSearch
		if a.wrong != latchNoSearchSync && (w.cfg.noCatchUp && !a.java || a.java && w.cfg.javaSyncs) {
			w.ask(c, opSync, none)
		}
		w.ask(c, opList, none)
	case phaseWait, phaseArm, phaseList, phaseCheck:
		if (a.setsBack || a.wrong == trustsLostWatches) && cl.phase == phaseWait && cl.flags&listAgain == 0 {
			return
		}
		a.list(w, c)
	case phaseHeld:
		if a.watchesOwn() && !(ss.data | ss.lostData).has(cl.own) {
			w.ask(c, opWatch, cl.own)
		}
	}
}

// sessionOver ends the term first, and makes another node in the new session (rules L4 and L6).
func (a latchRules) sessionOver(w *world, c uint8) {
	cl := &w.client[c]
	if cl.phase == phaseIdle || cl.phase == phaseDone || cl.phase == phaseDead {
		return
	}
	if a.wrong == termOutlivesSession && cl.phase == phaseHeld {
		w.ask(c, opList, none)
		return
	}
	a.suspend(w, c)
	cl.deleting = 0
	old := cl.own
	switch {
	case cl.flags&cancelled != 0: // its nodes go with the session
		cl.own, cl.phase = none, phaseDelete
		a.end(w, c)
	case (a.java || a.wrong == keepsOldNode) && old != none:
		a.list(w, c)
	case a.java || a.wrong == keepsOldNode:
		cl.phase = phaseSearch
		w.ask(c, opSync, none)
		w.ask(c, opList, none)
	default:
		a.drop(w, c, old)
		a.start(w, c)
	}
}
