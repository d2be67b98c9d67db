package model

// barrierRules describes a member of a double barrier, in Enter. Leaving is in barrierleave.go. Each
// node has a fresh name (rule B1), so a name stands for one node.
type barrierRules struct {
	wrong barrierMistake
}

// barrierMistake is what a member does wrong on purpose.
type barrierMistake uint8

const (
	barrierRight       barrierMistake = iota
	memberUnwatched                   // Enter does not watch the own node
	opensUnchecked                    // the transaction that opens does not check the members (Java)
	deadReadyLetsIn                   // a "ready" that is older than the own node lets in
	anyEventReleases                  // any event is the release (Java 5.4.0)
	countsOnly                        // a wake-up counts the members, and does not look at "ready"
	looksUnwatched                    // the look after a wake-up sets no watch
	guestInTwoSteps                   // who comes late looks, and then deletes its node
	givesUpBlindly                    // giving up deletes the node and does not look again
	leavesAtOne                       // a member leaves when one other is left (Java)
	waitsForAll                       // Leave waits for every node, those of the next round too
	removesReadyFreely                // every member deletes "ready" at the end (Java)
	opensUnmarked                     // no mistake: it may not write to the barrier's node
	leavesReady                       // nobody but the last member and the next round deletes "ready"
	sweepsFreely                      // a "ready" that is left of a round is deleted whatever has changed
	sweepsByVersion                   // ... if the version of the barrier's node has not
	sweepsByMark                      // ... if it is marked
)

// pending stands for the node that the create ahead of a request will make.
const pending = 0xfe

func (a barrierRules) kind() nodeKind { return member }

func (a barrierRules) isJava() bool { return false }

func (a barrierRules) isLatch() bool { return false }

func (a barrierRules) putsBack() bool { return false }

// next ends a round. The user begins the next one, if there is one.
func (a barrierRules) next(w *world, c uint8) {
	cl := &w.client[c]
	round := cl.round + 1
	*cl = client{phase: phaseDone, own: none, ahead: none, reader: none, ready: none}
	if int(round) < w.cfg.rounds {
		cl.phase, cl.round = phaseIdle, round
	}
}

var _ algorithm = barrierRules{}

func (a barrierRules) start(w *world, c uint8) {
	cl := &w.client[c]
	*cl = client{round: cl.round, own: none, ahead: none, reader: none, ready: none}
	a.create(w, c)
}

// create makes a node and looks, in one write: the node comes first (rule B2).
func (a barrierRules) create(w *world, c uint8) {
	cl := &w.client[c]
	cl.phase, cl.own, cl.ready = phaseCreate, none, none
	cl.flags = 0
	cl.entered = 0
	w.ask(c, opCreate, none)
	a.look(w, c, pending)
}

// look asks for the own node, "ready" and the members, with the watches (rule B5).
func (a barrierRules) look(w *world, c, own uint8) {
	ss := w.sessionOf(c)
	if own != pending {
		w.client[c].phase = phaseList
		w.client[c].flags &^= woken
	}
	if !ss.data.has(own) && a.wrong != memberUnwatched {
		w.ask(c, opWatch, own)
	}
	if ss.ready != 0 && own != pending || a.wrong == looksUnwatched && own != pending {
		w.ask(c, opReadReady, none)
	} else {
		w.ask(c, opWatchReady, none)
	}
	w.ask(c, opList, none)
}

// lookAgain looks behind a sync, after a transaction that was refused.
func (a barrierRules) lookAgain(w *world, c uint8) {
	w.ask(c, opSync, none)
	a.look(w, c, w.client[c].own)
}

