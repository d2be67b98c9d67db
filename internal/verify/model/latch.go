package model

// latchRules describes a leader latch. Other than a contender for a lock it lives until it is closed,
// and it keeps its node when a term ends while the session lives: the next term is on the same node.
type latchRules struct {
	java          bool
	head          bool // Java after 5.4.0: it looks who owns its node before it leads
	sessionPolicy bool // a term outlives a lost connection until the deadline
	setsBack      bool // waiters rely on setWatches after a reconnect, and do not list
	wrong         latchMistake
}

// latchMistake is what a latch does wrong on purpose.
type latchMistake uint8

const (
	latchRight          latchMistake = iota
	termWithoutDeadline              // a kept node is taken for a kept term
	keepsOldNode                     // the node of an earlier session is kept (CURATOR-696)
	termOutlivesSession              // the end of the session ends the term with the next list only
	latchUnwatched                   // a leader does not watch its node
	takesOldList                     // a list that was sent for the former node decides for the new one
	takesOldEvent                    // the deletion of the former node is taken for that of the new one
	deletesBeforeEnding              // stepping down deletes first, and ends the term when that is known
	ignoresNoNode                    // NoNode for the node ahead is ignored
	changeUsesUpWatch                // a change of the data uses up the watch, and it is not set again
	closesEarly                      // Close does not wait for the reply to a create
	createsOnce                      // a create that failed is only logged
	latchNoSearchSync                // the search for the own node trusts any server
	deletesOnce                      // the delete of the former node is not repeated
	trustsLostWatches                // a waiter relies on watches that nobody put back
	neverMadeAgain                   // a node that was deleted by hand is not made again
	latchDeletionGrants              // the deletion of the node ahead begins a term
)

var _ algorithm = latchRules{}

func (a latchRules) kind() nodeKind { return exclusive }
func (a latchRules) isJava() bool   { return a.java }
func (a latchRules) isLatch() bool  { return true }
func (a latchRules) putsBack() bool { return a.java || a.setsBack }

func (a latchRules) watchesOwn() bool { return !a.java && a.wrong != latchUnwatched }

// start joins the line: create and list in one write (rule L2).
func (a latchRules) start(w *world, c uint8) {
	cl := &w.client[c]
	cl.own, cl.ahead, cl.watching, cl.granted, cl.phase = none, none, 0, 0, phaseCreate
	cl.flags &= cancelled
	w.ask(c, opCreate, none)
	if !a.java {
		w.ask(c, opList, none)
	}
}

// drop has a node deleted, until that is answered (rule L8).
func (a latchRules) drop(w *world, c, n uint8) {
	if n != none {
		w.client[c].deleting |= only(n)
		w.ask(c, opDelete, n)
	}
}

// suspend ends a term. The node stays (rules L4 and L5).
func (a latchRules) suspend(w *world, c uint8) {
	cl := &w.client[c]
	if cl.phase == phaseHeld || cl.phase == phaseCheck {
		w.note("      %c leads no more", c, none)
		cl.phase = phaseWait
		cl.flags |= listAgain | hasLed
	}
}

func (a latchRules) moves(s *State, c uint8, do func(move)) {
	cl := &s.client[c]
	if cl.phase == phaseDone || cl.phase == phaseDelete || cl.flags&cancelled != 0 {
		return
	}
	do(moveClose)
	if cl.phase == phaseHeld && cl.deleting == 0 && !a.java {
		do(moveStepDown)
	}
}

func (a latchRules) move(w *world, c uint8, m move) {
	if m == moveClose {
		w.client[c].flags |= cancelled
		a.close(w, c)
		return
	}
	old := w.client[c].own
	if a.wrong == takesOldList {
		w.ask(c, opList, none) // that happens to be under way
	}
	a.drop(w, c, old)
	a.start(w, c)
	switch cl := &w.client[c]; a.wrong {
	case takesOldList:
		cl.own = old
	case deletesBeforeEnding:
		cl.own, cl.phase = old, phaseHeld
	}
}

