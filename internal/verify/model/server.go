package model

// commit makes a write part of the log. Its result goes out with the reply.
func (w *world) commit(si uint8, r *request) {
	var t transaction
	t, r.made, r.result = w.prepare(si, r)
	r.position = w.append(t)
	if r.op == opCreate && r.made != none {
		w.name(si, *r)
	}
}

// name tells the requests behind a create which node it has made: the client knows the name before.
func (w *world) name(si uint8, create request) {
	ss := &w.session[si]
	for i := range ss.requests {
		if r := &ss.pipe[i]; r.slot == create.slot && r.node == pending && r.epoch == create.epoch {
			r.node = create.made
		}
	}
}

// prepare returns the transaction of a write, and its result.
func (w *world) prepare(si uint8, r *request) (transaction, uint8, result) {
	nothing := transaction{}
	switch r.op {
	case opCreate:
		if w.dirEnd == 0 && w.cfg.barrier == 0 {
			return nothing, none, resultNoDir
		}
		return w.prepareCreate(si, r, node{})
	case opDowngrade:
		writer := w.node[r.node]
		reader := node{kind: shared, seq: writer.seq, place: r.node + 1}
		if !w.aliveEnd.has(r.node) {
			reader.first = void
		}
		return w.prepareCreate(si, r, reader)
	case opDowngradeFresh:
		return w.prepareCreate(si, r, node{kind: shared})
	case opDelete, opRelease:
		switch {
		case !w.aliveEnd.has(r.node):
			return nothing, none, resultNoNode
		case r.op == opRelease && w.cfg.refuseMarker:
			return nothing, none, resultRefused
		case r.op == opRelease:
			return transaction{changeRelease, r.node, 0}, none, resultOK
		}
		return transaction{changeDelete, r.node, 0}, none, resultOK
	case opMakeDir:
		if w.dirEnd != 0 {
			return nothing, none, resultExists
		}
		w.seq = w.cfg.firstNumber
		return transaction{change: changeMakeDir}, none, resultOK
	case opOpen, opGuest, opLast, opSweep, opJavaOpen, opJavaSweep:
		return w.prepareBarrier(si, r)
	}
	return nothing, none, resultOK
}

// prepareCreate creates a node: one that takes the place of another, or one with a number of its own.
func (w *world) prepareCreate(si uint8, r *request, n node) (transaction, uint8, result) {
	c := w.ofSession[si][r.slot]
	a := w.algorithm(c)
	n.owner, n.session, n.epoch = c, si, r.epoch
	if n.place == 0 {
		n.seq = w.seq
		w.seq++
		if w.cfg.lastNumber && w.seq > endOfNumbers {
			w.seq = endOfNumbers // the server raises its counter only
		}
	}
	if r.op == opCreate {
		n.kind = a.kind()
	}
	if n.kind == member {
		n.seq = w.client[c].round
	}
	made := w.create(n)
	return transaction{changeCreate, made, 0}, made, resultOK
}

// prepareBarrier returns a transaction of a double barrier. A delete names a path and no instance, so any
// "ready" will do.
func (w *world) prepareBarrier(si uint8, r *request) (transaction, uint8, result) {
	refused := func() (transaction, uint8, result) { return transaction{}, none, resultRefused }
	now := w.readyIn(w.aliveEnd)
	switch {
	case r.op == opOpen || r.op == opJavaOpen:
		return w.prepareOpening(si, r, now)
	case now == none:
		return refused()
	case r.op == opJavaSweep:
		return transaction{changeLast, none, now}, none, resultOK
	case r.op == opSweep:
		return w.prepareSweep(si, r, now)
	case !w.aliveEnd.has(r.node):
		return refused()
	case r.op == opGuest:
		return transaction{changeDelete, r.node, 0}, none, resultOK
	}
	return transaction{changeLast, r.node, now}, none, resultOK
}

