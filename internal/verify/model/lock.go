package model

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
