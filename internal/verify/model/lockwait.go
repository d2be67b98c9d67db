package model

// before reports whether client c takes node x for one that comes before node own.
func (a lockRules) before(w *world, x, own uint8) bool {
	n, me := &w.node[x], &w.node[own]
	if x == own || a.of == shared && n.kind != exclusive {
		return false
	}
	return n.seq < me.seq || n.seq == me.seq && n.owner < me.owner
}

// aheadOf returns the nodes ahead of client c, sorted as it sorts them.
func (a lockRules) aheadOf(w *world, c uint8, alive nodeSet) (ahead [maxNodes]uint8, count int) {
	for n := range alive.all() {
		if !a.before(w, n, w.client[c].own) {
			continue
		}
		i := count
		for ; i > 0; i-- {
			x, y := &w.node[n], &w.node[ahead[i-1]]
			if x.seq > y.seq || x.seq == y.seq && !w.cfg.writerSecond {
				break
			}
			ahead[i] = ahead[i-1]
		}
		ahead[i] = n
		count++
	}
	return ahead, count
}

// decide says by a list whether the contender is granted, and if not, what it watches (rule 1).
func (a lockRules) decide(w *world, c uint8, alive nodeSet) {
	cl := &w.client[c]
	all, count := a.aheadOf(w, c, alive)
	ahead := all[:count]
	leases := 1
	if a.of == lease {
		leases = w.cfg.leases
	}
	cl.flags &^= listedFirst
	if count < leases {
		a.grant(w, c, "the list")
		return
	}
	if w.tracing {
		text := "      %c (%n) sees ahead:"
		for _, n := range ahead {
			text += " " + nodeName(n)
		}
		w.note(text, c, cl.own)
	}
	if a.try {
		a.giveUp(w, c)
		return
	}
	cl.flags |= waited
	cl.flags &^= isNext
	cl.ahead, cl.watching = none, 0
	switch {
	case a.of == lease && (a.java || a.wrong == watchesOne):
		cl.watching = only(ahead[count-leases])
	case a.of == lease:
		for _, n := range ahead[count-leases:] {
			cl.watching |= only(n)
		}
	case a.of == shared && a.java:
		cl.watching = only(ahead[0])
	default:
		cl.watching = only(ahead[count-1])
	}
	if a.mayBeNext(w, c, ahead[0], alive) && count == 1 {
		cl.flags |= isNext
	}
	a.arm(w, c, ahead)
}

// mayBeNext reports whether nothing can take the place of the only node ahead (rule 6).
func (a lockRules) mayBeNext(w *world, c, ahead uint8, alive nodeSet) bool {
	if !a.next || a.of == lease {
		return false
	}
	if a.readWrite && a.wrong != nextBehindWriter {
		if a.of == exclusive && w.node[ahead].kind != shared {
			return false // a writer ahead may be downgraded
		}
		for n := range alive.all() { // a reader must be second in the queue of all
			if a.of == shared && n != ahead && n != w.client[c].own && w.node[n].seq < w.node[w.client[c].own].seq {
				return false
			}
		}
	}
	return w.node[ahead].session != w.cfg.sessionOf(c) || a.wrong == nextOfOwnSession
}

// arm sets the watches: the own node, the marker of the node ahead, and that node (rule 2).
func (a lockRules) arm(w *world, c uint8, ahead []uint8) {
	cl := &w.client[c]
	cl.phase = phaseArm
	if !a.java && a.wrong != ownUnwatched && a.wrong != ownWatchedLate {
		a.watch(w, c, opWatch, cl.own)
	}
	if a.of != lease {
		marked := ahead[len(ahead)-1]
		if a.wrong == markerOfFirst {
			marked = ahead[0]
		}
		if a.marker && cl.flags&isNext == 0 && a.wrong != markerBySetData && (w.node[marked].kind == exclusive || a.wrong == readerMarks) {
			cl.ahead = marked
			a.watch(w, c, opWatchMarker, marked)
		}
	}
	if a.wrong != markerAlone {
		for n := range cl.watching.all() {
			a.watch(w, c, opWatch, n)
		}
	}
	a.armed(w, c)
}

// watch sets a watch, unless one is in force.
func (a lockRules) watch(w *world, c uint8, op operation, n uint8) {
	ss := w.sessionOf(c)
	set, remove := ss.data, opUnwatch
	if op == opWatchMarker {
		set, remove = ss.marker, opUnwatchMarker
	}
	if !set.has(n) || w.isOut(c, remove, n) {
		w.ask(c, op, n)
	}
}

