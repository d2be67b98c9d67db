package model

// apply returns the tree after a transaction.
func (s *State) apply(alive nodeSet, dir uint8, t transaction) (nodeSet, uint8) {
	switch t.change {
	case changeCreate:
		alive |= only(t.a)
		dir = 1 // a barrier's is made if it is missing
	case changeDelete, changeRelease:
		alive &^= only(t.a)
	case changeClose:
		alive &^= s.ownedBy(t.a, t.b)
	case changeMakeDir:
		dir = 1
	case changeRemoveDir:
		dir = 0
	case changeOpen:
		if t.b != none {
			alive &^= only(t.b)
		}
		alive |= only(t.a)
	case changeLast:
		alive &^= only(t.a) | only(t.b)
	}
	return alive, dir
}

// ownedBy returns the nodes of a session, those that are gone included.
func (s *State) ownedBy(session, epoch uint8) (set nodeSet) {
	for n := range s.nodes {
		if s.node[n].session == session && s.node[n].epoch == epoch {
			set |= only(n)
		}
	}
	return set
}

// treeAt returns the nodes after position transactions of the log.
func (s *State) treeAt(position uint8) nodeSet {
	alive, dir := s.alive, s.dir
	for i := range position {
		alive, dir = s.apply(alive, dir, s.log[i])
	}
	return alive
}

// readyIn returns the "ready" of a tree, or none.
func (s *State) readyIn(alive nodeSet) uint8 {
	for n := range alive.all() {
		if s.node[n].kind == ready {
			return n
		}
	}
	return none
}

// versionAt returns the version of a barrier's node after position transactions of the log: the transactions that
// create a "ready" and mark it raise it, and it begins again when the node is made anew.
func (s *State) versionAt(position uint8) uint8 {
	version := s.version
	for i := range position {
		switch t := s.log[i]; {
		case t.change == changeOpen && s.node[t.a].seq == marked:
			version++
		case t.change == changeRemoveDir:
			version = 0
		}
	}
	return version
}

// membersIn returns the members' nodes of a tree.
func (s *State) membersIn(alive nodeSet) nodeSet {
	if n := s.readyIn(alive); n != none {
		return alive &^ only(n)
	}
	return alive
}

// fires reports which watches of a session on node n a transaction fires.
func (s *State) fires(ss *session, t transaction, n uint8) (marker, data bool) {
	switch t.change {
	case changeRelease:
		return t.a == n && ss.marker.has(n), t.a == n && ss.data.has(n)
	case changeDelete, changeData, changeLast:
		return false, t.a == n && ss.data.has(n)
	case changeClose:
		return false, s.node[n].session == t.a && s.node[n].epoch == t.b && ss.data.has(n)
	}
	return false, false
}

// firesReady reports whether a transaction fires a watch on "ready".
func (ss *session) firesReady(t transaction) bool {
	return ss.ready != 0 && (t.change == changeOpen || t.change == changeLast)
}

// fired returns the nodes whose data watches a transaction fires.
func (s *State) fired(ss *session, t transaction) (set nodeSet) {
	for n := range ss.data.all() {
		if _, data := s.fires(ss, t, n); data {
			set |= only(n)
		}
	}
	return set
}

// hears reports whether a session is told of a transaction.
func (s *State) hears(si uint8, position uint8) bool {
	ss, t := &s.session[si], s.log[position]
	if t.change == changeClose && t.a == si && t.b == ss.epoch {
		return true
	}
	for i := range ss.requests {
		if ss.pipe[i].position == position+1 {
			return true
		}
	}
	if ss.firesReady(t) || s.fired(ss, t) != 0 {
		return true
	}
	for n := range ss.marker.all() {
		if marker, _ := s.fires(ss, t, n); marker {
			return true
		}
	}
	return position == ss.applied && ss.half != 0
}

// nextHeard returns the first position behind which the session is told something, or 0.
func (s *State) nextHeard(si uint8) uint8 {
	for p := s.session[si].applied; p < s.length; p++ {
		if s.hears(si, p) {
			return p + 1
		}
	}
	return 0
}