// prepareSweep returns a transaction that removes a "ready" that is dead.
func (w *world) prepareSweep(si uint8, r *request, now uint8) (transaction, uint8, result) {
	wrong := w.mistakeOf(si, r)
	switch {
	case wrong == sweepsFreely:
	case wrong != sweepsByMark && w.versionAt(w.length) != r.ready,
		wrong != sweepsByVersion && w.node[now].seq != marked,
		r.node != none && !w.aliveEnd.has(r.node):
		return transaction{}, none, resultRefused
	}
	if w.membersIn(w.aliveEnd)&(only(now)-1) != 0 {
		w.violate("P5", "a ready is deleted, and a member of its round is there")
	}
	return transaction{changeLast, none, now}, none, resultOK
}

// prepareOpening returns a transaction that creates "ready". Java's checks nothing else.
func (w *world) prepareOpening(si uint8, r *request, now uint8) (transaction, uint8, result) {
	opened := node{kind: ready, owner: none, session: none}
	switch {
	case r.op == opJavaOpen && now != none:
		return transaction{}, none, resultExists
	case r.op == opJavaOpen:
	case r.set&^w.aliveEnd != 0 || (r.node == none) != (now == none) || w.versionAt(w.length) != r.ready:
		return transaction{}, none, resultRefused
	case w.mistakeOf(si, r) != opensUnmarked:
		opened.seq = marked
	}
	made := w.create(opened)
	return transaction{changeOpen, made, now}, made, resultOK
}

// mistakeOf returns what the member of a barrier that has sent a request does wrong.
func (w *world) mistakeOf(si uint8, r *request) barrierMistake {
	if a, ok := w.algorithm(w.ofSession[si][r.slot]).(barrierRules); ok {
		return a.wrong
	}
	return barrierRight
}

// deliver lets the server of a session go on to the next transaction that the client hears of. The
// order of several deletions in one transaction is the server's.
func (w *world) deliver(si uint8, backwards bool) {
	ss := &w.session[si]
	position := w.nextHeard(si)
	t := w.log[position-1]
	if ss.half == 0 && t.change == changeRelease {
		if marker, data := w.fires(ss, t, t.a); marker {
			w.deliverMarker(si, position, data)
			return
		}
	}
	ss.applied, ss.half = position, 0
	fired := w.fired(ss, t)
	readyFired := ss.firesReady(t)
	if (fired != 0 || readyFired) && !w.cfg.noEventZxid {
		ss.seen = max(ss.seen, position)
	}
	e := nodeDeleted
	if t.change == changeData {
		e = nodeChanged
	}
	if backwards {
		n := fired.highest()
		fired &^= only(n)
		ss.data &^= only(n)
		w.tell(si, e, n)
	}
	for n := range fired.all() {
		ss.data &^= only(n)
		w.tell(si, e, n)
	}
	if readyFired {
		ss.ready = 0
		if t.change == changeOpen && t.b == none {
			e = nodeCreated
		}
		w.tell(si, e, none)
	}
	w.replyAt(si, position)
	if t.change == changeClose && t.a == si && t.b == ss.epoch {
		w.note("the server of S%c closes the connection", si, none)
		w.disconnect(si)
	}
}

// deliverMarker delivers the event of a release marker. That of the deletion follows.
func (w *world) deliverMarker(si, position uint8, more bool) {
	ss, n := &w.session[si], w.log[position-1].a
	ss.marker &^= only(n)
	ss.applied = position
	if !w.cfg.noEventZxid {
		ss.seen = max(ss.seen, position)
	}
	if more || ss.requests > 0 && ss.pipe[0].position == position {
		ss.applied, ss.half = position-1, 1
	}
	w.note("%s receives NodeCreated of the marker of %n", si, n)
	for _, c := range w.ofSession[si] {
		w.algorithm(c).event(w, c, nodeCreated, n)
	}
}

