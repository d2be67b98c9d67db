package model

func (a barrierRules) leaveReply(w *world, c uint8, r request, alive nodeSet) {
	cl := &w.client[c]
	switch {
	case cl.phase == phaseSweepLook || cl.phase == phaseSweep:
		if a.sweepReply(w, c, r, alive) {
			a.left(w, c, cl.flags&memberLost == 0)
		}
	case r.op == opReadReady && cl.phase == phaseLeave:
		a.round(w, c, r)
	case r.op == opList && (cl.phase == phaseLeave || cl.phase == phaseLeaveList):
		a.listed(w, c, alive)
	case r.op == opWatch && cl.phase == phaseWatchOther && r.node == cl.ahead:
		a.otherWatched(w, c, r)
	case r.op == opDelete && cl.phase == phaseLeaveDelete:
		cl.own = none
		a.afterDelete(w, c)
	case r.op == opLast && cl.phase == phaseLast && r.result == resultOK:
		cl.own = none
		a.left(w, c, true)
	case r.op == opLast && cl.phase == phaseLast:
		cl.phase = phaseLeaveDelete
		w.ask(c, opDelete, cl.own)
	}
}

// listed takes a list over.
func (a barrierRules) listed(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	cl.flags &^= readyListed
	if w.readyIn(alive) != none {
		cl.flags |= readyListed
	}
	if cl.phase == phaseLeave {
		a.firstList(w, c, alive)
	} else {
		a.nextList(w, c, alive)
	}
}

// round finds out which round the member leaves (rules B8 and B9).
func (a barrierRules) round(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case r.ready != none && (cl.own == none || r.ready > cl.own):
		cl.ready = r.ready
	case cl.own == none: // a guest, and the round is over
		a.left(w, c, true)
	case cl.ready == none || cl.ready < cl.own:
		cl.ready = cl.own // somebody has deleted "ready"
	}
}

// firstList finds out whom to wait for: the members of the round that are there. The set only
// shrinks (rule B8).
func (a barrierRules) firstList(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	cl.members = w.membersIn(alive)
	if a.wrong != waitsForAll {
		cl.members &= only(cl.ready) - 1
	}
	a.keep(w, c, alive)
}

func (a barrierRules) nextList(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	if a.wrong == waitsForAll {
		cl.members = w.membersIn(alive)
	}
	a.keep(w, c, alive)
}

func (a barrierRules) keep(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	if cl.own != none && !alive.has(cl.own) {
		a.lose(w, c)
		return
	}
	cl.members &= alive
	if cl.own != none {
		cl.members &^= only(cl.own)
	}
	a.wait(w, c)
}

// wait watches the member that has to go first: the first of all waits for the last one, all others
// wait for the first.
func (a barrierRules) wait(w *world, c uint8) {
	cl := &w.client[c]
	few := 0
	if a.wrong == leavesAtOne && cl.own == none {
		few = 1
	}
	switch {
	case cl.members.len() > few:
		cl.ahead = cl.members.lowest()
		if a.isFirst(cl) {
			cl.ahead = cl.members.highest()
		}
		cl.phase = phaseWatchOther
		cl.flags &^= woken
		w.ask(c, opWatch, cl.ahead)
	case cl.own == none && cl.flags&readyListed != 0:
		a.sweep(w, c)
	case cl.own == none:
		a.left(w, c, true)
	case a.wrong == removesReadyFreely:
		cl.phase = phaseLeaveDelete
		w.ask(c, opDelete, cl.own)
	default:
		cl.phase = phaseLast
		w.ask(c, opLast, cl.own)
	}
}

// isFirst reports whether the member's node is the first one of those that are there.
func (a barrierRules) isFirst(cl *client) bool {
	return cl.own != none && cl.own < cl.members.lowest()
}

