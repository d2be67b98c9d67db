package model

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
