package model

var _ algorithm = javaMemberRules{}

// javaMemberRules describes a member in Java, of version 5.4.0 or of the next one, whose enter and leave have no
// deadline. It sends one request after the other. When its connection breaks, its enter or leave fails; its
// process is taken to end then.
type javaMemberRules struct {
	head bool // the next version: a wake-up in enter is a reason to count again, and not the release
}

func (a javaMemberRules) kind() nodeKind { return member }

func (a javaMemberRules) isJava() bool { return true }

func (a javaMemberRules) isLatch() bool { return false }

func (a javaMemberRules) putsBack() bool { return false }

func (a javaMemberRules) start(w *world, c uint8) {
	cl := &w.client[c]
	*cl = client{phase: phaseSearch, round: cl.round, own: none, ahead: none, reader: none, ready: none}
	w.ask(c, opWatchReady, none)
}

func (a javaMemberRules) reply(w *world, c uint8, r request, alive nodeSet) {
	cl := &w.client[c]
	switch {
	case cl.phase == phaseSearch:
		a.readySeen(w, c, r)
	case cl.phase == phaseCreate && cl.ready != none:
		cl.own = r.made
		a.in(w, c, "ready was there")
	case cl.phase == phaseCreate:
		cl.own, cl.phase = r.made, phaseList
		w.ask(c, opList, none)
	case cl.phase == phaseList:
		a.count(w, c, alive)
	case cl.phase == phaseOpen:
		a.in(w, c, "there are enough")
	case cl.phase == phaseLeave:
		a.listed(w, c, alive)
	case cl.phase == phaseWatchOther:
		a.watched(w, c, r)
	case cl.phase == phaseLeaveDelete:
		cl.own = none
		a.wait(w, c)
	case cl.phase == phaseLast && r.op == opDelete:
		cl.own = none
		w.ask(c, opJavaSweep, none)
	case cl.phase == phaseLast:
		w.note("      %c HAS LEFT", c, none)
		barrierRules{}.next(w, c)
	}
}

// readySeen handles the look at "ready", ahead of the create.
func (a javaMemberRules) readySeen(w *world, c uint8, r request) {
	cl := &w.client[c]
	cl.ready, cl.phase = r.ready, phaseCreate
	if w.aliveEnd.has(r.ready) && w.aliveEnd&(only(r.ready)-1) == 0 {
		cl.flags |= deadReady
	}
	w.ask(c, opCreate, none)
}

// count counts all children, "ready" included.
func (a javaMemberRules) count(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	switch {
	case alive.len() >= w.cfg.barrier:
		cl.phase = phaseOpen
		w.ask(c, opJavaOpen, none)
	case cl.flags&woken != 0:
		a.wake(w, c)
	default:
		cl.phase = phaseWait
	}
}

// wake handles a wake-up in enter.
func (a javaMemberRules) wake(w *world, c uint8) {
	if !a.head {
		a.in(w, c, "it was woken")
		return
	}
	w.client[c].flags &^= woken
	w.client[c].phase = phaseList
	w.ask(c, opList, none)
}

func (a javaMemberRules) in(w *world, c uint8, why string) {
	cl := &w.client[c]
	w.note("      %c IS IN: "+why, c, none)
	if cl.flags&deadReady != 0 && w.cfg.javaLast {
		w.violate("P6", "a member in Java is in alone, because of the ready of a round that is over")
	}
	cl.phase, cl.flags, cl.ready = phaseHeld, 0, none
}

// listed decides whom to wait for: the first one waits for the last one, all others delete their nodes and wait
// for the first one. If one other is left, nobody is waited for.
func (a javaMemberRules) listed(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	members := w.membersIn(alive)
	switch {
	case cl.own != none && !members.has(cl.own) && members != 0:
		w.disconnect(w.cfg.sessionOf(c)) // leave throws
	case members.len() > 1:
		cl.ahead = members.lowest()
		if cl.own == cl.ahead {
			cl.ahead = members.highest()
		}
		cl.phase = phaseWatchOther
		cl.flags = 0
		w.ask(c, opWatch, cl.ahead)
	case members.len() == 1 && cl.own != none:
		cl.phase = phaseLast
		w.ask(c, opDelete, cl.own)
	default:
		cl.phase = phaseLast
		w.ask(c, opJavaSweep, none)
	}
}

func (a javaMemberRules) watched(w *world, c uint8, r request) {
	cl := &w.client[c]
	if r.result != resultOK {
		cl.flags |= woken
	}
	if cl.own != none && cl.ahead < cl.own {
		cl.phase = phaseLeaveDelete
		w.ask(c, opDelete, cl.own)
		return
	}
	a.wait(w, c)
}

func (a javaMemberRules) wait(w *world, c uint8) {
	cl := &w.client[c]
	if cl.flags&woken == 0 {
		cl.phase = phaseWaitOther
		return
	}
	cl.phase = phaseLeave
	w.ask(c, opList, none)
}

// event: what comes while enter creates the node is lost, what comes during a request of leave is not.
func (a javaMemberRules) event(w *world, c uint8, _ event, n uint8) {
	cl := &w.client[c]
	switch {
	case n != none && n != cl.ahead:
	case cl.phase == phaseWait:
		a.wake(w, c)
	case cl.phase == phaseWaitOther:
		cl.flags |= woken
		a.wait(w, c)
	case cl.phase == phaseList || cl.phase == phaseWatchOther || cl.phase == phaseLeaveDelete:
		cl.flags |= woken
	}
}

func (a javaMemberRules) moves(s *State, c uint8, do func(move)) {
	if s.client[c].phase == phaseHeld && s.session[c].connected != 0 {
		do(moveLeave)
	}
}

func (a javaMemberRules) move(w *world, c uint8, _ move) {
	w.client[c].phase = phaseLeave
	w.ask(c, opList, none)
}

// needs: Java gives no watch back.
func (a javaMemberRules) needs(*State, uint8) (data, marker nodeSet) { return ^nodeSet(0), 0 }

func (a javaMemberRules) disconnected(w *world, c uint8) {
	if p := w.client[c].phase; p != phaseIdle && p != phaseDone {
		w.client[c] = client{phase: phaseDead, own: none, ahead: none, reader: none, ready: none}
	}
}

func (a javaMemberRules) deadline(*world, uint8) {}

func (a javaMemberRules) reconnected(*world, uint8) {}

func (a javaMemberRules) sessionOver(*world, uint8) {}