// close waits for a create that is under way, and deletes what it made (rule L9).
func (a latchRules) close(w *world, c uint8) {
	cl := &w.client[c]
	if cl.own == none && (cl.phase == phaseCreate || cl.phase == phaseSearch) && a.wrong != closesEarly {
		return
	}
	a.drop(w, c, cl.own)
	cl.own, cl.ahead, cl.watching, cl.phase = none, none, 0, phaseDelete
	a.end(w, c)
}

// end ends a latch that was closed, when nothing of it is left.
func (a latchRules) end(w *world, c uint8) {
	cl := &w.client[c]
	if cl.phase == phaseDelete && cl.deleting == 0 {
		*cl = client{phase: phaseDone, own: none, ahead: none, reader: none, ready: none}
	}
}

func (a latchRules) list(w *world, c uint8) {
	cl := &w.client[c]
	cl.phase = phaseList
	cl.flags &^= listAgain
	w.ask(c, opList, none)
}

// gone makes another node when the own one does not exist any more.
func (a latchRules) gone(w *world, c uint8) {
	cl := &w.client[c]
	w.note("      %c finds that its node %n is gone", c, cl.own)
	switch {
	case cl.flags&cancelled != 0:
		cl.own, cl.phase = none, phaseDelete
		a.end(w, c)
	case a.wrong == neverMadeAgain:
		cl.phase = phaseWait
	default:
		if a.java {
			a.drop(w, c, cl.own)
		}
		a.start(w, c)
	}
}

// decide says by a list whether the latch leads, and if not, what it watches (rules L3 and L7).
func (a latchRules) decide(w *world, c uint8, alive nodeSet) {
	cl, ss := &w.client[c], w.sessionOf(c)
	n := uint8(none) // the node right ahead
	for x := range alive.all() {
		if w.node[x].seq < w.node[cl.own].seq && (n == none || w.node[x].seq > w.node[n].seq) {
			n = x
		}
	}
	switch {
	case n == none && a.head:
		cl.watching, cl.ahead, cl.phase = 0, none, phaseCheck
		w.ask(c, opRead, cl.own)
		return
	case n == none:
		cl.watching, cl.ahead = 0, none
		a.lead(w, c, "the list")
		return
	}
	w.note("      %c sees %n right ahead", c, n)
	cl.ahead, cl.watching, cl.phase = n, only(n), phaseArm
	if a.watchesOwn() && !ss.data.has(cl.own) {
		w.ask(c, opWatch, cl.own)
	}
	if !ss.data.has(n) || w.isOut(c, opUnwatch, n) {
		w.ask(c, opWatch, n)
	}
	a.armed(w, c)
}

func (a latchRules) armed(w *world, c uint8) {
	if cl := &w.client[c]; cl.phase == phaseArm && !w.hasOut(c, opWatch, opList) {
		cl.phase = phaseWait
	}
}

// lead begins a term, before the local deadline (rule L3).
func (a latchRules) lead(w *world, c uint8, by string) {
	cl, ss := &w.client[c], w.sessionOf(c)
	if ss.expired != 0 && !w.cfg.noDeadline {
		cl.phase = phaseWait
		cl.flags |= listAgain
		return
	}
	again := cl.held.has(cl.own)
	w.hold(c, by)
	if a.watchesOwn() && !ss.data.has(cl.own) && !w.isAsked(c, opWatch, cl.own) {
		w.ask(c, opWatch, cl.own)
	}
	if !w.cfg.tokenOfNumber || !w.aliveEnd.has(cl.own) {
		return
	}
	token := w.node[cl.own].seq + 1
	if !again && token <= w.highest {
		w.violate("T", "the token is not higher than an earlier one")
	}
	w.highest = max(w.highest, token)
}

func (a latchRules) needs(s *State, c uint8) (data, marker nodeSet) {
	cl := &s.client[c]
	waits := cl.phase == phaseArm || cl.phase == phaseWait || cl.phase == phaseList
	if cl.own != none && (waits || cl.phase == phaseHeld || cl.phase == phaseCheck) {
		data = only(cl.own)
	}
	if waits {
		data |= cl.watching
	}
	return data, 0
}