func (a barrierRules) reply(w *world, c uint8, r request, alive nodeSet) {
	cl := &w.client[c]
	switch {
	case !isEntering(cl.phase):
		a.leaveReply(w, c, r, alive)
		return
	case cl.phase == phaseEnterSweepLook || cl.phase == phaseEnterSweep:
		if a.sweepReply(w, c, r, alive) {
			cl.flags |= sweptOnce
			a.look(w, c, cl.own)
		}
		return
	}
	switch r.op {
	case opCreate:
		if cl.phase == phaseCreate && cl.own == none {
			cl.own = r.made
		}
	case opWatch:
		a.ownSeen(w, c, r)
	case opWatchReady, opReadReady:
		a.readySeen(w, c, r)
	case opList:
		if cl.own != none && (cl.phase == phaseCreate || cl.phase == phaseList) {
			cl.tries = r.ready
			a.judge(w, c, alive)
		}
	case opOpen:
		a.opened(w, c, r)
	case opGuest:
		a.passed(w, c, r)
	case opDelete:
		a.withdrawn(w, c, r, alive)
	}
}

// ownSeen handles the reply to the watch on the own node.
func (a barrierRules) ownSeen(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case r.node != cl.own || r.result == resultOK || cl.phase != phaseCreate && cl.phase != phaseList:
	case cl.flags&passing != 0: // the reply to the transaction was lost (rule B6)
		cl.own = none
		a.in(w, c, "it had passed as a guest")
	default:
		a.create(w, c)
	}
}

func (a barrierRules) readySeen(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch cl.phase {
	case phaseCreate, phaseList:
		if cl.own != none {
			cl.ready = r.ready
		}
	case phaseGiveUpLook:
		if r.ready != none && r.ready > cl.own {
			a.in(w, c, "the round is open after all")
			return
		}
		cl.phase = phaseGiveUp
		cl.ready = none
		w.ask(c, opDelete, cl.own)
		w.ask(c, opReadReady, none)
	case phaseGiveUp:
		a.secondLook(w, c, r)
	}
}

// judge decides by what was seen (rules B3 and B4).
func (a barrierRules) judge(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	members := w.membersIn(alive)
	cl.flags &^= passing | deadReady
	switch {
	case cl.ready == none || a.wrong == countsOnly && cl.flags&looked != 0:
	case cl.ready > cl.own || a.wrong == deadReadyLetsIn:
		a.in(w, c, "ready is there")
		return
	case members&^only(cl.own)&(only(cl.ready)-1) != 0:
		a.pass(w, c)
		return
	default:
		cl.flags |= deadReady
	}
	cl.flags |= looked
	switch {
	case members.len() >= w.cfg.barrier && members.has(cl.own):
		r := request{op: opOpen, node: none, set: members, ready: cl.tries}
		if cl.flags&deadReady != 0 {
			r.node = cl.ready
		}
		if a.wrong == opensUnchecked {
			r.set = 0
		}
		cl.phase = phaseOpen
		w.send(c, r)
	case cl.flags&deadReady != 0 && cl.flags&sweptOnce == 0 && w.node[cl.ready].seq == marked && a.wrong != leavesReady:
		a.findDead(w, c)
	case cl.flags&woken != 0:
		a.look(w, c, cl.own)
	default:
		cl.phase, cl.tries = phaseWait, 0
	}
}

func (a barrierRules) opened(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case cl.phase != phaseOpen:
	case r.result == resultOK:
		cl.ready = r.made
		a.in(w, c, "it has opened the barrier")
	default:
		a.lookAgain(w, c)
	}
}

// pass goes through an open round to which the member comes late, without being counted in the next
// one (rule B6).
func (a barrierRules) pass(w *world, c uint8) {
	cl := &w.client[c]
	if a.wrong == guestInTwoSteps {
		own := cl.own
		cl.own = none
		a.in(w, c, "it comes late")
		w.ask(c, opDelete, own)
		return
	}
	cl.phase = phaseGuest
	w.ask(c, opGuest, cl.own)
}

func (a barrierRules) passed(w *world, c uint8, r request) {
	cl := &w.client[c]
	switch {
	case cl.phase != phaseGuest:
	case r.result == resultOK:
		cl.own = none
		a.in(w, c, "it passes as a guest")
	default:
		a.lookAgain(w, c)
	}
}