func (a barrierRules) otherWatched(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case r.result == resultNoNode:
		cl.members &^= only(cl.ahead)
		a.wait(w, c)
	case cl.own != none && !a.isFirst(cl):
		cl.phase = phaseLeaveDelete
		w.ask(c, opDelete, cl.own)
	case cl.flags&woken != 0:
		a.listOthers(w, c)
	default:
		cl.phase = phaseWaitOther
	}
}

// afterDelete goes on when the own node is gone.
func (a barrierRules) afterDelete(w *world, c uint8) {
	cl := &w.client[c]
	switch {
	case cl.members == 0 || cl.flags&hurried != 0:
		a.sweep(w, c)
	case cl.flags&woken != 0:
		a.listOthers(w, c)
	default:
		cl.phase = phaseWaitOther
	}
}

func (a barrierRules) listOthers(w *world, c uint8) {
	w.client[c].phase = phaseLeaveList
	w.ask(c, opList, none)
}

// hurry leaves without the others.
func (a barrierRules) hurry(w *world, c uint8) {
	cl := &w.client[c]
	cl.flags |= hurried
	if cl.own == none {
		a.sweep(w, c)
		return
	}
	cl.phase = phaseLeaveDelete
	w.ask(c, opDelete, cl.own)
}

// sweep removes a "ready" that the round has left behind, and ends the round for the member.
func (a barrierRules) sweep(w *world, c uint8) {
	if a.wrong == leavesReady {
		a.left(w, c, w.client[c].flags&memberLost == 0)
		return
	}
	a.findDead(w, c)
}

// lose ends the round for a member whose node is gone.
func (a barrierRules) lose(w *world, c uint8) {
	w.client[c].flags |= memberLost
	w.client[c].own = none
	a.sweep(w, c)
}

// left ends the round for a member, which may find that its own node was gone.
func (a barrierRules) left(w *world, c uint8, ok bool) {
	cl := &w.client[c]
	w.note("      %c HAS LEFT", c, none)
	mine := nodeSet(0)
	for n := range cl.entered.all() {
		if w.node[n].owner == c {
			mine |= only(n)
		}
	}
	if ok && cl.flags&hurried == 0 {
		w.judgeLeft(cl, mine)
	}
	a.next(w, c)
}

// judgeLeft looks at what a member leaves behind.
func (w *world) judgeLeft(cl *client, mine nodeSet) {
	if cl.entered&w.aliveEnd&^mine != 0 && !w.cfg.javaMay {
		w.violate("P2", "a member has left before another member of its round")
	}
	if n := cl.ready; w.aliveEnd.has(n) && w.node[n].kind == ready && w.node[n].seq == marked {
		w.violate("P5", "the round is over, and its ready is there still")
	}
}

func (a barrierRules) leaveEvent(w *world, c uint8, e event, n uint8) {
	cl := &w.client[c]
	switch {
	case n == none || n != cl.ahead || e != nodeDeleted:
	case cl.phase == phaseWaitOther:
		a.listOthers(w, c)
	case cl.phase == phaseWatchOther || cl.phase == phaseLeaveDelete:
		cl.flags |= woken
	}
}

func (a barrierRules) disconnected(*world, uint8) {}

func (a barrierRules) deadline(*world, uint8) {}

// reconnected asks again for everything that was not answered.
func (a barrierRules) reconnected(w *world, c uint8) {
	cl := &w.client[c]
	switch cl.phase {
	case phaseCreate:
		if cl.own == none {
			a.findOwn(w, c)
			return
		}
		a.look(w, c, cl.own)
	case phaseGuest:
		cl.flags |= passing
		a.look(w, c, cl.own)
	case phaseList, phaseWait, phaseOpen:
		a.look(w, c, cl.own)
	case phaseGiveUpLook:
		w.ask(c, opReadReady, none)
	case phaseGiveUp:
		w.ask(c, opDelete, cl.own)
		w.ask(c, opReadReady, none)
	case phaseLeave:
		w.ask(c, opReadReady, none)
		w.ask(c, opList, none)
	case phaseLast:
		w.ask(c, opLast, cl.own)
	case phaseWatchOther:
		w.ask(c, opWatch, cl.ahead)
	case phaseLeaveDelete:
		cl.flags |= woken
		w.ask(c, opDelete, cl.own)
	case phaseWaitOther, phaseLeaveList:
		a.listOthers(w, c)
	case phaseSweepLook, phaseSweep, phaseEnterSweepLook, phaseEnterSweep:
		a.findDead(w, c)
	}
}

