package model

// judge looks for what must not be in a state that was reached.
func (w *world) judge() {
	if w.cfg.barrier > 0 {
		return // judged where it happens
	}
	w.judgeGrants()
	w.judgeBeliefs()
	for c := range w.clients {
		w.judgeSleep(c)
	}
}

// judgeGrants looks for granted nodes that exclude each other (A).
func (w *world) judgeGrants() {
	leases := 0
	for c := range w.clients {
		mine := w.client[c].held & w.aliveEnd
		if w.algorithm(c).kind() == lease {
			leases += int(b2i(mine != 0))
			continue
		}
		for d := range c {
			for x := range mine.all() {
				for y := range (w.client[d].held & w.aliveEnd).all() {
					if w.node[x].kind == exclusive || w.node[y].kind == exclusive {
						w.violate("A", "two nodes that were granted exist at once")
					}
				}
			}
		}
	}
	if leases > max(w.cfg.leases, 1) {
		w.violate("A", "more were granted than there are leases")
	}
}

// judgeBeliefs looks for holders that exclude each other and believe at once (F).
func (w *world) judgeBeliefs() {
	if !w.cfg.goodClocks || w.cfg.loosely {
		return
	}
	leases := 0
	for c := range w.clients {
		if w.algorithm(c).kind() == lease {
			leases += int(b2i(w.client[c].phase == phaseHeld))
			continue
		}
		for d := range c {
			if w.cfg.javaMay && (w.algorithm(c).isJava() || w.algorithm(d).isJava()) {
				continue
			}
			if x, y := w.believes(c), w.believes(d); x > 0 && y > 0 && x+y > 2 {
				w.violate("F", "two believe at once that they hold the lock")
			}
		}
	}
	if leases > max(w.cfg.leases, 1) {
		w.violate("F", "more believe that they hold a lease than there are")
	}
}

// believes returns 1 for a reader, 2 for a writer, and 0 for who does not believe in a lock.
func (w *world) believes(c uint8) int {
	switch w.client[c].phase {
	case phaseHeldRead:
		return 1
	case phaseHeld:
		if w.algorithm(c).kind() == shared {
			return 1
		}
		return 2
	}
	return 0
}

// judgeSleep looks for a contender that will not be told what it has to know (C, G).
func (w *world) judgeSleep(c uint8) {
	cl, si := &w.client[c], w.cfg.sessionOf(c)
	ss := &w.session[si]
	quiet := ss.connected != 0 && ss.stalled == 0 && ss.closed == 0 && ss.requests == 0
	switch {
	case !quiet || cl.phase != phaseWait && cl.phase != phaseHeld || w.nextHeard(si) != 0:
	case cl.phase == phaseWait && w.aliveEnd.has(cl.own) && w.entitled(w.aliveEnd, cl.own):
		w.violate("C", "a contender is first, and nothing will wake it")
	case cl.phase == phaseHeld && !w.algorithm(c).isJava() && !w.aliveEnd.has(cl.own):
		w.violate("G", "the holder's node is gone, and nothing will say so")
	}
}

// judgeEnd looks at a state in which nothing has to happen any more, so that it may last for ever.
func (w *world) judgeEnd() {
	switch {
	case w.cfg.barrier > 0:
		w.judgeBarrierEnd()
	case w.algorithm(0).isLatch():
		w.judgeLatchEnd()
	default:
		for c := range w.clients {
			if p := w.client[c].phase; p != phaseDone {
				w.violate("C", "a contender stays in the phase "+phaseNames[p]+" for ever")
			}
		}
		if w.aliveEnd != 0 {
			w.violate("O", "a node outlives its acquisition")
		}
	}
}

// judgeLatchEnd looks at latches that nobody closes.
func (w *world) judgeLatchEnd() {
	live, leading, gone := 0, 0, 0
	var known nodeSet
	for c := range w.clients {
		cl := &w.client[c]
		switch cl.phase {
		case phaseDone:
			continue
		case phaseWait, phaseHeld:
		default:
			w.violate("C", "a latch stays in the phase "+phaseNames[cl.phase]+" for ever")
			return
		}
		live++
		if cl.own != none {
			known |= only(cl.own)
		}
		if cl.phase == phaseHeld {
			leading += int(b2i(w.aliveEnd.has(cl.own)))
			gone += int(b2i(!w.aliveEnd.has(cl.own))) // Java's only, or it would be G
		}
	}
	switch {
	case w.aliveEnd&^known != 0 && leading == 0:
		w.violate("L", "no latch leads: a node that nobody knows is first")
	case w.aliveEnd&^known != 0:
		w.violate("O", "a node that nobody knows, in a session that lives")
	case live > 0 && leading+gone == 0, w.aliveEnd != 0 && leading == 0:
		w.violate("L", "no latch leads, and nothing will change that")
	case leading > 1, leading+gone > 1 && !w.cfg.loosely && !w.cfg.javaMay:
		w.violate("L", "two latches lead, and nothing will change that")
	}
}

// judgeBarrierEnd looks for members that wait for ever (P3).
func (w *world) judgeBarrierEnd() {
	if w.cfg.javaMay {
		return // Java may sleep through an event, and others wait for it
	}
	standing := 0
	for c := range w.clients {
		standing += int(b2i(isEntering(w.client[c].phase)))
	}
	for c := range w.clients {
		cl := &w.client[c]
		switch {
		case cl.phase == phaseDone || cl.phase == phaseDead:
		case !isEntering(cl.phase):
			w.violate("P3", "a member stays in the phase "+phaseNames[cl.phase]+" for ever")
		case cl.flags&barrierCounted != 0 && w.founders.has(cl.own):
			w.violate("P3", "a member was counted, and waits for ever")
		case w.membersIn(w.aliveEnd).len() >= w.cfg.barrier || standing >= w.cfg.barrier:
			w.violate("P3", "enough members have come, and one waits for ever")
		case cl.phase != phaseWait:
			w.violate("P3", "a member stays in the phase "+phaseNames[cl.phase]+" for ever")
		}
	}
	if n := w.readyIn(w.aliveEnd); n != none && w.node[n].seq == marked && w.cfg.Faults[kills] == 0 {
		w.violate("P5", "a ready is left although nobody has died")
	}
}
