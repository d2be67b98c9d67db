package model

// send puts a request on the way, if there is a connection.
func (w *world) send(c uint8, r request) {
	ss := w.sessionOf(c)
	if ss.connected == 0 {
		return
	}
	if ss.requests == maxRequests {
		w.exceed("requests on one session")
		return
	}
	r.slot, r.epoch, r.made = w.slot[c], ss.epoch, none
	ss.pipe[ss.requests] = r
	ss.requests++
	if w.tracing {
		w.note("      %c sends "+r.String(), c, none)
	}
}

// ask sends a request about a node, or about none.
func (w *world) ask(c uint8, op operation, n uint8) {
	w.send(c, request{op: op, node: n, ready: none})
}

// isOut reports whether a request about a node is under way on the session of a client.
func (w *world) isOut(c uint8, op operation, n uint8) bool {
	ss := w.sessionOf(c)
	for i := range ss.requests {
		if ss.pipe[i].op == op && ss.pipe[i].node == n {
			return true
		}
	}
	return false
}

// isAsked reports whether a client's own request about a node is under way: the reply goes to it alone.
func (w *world) isAsked(c uint8, op operation, n uint8) bool {
	ss := w.sessionOf(c)
	for i := range ss.requests {
		if r := &ss.pipe[i]; r.slot == w.slot[c] && r.op == op && r.node == n {
			return true
		}
	}
	return false
}

// hasOut reports whether one of a client's requests of these kinds is under way.
func (w *world) hasOut(c uint8, ops ...operation) bool {
	ss := w.sessionOf(c)
	for i := range ss.requests {
		for _, op := range ops {
			if ss.pipe[i].slot == w.slot[c] && ss.pipe[i].op == op {
				return true
			}
		}
	}
	return false
}

// disconnect breaks the connection. Writes that the server had may still be applied.
func (w *world) disconnect(si uint8) {
	ss := &w.session[si]
	for i := range ss.requests {
		r := ss.pipe[i]
		if !r.op.isWrite() || r.position != 0 || ss.closed != 0 || r.op == opSync || ss.stalled != 0 && i >= ss.reached {
			continue
		}
		if ss.late < maxLate && (ss.late == 0 || ss.lateEpoch == ss.epoch) {
			ss.lateWrites[ss.late] = r
			ss.late++
			ss.lateEpoch = ss.epoch
		} else {
			w.cuts |= cutLate
		}
	}
	ss.pipe, ss.requests = [maxRequests]request{}, 0
	ss.connected, ss.stalled, ss.reached, ss.half, ss.catchUp = 0, 0, 0, 0, 0
	ss.lostData, ss.lostMarker, ss.lostReady = ss.lostData|ss.data, ss.lostMarker|ss.marker, ss.lostReady|ss.ready
	ss.data, ss.marker, ss.ready, ss.putBack, ss.since = 0, 0, 0, 0, 0
	for _, c := range w.ofSession[si] {
		w.algorithm(c).disconnected(w, c)
	}
}

// reconnect goes on at a server that has applied so much of the log. Another server knows the
// session then, so writes of the former connection are refused from now on.
func (w *world) reconnect(si, position uint8) {
	ss := &w.session[si]
	if ss.closed != 0 {
		w.note("%s reconnects: the session is over, another one begins", si, none)
		ss.forgetLate()
		w.beginSession(si)
		return
	}
	w.note("%s reconnects", si, none)
	if ss.lateEpoch == ss.epoch {
		ss.forgetLate()
	}
	ss.connected, ss.applied, ss.expired = 1, position, 0
	leader := w.ofSession[si][0]
	if w.algorithm(leader).putsBack() {
		if ss.lostData|ss.lostMarker != 0 || ss.lostReady != 0 {
			ss.putBack, ss.since = 1, ss.seen
			w.ask(leader, opSetWatches, none)
		}
	} else {
		ss.lostData, ss.lostMarker, ss.lostReady = 0, 0, 0
	}
	if w.cfg.noCatchUp {
		w.judgeReads(si)
	} else if !w.algorithm(leader).isJava() {
		ss.catchUp = 1
		w.ask(leader, opSync, none)
	}
	for _, c := range w.ofSession[si] {
		w.algorithm(c).reconnected(w, c)
	}
}

// judgeReads looks whether a holder may now read a state from before the release that it owes its
// grant to.
func (w *world) judgeReads(si uint8) {
	for _, c := range w.ofSession[si] {
		if cl := &w.client[c]; cl.phase == phaseHeld && cl.granted > w.session[si].applied+1 {
			w.violate("E", "the holder may read a state that is older than its predecessor's release")
		}
	}
}

// beginSession gives the client another session. Its creation is a transaction itself, and it is
// answered by a server that has applied it.
func (w *world) beginSession(si uint8) {
	ss := &w.session[si]
	ss.epoch++
	ss.connected, ss.closed, ss.expired, ss.stalled = 1, 0, 0, 0
	ss.applied, ss.seen = w.length, w.length
	ss.data, ss.marker, ss.ready = 0, 0, 0
	ss.lostData, ss.lostMarker, ss.lostReady, ss.putBack, ss.since = 0, 0, 0, 0, 0
	for _, c := range w.ofSession[si] {
		w.algorithm(c).sessionOver(w, c)
	}
}

var operationNames = map[operation]string{ //nolint:gosec // these are no credentials
	opCreate: "create", opMakeDir: "create (directory)", opDelete: "delete", opRelease: "release with marker",
	opDowngradeFresh: "create (reader)", opDowngrade: "create (reader in place of)", opSync: "sync", opOpen: "open the barrier",
	opGuest: "pass as a guest", opLast: "delete own and ready", opSweep: "delete ready, guarded", opJavaOpen: "create ready",
	opJavaSweep: "delete ready", opList: "getChildren", opWatch: "getData with watch",
	opWatchMarker: "watch on the marker", opWatchReady: "exists with watch (ready)", opReadReady: "exists (ready)",
	opUnwatch: "removeWatches", opUnwatchMarker: "removeWatches (marker)", opSetWatches: "setWatches", opRead: "getData",
}

var resultNames = []string{"", ": NoNode", ": NoNode (no directory)", ": NodeExists", ": refused"}

// String returns the request as a trace shows it.
func (r request) String() string {
	text := operationNames[r.op]
	if r.node < maxNodes {
		text += " " + nodeName(r.node)
	}
	return text
}

func (w *world) noteReply(si uint8, r request) {
	if w.tracing {
		text := "%s is answered: " + r.String() + resultNames[r.result]
		switch {
		case r.made != none:
			text += " -> " + nodeName(r.made)
		case r.op == opReadReady || r.op == opWatchReady:
			text += " -> " + nodeName(r.ready)
		}
		w.note(text, si, none)
	}
}
