package model

// hold records a grant, and judges it.
func (w *world) hold(c uint8, by string) {
	cl, ss := &w.client[c], w.sessionOf(c)
	w.note("      %c IS GRANTED %n by "+by, c, cl.own)
	cl.phase, cl.ahead, cl.watching, cl.members = phaseHeld, none, 0, 0
	cl.flags &^= markerSeen
	cl.held |= only(cl.own)
	cl.granted = ss.applied + 1 + b2i(ss.half != 0)
	if w.node[cl.own].first&everFirst == 0 {
		w.violate("B", "the node was never first")
	}
	if !w.aliveEnd.has(cl.own) || w.algorithm(c).kind() == lease {
		return
	}
	if w.highest > cl.own+1 && w.algorithm(c).kind() == exclusive && !w.cfg.tokenOfNumber {
		w.violate("T", "the token is lower than an earlier one")
	}
	if !w.cfg.tokenOfNumber {
		w.highest = max(w.highest, cl.own+1)
	}
}
