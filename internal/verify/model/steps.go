package model

// stepKind says what happens next.
type stepKind uint8

const (
	stepStart stepKind = iota
	stepCommit
	stepDeliver
	stepRead
	stepUser
	stepReconnect
	stepCloseAbandoned
	stepStallEnds
	stepCloseDead
	lastOfSystem // the steps below need not happen
	stepLate
	stepWish // a move of the user that need not happen
	stepDisconnect
	stepStall
	stepDeadline
	stepExpire
	stepOperator
	stepWrite
	stepReap
	stepAbandon
	stepKill
)

// step is one thing that may happen. a is the client, session or node; b says more.
type step struct {
	kind stepKind
	a, b uint8
}

// steps calls do with everything that may happen in the present state.
func (w *world) steps(do func(step)) {
	for c := range w.clients {
		switch w.client[c].phase {
		case phaseDead:
		case phaseIdle:
			if w.sessionOf(c).connected != 0 && w.mayStart(c) {
				do(step{stepStart, c, 0})
			}
		default:
			w.algorithm(c).moves(w.State, c, func(m move) {
				switch f := m.fault(); {
				case f != faults && w.left[f] == 0:
				case m.ofSystem():
					do(step{stepUser, c, uint8(m)})
				default:
					do(step{stepWish, c, uint8(m)})
				}
			})
		}
	}
	for si := range w.sessions {
		w.stepsOfSession(si, do)
		w.faultsOfSession(si, do)
	}
	for n := range w.aliveEnd.all() {
		if w.left[deletions] > 0 && w.node[n].kind != ready {
			do(step{stepOperator, n, 0})
		}
		if w.left[writes] > 0 && w.node[n].kind != ready {
			do(step{stepWrite, n, 0})
		}
	}
	if w.left[reaps] > 0 && w.dirEnd != 0 && w.aliveEnd == 0 {
		do(step{stepReap, 0, 0})
	}
}

// mayStart reports whether a contender may begin. See Config.javaLast.
func (w *world) mayStart(c uint8) bool {
	if !w.cfg.javaLast || !w.algorithm(c).isJava() {
		return true
	}
	for other := range w.clients {
		over := w.finished(other) && (!w.isDead(other) || w.session[other].closed != 0)
		if !w.algorithm(other).isJava() && !over {
			return false
		}
	}
	return true
}

// stepsOfSession are those of the servers and of the connection.
func (w *world) stepsOfSession(si uint8, do func(step)) {
	ss := &w.session[si]
	switch {
	case w.isDead(si):
		if ss.closed == 0 {
			do(step{stepCloseDead, si, 0})
		}
	case ss.connected != 0:
		w.stepsOfConnection(si, do)
	case w.finished(si):
	case ss.closed != 0:
		do(step{stepReconnect, si, w.length})
	default:
		do(step{stepReconnect, si, ss.seen})
		for p := ss.seen; p < w.length; p++ {
			if w.log[p].change != changeNothing {
				do(step{stepReconnect, si, p + 1})
			}
		}
	}
	if ss.abandoned != 0 {
		do(step{stepCloseAbandoned, si, 0})
	}
	if ss.late > 0 {
		do(step{stepLate, si, 0})
	}
}

func (w *world) stepsOfConnection(si uint8, do func(step)) {
	ss := &w.session[si]
	if ss.stalled != 0 {
		do(step{stepStallEnds, si, 0})
	}
	i := uint8(0)
	for i < ss.requests && ss.pipe[i].position != 0 {
		i++
	}
	if i < ss.requests && ss.pipe[i].op.isWrite() && ss.closed == 0 && (ss.stalled == 0 || i < ss.reached) {
		do(step{stepCommit, si, i})
	}
	next := w.nextHeard(si)
	if next != 0 && !w.finished(si) {
		do(step{stepDeliver, si, 0})
		if t := w.log[next-1]; t.change == changeClose && ss.half == 0 && w.fired(ss, t).len() > 1 {
			do(step{stepDeliver, si, 1})
		}
	}
	if ss.requests == 0 || ss.pipe[0].op.isWrite() || ss.half != 0 || ss.stalled != 0 && ss.reached == 0 {
		return
	}
	// The server may go on before it answers the read, but not past a transaction that it has to
	// tell the client of.
	limit := w.length
	if next != 0 {
		limit = next - 1
	}
	r := ss.pipe[0]
	do(step{stepRead, si, ss.applied})
	if r.op == opUnwatch || r.op == opUnwatchMarker {
		return
	}
	for p := ss.applied; p < limit; p++ {
		if w.matters(w.log[p], r) {
			do(step{stepRead, si, p + 1})
		}
	}
}

// matters reports whether a transaction can change what a read shows.
func (w *world) matters(t transaction, r request) bool {
	whole := r.op == opList || r.op == opSetWatches
	switch t.change {
	case changeNothing:
		return false
	case changeCreate, changeMakeDir, changeRemoveDir:
		return whole
	case changeClose:
		return whole || r.node < maxNodes && w.node[r.node].session == t.a && w.node[r.node].epoch == t.b
	case changeData:
		return r.op == opSetWatches || r.op == opWatch && t.a == r.node
	case changeOpen, changeLast:
		return whole || r.op == opWatchReady || r.op == opReadReady || t.a == r.node
	}
	return whole || t.a == r.node
}

