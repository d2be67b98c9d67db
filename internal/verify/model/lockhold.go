package model

func (a lockRules) moves(s *State, c uint8, do func(move)) {
	cl := &s.client[c]
	switch {
	case cl.phase == phaseHeld:
		do(moveHandOver)
		if cl.flags&readerLeaves == 0 {
			do(moveRelease)
			if cl.reader != none && cl.flags&downAnswered != 0 {
				do(moveReleaseRead)
			}
		}
		if a.downgrade && cl.flags&downgraded == 0 {
			do(moveDowngrade)
		}
	case cl.phase == phaseHeldRead:
		do(moveReleaseRead)
	case cl.phase == phaseDelete && cl.held != 0 && cl.flags&cancelled == 0 && (a.wrong == handsOverDeleted || a.wrong == handsOverOwnDeadline):
		do(moveHandOver)
	case cl.phase >= phaseCreate && cl.phase <= phaseWait && cl.flags&cancelled == 0:
		do(moveCancel)
	}
}

func (a lockRules) move(w *world, c uint8, m move) {
	cl := &w.client[c]
	switch m {
	case moveRelease:
		cl.phase = phaseDelete
		w.ask(c, a.deletion(cl), cl.own)
	case moveReleaseRead:
		if cl.phase == phaseHeldRead {
			cl.phase = phaseDeleteRead
		} else {
			cl.flags |= readerLeaves
		}
		w.ask(c, opDelete, cl.reader)
	case moveDowngrade:
		cl.flags |= downgraded
		cl.ahead = cl.own
		op := opDowngrade
		if a.fresh {
			op = opDowngradeFresh
		}
		w.ask(c, op, cl.own)
		if a.checksDowngrade() {
			w.ask(c, opList, none)
		}
	case moveCancel:
		cl.flags |= cancelled
		if cl.own != none {
			a.giveUp(w, c)
		}
	case moveHandOver: // the node, its watch and its deadline stay (rules H1 and H2)
		cl.phase = phaseHeld
		if a.wrong == handsOverUnwatched {
			w.ask(c, opUnwatch, cl.own)
		}
	}
}

// deletion returns the request that deletes the node. What is sent again after a reconnect is the same.
func (a lockRules) deletion(cl *client) operation {
	if cl.flags&cancelled == 0 && a.marks(cl) {
		return opRelease
	}
	return opDelete
}

// marks reports whether the holder releases with the marker (rule 5).
func (a lockRules) marks(cl *client) bool {
	switch {
	case a.wrong == readerMarks:
		return true
	case !a.marker || a.of != exclusive || cl.flags&waited == 0 && !a.eager:
		return false
	}
	return cl.flags&downgraded == 0 || a.wrong == markAfterDowngrade
}

// checksDowngrade reports whether a downgraded lease counts only if a list shows the writer's node
// beside the reader's.
func (a lockRules) checksDowngrade() bool { return !a.java && a.wrong != downgradeUnchecked }

// readerCreated handles the reply to the create of a downgrade.
func (a lockRules) readerCreated(w *world, c uint8, r request) {
	cl := &w.client[c]
	cl.reader = r.made
	if !a.checksDowngrade() {
		a.holdReader(w, c)
	}
}

// readerListed handles the list behind that create, or the search after its reply was lost.
func (a lockRules) readerListed(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	if cl.flags&downSearch != 0 {
		cl.flags &^= downSearch
		cl.reader = none
		for n := range alive.all() {
			if x := &w.node[n]; x.owner == c && x.kind == shared && x.epoch == w.sessionOf(c).epoch && n != cl.own {
				cl.reader = n
			}
		}
	}
	switch {
	case cl.reader != none && (alive.has(cl.ahead) || !a.checksDowngrade()):
		a.holdReader(w, c)
		return
	case cl.reader == none && cl.own == none:
		a.finish(w, c)
		return
	}
	w.note("      %c: the writer's node is gone, and with it the downgrade", c, none)
	cl.flags |= downAnswered
	if cl.reader != none {
		cl.flags |= readerLeaves
		if cl.own == none {
			cl.phase = phaseDeleteRead
		}
		w.ask(c, opDelete, cl.reader)
	}
}

// holdReader makes the downgraded read lease count.
func (a lockRules) holdReader(w *world, c uint8) {
	cl := &w.client[c]
	cl.flags |= downAnswered
	if w.sessionOf(c).expired != 0 && !w.cfg.noDeadline { // rule 11
		cl.flags |= readerLeaves
		if cl.own == none {
			cl.phase = phaseDeleteRead
		}
		w.ask(c, opDelete, cl.reader)
		return
	}
	w.note("      %c HAS THE READ LEASE %n", c, cl.reader)
	cl.held |= only(cl.reader)
	if cl.own == none {
		cl.phase = phaseHeldRead
	}
	token := cl.ahead + 1 // the writer's
	if w.cfg.readerToken {
		token = cl.reader + 1
	}
	if w.aliveEnd.has(cl.reader) {
		w.highest = max(w.highest, token)
	}
}

// deleted handles the reply to the deletion of a node.
func (a lockRules) deleted(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case r.node == cl.reader && cl.phase == phaseDeleteRead:
		a.finish(w, c)
	case r.node == cl.reader && cl.flags&readerLeaves != 0:
		cl.flags &^= readerLeaves
		cl.held &^= only(cl.reader)
		cl.reader = none
	case r.node != cl.own || cl.phase != phaseDelete:
	case r.result == resultRefused:
		w.ask(c, opDelete, cl.own)
	case cl.reader != none:
		a.leaveToReader(w, c)
	default:
		a.finish(w, c)
	}
}

// leaveToReader goes on with the read lease when the write lease is over. Each node has its own
// deletion (rule H6).
func (a lockRules) leaveToReader(w *world, c uint8) {
	cl := &w.client[c]
	cl.held &^= only(cl.own)
	cl.own = none
	switch {
	case cl.flags&downAnswered == 0:
		cl.phase = phaseDelete // the answer decides
	case cl.flags&readerLeaves != 0:
		cl.phase = phaseDeleteRead
	default:
		cl.phase = phaseHeldRead
	}
}

// lost ends the lease of a node that is gone.
func (a lockRules) lost(w *world, c uint8) {
	cl := &w.client[c]
	w.note("      the lease of %c on %n is lost", c, cl.own)
	if cl.flags&downgraded != 0 && (cl.reader != none || cl.flags&downAnswered == 0) {
		a.leaveToReader(w, c)
		return
	}
	a.finish(w, c)
}

func (a lockRules) disconnected(*world, uint8) {}

// deadline ends what the client believes in. The nodes are deleted after the reconnect.
func (a lockRules) deadline(w *world, c uint8) {
	cl := &w.client[c]
	switch cl.phase {
	case phaseHeld:
		cl.phase = phaseDelete
		if cl.reader != none && cl.flags&downAnswered != 0 {
			cl.flags |= readerLeaves
		}
	case phaseDelete:
		if cl.reader != none && cl.flags&downAnswered != 0 {
			cl.flags |= readerLeaves
		}
	case phaseHeldRead:
		cl.phase = phaseDeleteRead
	}
}