// precedes reports whether node a must be gone before node b is entitled, in truth.
func (s *State) precedes(a, b uint8) bool {
	x, y := &s.node[a], &s.node[b]
	if a == b || x.place == b+1 || y.place == a+1 {
		return false
	}
	return x.seq < y.seq || x.seq == y.seq && a < b
}

// entitled reports whether a node may be granted in a tree, in truth.
func (w *world) entitled(alive nodeSet, n uint8) bool {
	ahead, leases := 0, 1
	kind := w.node[n].kind
	if kind == lease {
		leases = w.cfg.leases
	}
	for other := range alive.all() {
		if (kind != shared || w.node[other].kind == exclusive) && w.precedes(other, n) {
			ahead++
		}
	}
	return ahead < leases
}

// append makes a transaction the last one of the log, and returns its position.
func (w *world) append(t transaction) uint8 {
	if w.length == maxLog {
		w.exceed("transactions in the log")
		return w.length
	}
	w.log[w.length] = t
	w.length++
	w.aliveEnd, w.dirEnd = w.apply(w.aliveEnd, w.dirEnd, t)
	if t.change == changeClose {
		w.closeSession(t.a, t.b)
	}
	w.markFirst()
	if w.cfg.barrier > 0 {
		w.judgeRound(t)
	}
	return w.length
}

// markFirst keeps who is entitled to the lock now.
func (w *world) markFirst() {
	there := w.aliveEnd
	for n := range there.all() {
		if w.node[n].first&void != 0 {
			there &^= only(n)
		}
	}
	for n := range there.all() {
		if k := w.node[n].kind; k != member && k != ready && w.entitled(there, n) {
			w.node[n].first |= everFirst
		}
	}
}

func (w *world) closeSession(si, epoch uint8) {
	ss := &w.session[si]
	if ss.epoch == epoch {
		ss.closed = 1
	}
	if ss.abandoned == epoch+1 {
		ss.abandoned = 0
	}
	if ss.late > 0 && ss.lateEpoch == epoch {
		ss.forgetLate()
	}
}

func (ss *session) forgetLate() {
	ss.late, ss.lateEpoch, ss.lateWrites = 0, 0, [maxLate]request{}
}

// create makes a node.
func (w *world) create(n node) uint8 {
	if w.nodes == maxNodes {
		w.exceed("nodes")
		return w.nodes - 1
	}
	w.node[w.nodes] = n
	w.nodes++
	return w.nodes - 1
}

// judgeRound keeps who belongs to the open round of a barrier, and judges its opening.
func (w *world) judgeRound(t transaction) {
	if t.change == changeOpen {
		w.judgeOpening(t)
		w.founders = w.membersIn(w.aliveEnd)
	}
	if t.change == changeLast {
		w.founders = 0
	}
	w.founders &= w.aliveEnd // a member whose node is gone counts as having left
	if w.founders == 0 {
		return
	}
	for n := range w.membersIn(w.aliveEnd).all() {
		if c := &w.client[w.node[n].owner]; isEntering(c.phase) && w.node[n].seq == c.round {
			c.entered = w.founders
			c.flags |= barrierOpen
			if t.change == changeOpen && w.founders.has(n) {
				c.flags |= barrierCounted
			}
		}
	}
}

// judgeOpening looks whether as many as are needed stand before the barrier. A member that was
// counted by an opening which is replaced has come in by that one.
func (w *world) judgeOpening(t transaction) {
	if w.cfg.javaMay {
		return // Java does not check the members
	}
	standing := 0
	for n := range w.membersIn(w.aliveEnd).all() {
		c := &w.client[w.node[n].owner]
		replaced := t.b != none && w.founders.has(n)
		if c.phase == phaseDead || replaced || isEntering(c.phase) && w.node[n].seq == c.round {
			standing++
		}
	}
	if standing < w.cfg.barrier {
		w.violate("P1", "the barrier opens for fewer than it is for")
	}
}