func (a barrierRules) in(w *world, c uint8, why string) {
	cl := &w.client[c]
	w.note("      %c IS IN: "+why, c, none)
	if cl.flags&(barrierOpen|deletedUnseen) == 0 { // see secondLook
		w.violate("P1", "a member is in, and never was an open round there together with its node")
	}
	cl.phase, cl.flags, cl.tries = phaseHeld, 0, 0
}

// withdrawn handles the delete of a member that gives up (rule B7).
func (a barrierRules) withdrawn(w *world, c uint8, r request, alive nodeSet) {
	cl := &w.client[c]
	if cl.phase != phaseGiveUp || r.node != cl.own {
		return
	}
	if r.result == resultNoNode {
		cl.flags |= deletedUnseen
	}
	cl.ready = w.readyIn(alive)
	if a.wrong == givesUpBlindly {
		a.gaveUp(w, c)
	}
}

// secondLook is behind the delete: a round that was opened before it has counted the member. If the
// reply to the delete was lost, the member does not know when its node went. It takes itself for
// counted then: one more in an open round does less harm than one less.
func (a barrierRules) secondLook(w *world, c uint8, r request) {
	cl := &w.client[c]
	if r.ready != none && r.ready > cl.own && (cl.flags&deletedUnseen != 0 || r.ready == cl.ready) {
		cl.own, cl.ready = none, r.ready
		a.in(w, c, "it was counted before it gave up")
		return
	}
	a.gaveUp(w, c)
}

func (a barrierRules) gaveUp(w *world, c uint8) {
	cl := &w.client[c]
	w.note("      %c HAS GIVEN UP", c, none)
	if cl.flags&barrierCounted != 0 && w.readyIn(w.aliveEnd) != none {
		w.violate("P4", "Enter fails although the member was counted, and the round is open")
	}
	a.next(w, c)
}

// event handles what a watch tells (rule B5).
func (a barrierRules) event(w *world, c uint8, e event, n uint8) {
	cl := &w.client[c]
	switch {
	case !isEntering(cl.phase):
		a.leaveEvent(w, c, e, n)
	case n == none && cl.phase == phaseWait && (e == nodeCreated || a.wrong == anyEventReleases) && a.wrong != countsOnly && a.wrong != looksUnwatched:
		a.in(w, c, eventNames[e]+" of ready")
	case n == none && cl.phase == phaseWait:
		a.look(w, c, cl.own)
	case n == none:
		cl.flags |= woken
	case n == cl.own && e == nodeDeleted && a.wrong == anyEventReleases && cl.phase == phaseWait:
		a.in(w, c, "an event of its own node")
	case n == cl.own && e == nodeDeleted && (cl.phase == phaseCreate || cl.phase == phaseList || cl.phase == phaseWait) && cl.flags&passing == 0:
		a.create(w, c)
	}
}

func (a barrierRules) moves(s *State, c uint8, do func(move)) {
	cl := &s.client[c]
	switch {
	case cl.phase == phaseHeld && s.session[c].connected != 0 && s.session[c].requests == 0:
		do(moveLeave)
	case cl.phase == phaseWait && s.session[c].connected != 0:
		do(moveGiveUp)
	case cl.phase == phaseWaitOther && s.session[c].connected != 0:
		do(moveHurry)
	}
}

func (a barrierRules) move(w *world, c uint8, m move) {
	cl := &w.client[c]
	switch {
	case m == moveGiveUp:
		cl.phase = phaseGiveUpLook
		w.ask(c, opReadReady, none)
	case m == moveHurry:
		a.hurry(w, c)
	case cl.flags&memberLost != 0:
		a.lose(w, c)
	default:
		cl.phase = phaseLeave
		w.ask(c, opReadReady, none)
		w.ask(c, opList, none)
	}
}

func (a barrierRules) needs(s *State, c uint8) (data, marker nodeSet) {
	cl := &s.client[c]
	switch {
	case isEntering(cl.phase) && cl.own != none:
		data = only(cl.own)
	case (cl.phase == phaseWatchOther || cl.phase == phaseWaitOther || cl.phase == phaseLeaveDelete) && cl.ahead != none:
		data = only(cl.ahead)
	}
	return data, 0
}