// findOwn goes on after a create whose reply was lost. The client knows the name that it has sent. The
// model takes the node that the servers have of this member and round, or creates another one.
func (a barrierRules) findOwn(w *world, c uint8) {
	cl := &w.client[c]
	for n := range w.aliveEnd.all() {
		if x := &w.node[n]; x.kind == member && x.owner == c && x.seq == cl.round && x.epoch == w.sessionOf(c).epoch {
			cl.own = n
			a.look(w, c, n)
			return
		}
	}
	a.create(w, c)
}

// sessionOver begins Enter anew; a member that is in, or leaves with its node, is lost (rule B11).
func (a barrierRules) sessionOver(w *world, c uint8) {
	cl := &w.client[c]
	switch {
	case cl.phase == phaseIdle || cl.phase == phaseDone || cl.phase == phaseDead:
	case cl.phase == phaseGiveUpLook || cl.phase == phaseGiveUp:
		cl.flags &^= barrierCounted
		a.gaveUp(w, c)
	case isEntering(cl.phase):
		if cl.own != none {
			w.ask(c, opDelete, cl.own)
		}
		a.create(w, c)
	case cl.phase == phaseHeld:
		cl.flags |= memberLost
	case cl.phase == phaseSweepLook || cl.phase == phaseSweep:
		a.findDead(w, c)
	case cl.own != none:
		a.lose(w, c)
	case cl.phase == phaseLeave: // a guest, which has not seen whom to wait for
		w.ask(c, opReadReady, none)
		w.ask(c, opList, none)
	default:
		a.listOthers(w, c)
	}
}

// findDead looks for a "ready" that is left of a round whose members are gone (rule B10). The list comes first:
// the "ready" that is read behind it stays there as long as the barrier's node has the version of the list, and a
// marked "ready" is there; unless the barrier's node is made anew, which cannot be while the member's own node is
// there.
func (a barrierRules) findDead(w *world, c uint8) {
	cl := &w.client[c]
	if isEntering(cl.phase) {
		cl.phase = phaseEnterSweepLook
	} else {
		cl.phase = phaseSweepLook
	}
	w.ask(c, opList, none)
	w.ask(c, opReadReady, none)
}

// sweepReply removes it, and reports whether there is nothing more to do.
func (a barrierRules) sweepReply(w *world, c uint8, r request, alive nodeSet) (over bool) {
	cl := &w.client[c]
	looking := cl.phase == phaseSweepLook || cl.phase == phaseEnterSweepLook
	switch {
	case r.op == opList && looking:
		cl.tries, cl.members = r.ready, w.membersIn(alive)
	case r.op == opReadReady && looking && a.mayRemove(w, c, r.ready, alive):
		cl.phase++
		cl.members = 0
		w.send(c, request{op: opSweep, node: cl.own, ready: cl.tries})
	case r.op == opReadReady && looking, r.op == opSweep && r.result == resultOK:
		cl.tries, cl.members = 0, 0
		return true
	case r.op == opSweep: // something has changed
		w.ask(c, opSync, none)
		a.findDead(w, c)
	}
	return false
}

// mayRemove reports whether a "ready" is marked and dead.
func (a barrierRules) mayRemove(w *world, c, n uint8, alive nodeSet) bool {
	if n == none || w.node[n].seq != marked && a.wrong != sweepsFreely && a.wrong != sweepsByVersion {
		return false
	}
	return w.client[c].members&alive&(only(n)-1) == 0
}