// armed ends the arming when all replies are in.
func (a lockRules) armed(w *world, c uint8) {
	cl := &w.client[c]
	if cl.phase == phaseArm && !w.hasOut(c, opWatch, opWatchMarker, opList) {
		cl.phase = phaseWait
	}
}

// watched handles the reply to a read that sets a watch.
func (a lockRules) watched(w *world, c uint8, r request) {
	cl := &w.client[c]
	waits := cl.phase == phaseArm || cl.phase == phaseWait
	switch gone := r.result == resultNoNode; {
	case r.node == cl.own && gone && (waits || cl.phase == phaseList):
		a.ownGone(w, c)
		return
	case r.node == cl.own && gone && cl.phase == phaseHeld:
		a.lost(w, c)
		return
	case r.node == cl.own && cl.flags&markerSeen != 0 && (waits || cl.phase == phaseList):
		a.grant(w, c, "the marker")
		return
	case cl.watching.has(r.node) && gone && waits && cl.flags&markerSeen == 0:
		a.aheadGone(w, c, r.node)
		return
	}
	a.armed(w, c)
}

// aheadGone handles the end of a node ahead (rules 4 and 6).
func (a lockRules) aheadGone(w *world, c, n uint8) {
	cl := &w.client[c]
	cl.watching &^= only(n)
	if cl.ahead == n {
		cl.ahead = none
	}
	if cl.flags&isNext != 0 {
		a.sureGrant(w, c, "the end of the only node ahead")
		return
	}
	a.list(w, c)
}

// sureGrant grants by an event, if the watch on the own node shows that the node is there. If that
// watch is only being set, its reply decides.
func (a lockRules) sureGrant(w *world, c uint8, by string) {
	cl := &w.client[c]
	watches := !a.java && a.wrong != ownUnwatched && a.wrong != ownWatchedLate
	if !watches || w.sessionOf(c).data.has(cl.own) {
		a.grant(w, c, by)
		return
	}
	cl.flags |= markerSeen
	if !w.isAsked(c, opWatch, cl.own) {
		w.ask(c, opWatch, cl.own)
	}
}

// grant makes the contender the holder, before the local deadline (rules 3 and 11).
func (a lockRules) grant(w *world, c uint8, by string) {
	cl, ss := &w.client[c], w.sessionOf(c)
	if cl.own == none {
		w.violate("B", "granted without a node")
		return
	}
	if ss.expired != 0 && !w.cfg.noDeadline {
		cl.phase = phaseWait
		cl.flags |= listAgain
		return
	}
	w.hold(c, by)
	if !a.java && a.wrong != ownUnwatched && !ss.data.has(cl.own) && !w.isAsked(c, opWatch, cl.own) {
		w.ask(c, opWatch, cl.own)
	}
}

// event handles what a watch tells (rules 3, 4 and 8).
func (a lockRules) event(w *world, c uint8, e event, n uint8) {
	cl := &w.client[c]
	waits := cl.phase == phaseArm || cl.phase == phaseWait
	queued := waits || cl.phase == phaseList
	switch {
	case e == nodeCreated:
		if queued && n == cl.ahead && a.marker && cl.flags&cancelled == 0 {
			a.sureGrant(w, c, "the marker")
		}
	case n == cl.own && e == nodeDeleted && queued:
		a.ownGone(w, c)
	case n == cl.own && e == nodeDeleted && cl.phase == phaseHeld && !a.java && a.wrong != ownUnwatched:
		a.lost(w, c)
	case n == cl.own && e == nodeChanged && (queued || cl.phase == phaseHeld) && !a.java && a.wrong != ownUnwatched:
		w.ask(c, opWatch, n)
	case !cl.watching.has(n):
	case cl.phase == phaseList && e == nodeDeleted:
		cl.watching &^= only(n)
	case !waits || cl.flags&markerSeen != 0:
	case e == nodeDeleted && a.wrong == deletionGrants, e == nodeChanged && a.wrong == markerBySetData:
		a.grant(w, c, "an event that proves nothing")
	case e == nodeDeleted:
		a.aheadGone(w, c, n)
	case a.java:
		a.list(w, c)
	default:
		cl.phase = phaseArm
		w.ask(c, opWatch, n)
	}
}