// tell delivers an event on a node, or on "ready", to the clients of a session.
func (w *world) tell(si uint8, e event, n uint8) {
	if n == none {
		w.note("%s receives "+eventNames[e]+" of ready", si, n)
	} else {
		w.note("%s receives "+eventNames[e]+" of %n", si, n)
	}
	for _, c := range w.ofSession[si] {
		w.algorithm(c).event(w, c, e, n)
	}
}

// replyAt delivers the reply to a write, if the session waits for one from this position.
func (w *world) replyAt(si, position uint8) {
	ss := &w.session[si]
	if ss.requests == 0 || ss.pipe[0].position != position {
		return
	}
	r := ss.pop()
	if !w.cfg.ownZxidsOff || r.op == opDelete {
		ss.seen = max(ss.seen, position)
	}
	w.noteReply(si, r)
	if r.op == opSync && ss.catchUp != 0 {
		ss.catchUp = 0
		return
	}
	c := w.ofSession[si][r.slot]
	w.algorithm(c).reply(w, c, r, w.treeAt(position))
}

// pop takes the oldest request.
func (ss *session) pop() request {
	r := ss.pipe[0]
	copy(ss.pipe[:], ss.pipe[1:ss.requests])
	ss.requests--
	ss.pipe[ss.requests] = request{}
	ss.reached -= min(ss.reached, 1)
	return r
}

// read answers the read at the head of a session, at a server that has applied so much of the log.
func (w *world) read(si, position uint8) {
	ss := &w.session[si]
	r := ss.pop()
	ss.applied = position
	if !w.cfg.ownZxidsOff || r.op == opWatch || r.op == opWatchMarker {
		ss.seen = max(ss.seen, position)
	}
	alive := w.treeAt(position)
	switch r.op {
	case opWatch:
		ss.data &^= only(r.node)
		r.result = resultNoNode
		if alive.has(r.node) {
			ss.data |= only(r.node)
			r.result = resultOK
		}
	case opWatchMarker:
		ss.marker |= only(r.node)
	case opWatchReady, opReadReady:
		ss.ready |= b2i(r.op == opWatchReady)
		r.ready = w.readyIn(alive)
	case opList:
		r.ready = w.versionAt(position)
	case opRead:
		if r.result = resultNoNode; alive.has(r.node) {
			r.result = resultOK
		}
	case opUnwatch:
		ss.data &^= only(r.node)
		return
	case opUnwatchMarker:
		ss.marker &^= only(r.node)
		return
	case opSetWatches:
		w.note("%s: setWatches", si, none)
		w.setWatches(si, position, alive)
		return
	}
	w.noteReply(si, r)
	if w.tracing && position < w.length {
		w.note("      (the server is behind)", si, none)
	}
	c := w.ofSession[si][r.slot]
	w.algorithm(c).reply(w, c, r, alive)
}

// setWatches puts watches back. A watch whose node has changed meanwhile fires at once instead.
func (w *world) setWatches(si, position uint8, alive nodeSet) {
	ss := &w.session[si]
	data, isReady := ss.lostData, ss.lostReady
	ss.marker |= ss.lostMarker
	changed := nodeSet(0)
	opened := false
	for i := ss.since; i < position; i++ {
		t := w.log[i]
		if t.change == changeData {
			changed |= only(t.a)
		}
		opened = opened || t.change == changeOpen || t.change == changeLast
	}
	ss.lostData, ss.lostMarker, ss.lostReady, ss.since, ss.putBack = 0, 0, 0, 0, 0
	for n := range data.all() {
		switch {
		case !alive.has(n):
			w.tell(si, nodeDeleted, n)
		case changed.has(n):
			w.tell(si, nodeChanged, n)
		default:
			ss.data |= only(n)
		}
	}
	switch {
	case isReady != 0 && opened && w.readyIn(alive) != none:
		w.tell(si, nodeCreated, none)
	case isReady != 0 && opened:
		w.tell(si, nodeDeleted, none)
	case isReady != 0:
		ss.ready = 1
	}
}