func (w *world) faultsOfSession(si uint8, do func(step)) {
	ss := &w.session[si]
	if w.finished(si) || w.isDead(si) {
		return
	}
	idle := ss.requests == 0
	for _, c := range w.ofSession[si] {
		idle = idle && (w.client[c].phase == phaseIdle || w.client[c].phase == phaseDone)
	}
	if idle {
		return // nothing to disturb
	}
	if ss.connected != 0 && ss.stalled == 0 {
		if w.left[disconnects] > 0 {
			do(step{stepDisconnect, si, 0})
		}
		for k := uint8(0); w.left[stalls] > 0 && k <= ss.requests; k++ {
			do(step{stepStall, si, k})
		}
	}
	if w.left[expiries] > 0 && (ss.connected == 0 || ss.stalled != 0) && ss.expired == 0 {
		do(step{stepDeadline, si, 0})
	}
	if w.left[expiries] > 0 && ss.closed == 0 && (!w.cfg.goodClocks || ss.expired != 0) {
		do(step{stepExpire, si, 0})
	}
	if w.left[abandons] > 0 && ss.connected == 0 && ss.closed == 0 && ss.abandoned == 0 {
		do(step{stepAbandon, si, 0})
	}
	if w.left[kills] > 0 {
		do(step{stepKill, si, 0})
	}
}

// take does a step.
func (w *world) take(st step) {
	if st.kind < lastOfSystem {
		w.takeOfSystem(st)
	} else {
		w.takeFault(st)
	}
	w.normalize()
}

func (w *world) takeOfSystem(st step) {
	ss := &w.session[st.a%maxClients]
	switch st.kind {
	case stepStart:
		w.note("%c begins", st.a, none)
		w.algorithm(st.a).start(w, st.a)
	case stepCommit:
		r := &ss.pipe[st.b]
		w.commit(st.a, r)
		w.noteCommit("", st.a, *r)
	case stepDeliver:
		w.deliver(st.a, st.b != 0)
	case stepRead:
		w.read(st.a, st.b)
	case stepUser:
		w.note("%c "+moveNames[st.b], st.a, none)
		w.algorithm(st.a).move(w, st.a, move(st.b))
	case stepReconnect:
		w.reconnect(st.a, st.b)
	case stepCloseAbandoned:
		w.note("LOG: the abandoned session of %c ends", st.a, none)
		w.append(transaction{changeClose, st.a, ss.abandoned - 1})
	case stepStallEnds:
		w.note("the half-dead connection of %s breaks", st.a, none)
		w.disconnect(st.a)
	case stepCloseDead:
		w.note("LOG: the session of %c, which was killed, ends", st.a, none)
		w.append(transaction{changeClose, st.a, ss.epoch})
	}
}

func (w *world) noteCommit(how string, si uint8, r request) {
	if !w.tracing {
		return
	}
	text := "LOG: " + how + r.String() + " of " + "%s" + resultNames[r.result]
	if r.made != none {
		text += " -> " + nodeName(r.made)
	}
	w.note(text, si, none)
}

func (w *world) takeFault(st step) {
	ss := &w.session[st.a%maxClients]
	switch st.kind {
	case stepLate:
		r := ss.lateWrites[0]
		copy(ss.lateWrites[:], ss.lateWrites[1:ss.late])
		ss.late--
		ss.lateWrites[ss.late] = request{}
		w.commit(st.a, &r)
		w.noteCommit("late: ", st.a, r)
	case stepWish:
		m := move(st.b)
		w.note("%c "+moveNames[m], st.a, none)
		if f := m.fault(); f != faults {
			w.left[f]--
		}
		w.algorithm(st.a).move(w, st.a, m)
	case stepDisconnect:
		w.note("FAULT: the connection of %s breaks", st.a, none)
		w.left[disconnects]--
		w.disconnect(st.a)
	case stepStall:
		w.note("FAULT: nothing that %s sends reaches the server any more", st.a, none)
		w.left[stalls]--
		ss.stalled, ss.reached = 1, st.b
	case stepDeadline:
		w.note("the local deadline of %s passes", st.a, none)
		ss.expired = 1
		for _, c := range w.ofSession[st.a] {
			w.algorithm(c).deadline(w, c)
		}
	case stepExpire:
		w.note("LOG: FAULT: the session of %s ends", st.a, none)
		w.left[expiries]--
		w.append(transaction{changeClose, st.a, ss.epoch})
	case stepOperator:
		w.note("LOG: FAULT: an operator deletes %n", w.node[st.a].owner, st.a)
		w.left[deletions]--
		w.append(transaction{changeDelete, st.a, 0})
	case stepWrite:
		w.note("LOG: FAULT: somebody writes to %n", w.node[st.a].owner, st.a)
		w.left[writes]--
		w.append(transaction{changeData, st.a, 0})
	case stepReap:
		w.note("LOG: FAULT: the empty directory is removed", 0, none)
		w.left[reaps]--
		w.append(transaction{change: changeRemoveDir})
	case stepAbandon:
		w.note("FAULT: %s gives its session up and begins another one", st.a, none)
		w.left[abandons]--
		ss.abandoned = ss.epoch + 1
		w.beginSession(st.a)
	case stepKill:
		w.note("FAULT: %c is killed", st.a, none)
		w.left[kills]--
		w.kill(st.a)
	}
}

// kill ends a process. Its session ends later.
func (w *world) kill(si uint8) {
	for _, c := range w.ofSession[si] {
		w.client[c] = client{phase: phaseDead, own: none, ahead: none, reader: none, ready: none}
	}
	w.disconnect(si)
	ss := &w.session[si]
	ss.lostData, ss.lostMarker, ss.lostReady = 0, 0, 0
}
