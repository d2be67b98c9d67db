package model

import (
	"bytes"
	"unsafe"
)

// finished reports whether nothing can happen any more on a session.
func (w *world) finished(si uint8) bool {
	ss := &w.session[si]
	if ss.requests != 0 || ss.late != 0 || ss.putBack != 0 {
		return false
	}
	for _, c := range w.ofSession[si] {
		if p := w.client[c].phase; p != phaseDone && p != phaseDead {
			return false
		}
	}
	return true
}

func (w *world) isDead(si uint8) bool { return w.client[w.ofSession[si][0]].phase == phaseDead }

// mayReconnect reports whether it still matters what the client of a session has seen.
func (w *world) mayReconnect(si uint8) bool {
	ss := &w.session[si]
	return w.left[disconnects] > 0 || w.left[stalls] > 0 || ss.connected == 0 || ss.stalled != 0
}

// normalize makes states equal that differ in nothing that matters any more.
func (w *world) normalize() {
	for si := range w.sessions {
		if w.session[si].half == 0 {
			w.giveBack(si)
		}
		if w.finished(si) {
			w.rest(si)
		}
	}
	w.shorten()
	if !w.tracing {
		w.renumber()
		w.sortAlike()
	}
}

// giveBack removes the watches that nobody needs (rule 9).
func (w *world) giveBack(si uint8) {
	ss := &w.session[si]
	if ss.connected == 0 || ss.data|ss.marker == 0 {
		return
	}
	var data, marker nodeSet
	for _, c := range w.ofSession[si] {
		d, m := w.algorithm(c).needs(w.State, c)
		data, marker = data|d, marker|m
	}
	c := w.ofSession[si][0]
	for n := range (ss.data &^ data).all() {
		if !w.isOut(c, opUnwatch, n) && !w.isOut(c, opWatch, n) {
			w.ask(c, opUnwatch, n)
		}
	}
	for n := range (ss.marker &^ marker).all() {
		if !w.isOut(c, opUnwatchMarker, n) && !w.isOut(c, opWatchMarker, n) {
			w.ask(c, opUnwatchMarker, n)
		}
	}
}

// rest forgets what does not matter on a session that is finished.
func (w *world) rest(si uint8) {
	ss := &w.session[si]
	for p := ss.applied; p < w.length; p++ { // what the watches would still hear
		t := w.log[p]
		ss.data &^= w.fired(ss, t)
		if t.change == changeRelease {
			ss.marker &^= only(t.a)
		}
	}
	if ss.connected == 0 || ss.closed != 0 || w.cfg.barrier > 0 {
		ss.data, ss.marker = 0, 0
	}
	ss.lostData, ss.lostMarker, ss.lostReady, ss.ready = 0, 0, 0, 0
	ss.applied, ss.seen, ss.half = w.length, w.length, 0
	ss.expired, ss.stalled, ss.reached, ss.lateEpoch, ss.catchUp = 0, 0, 0, 0, 0
	if !w.isDead(si) {
		ss.connected, ss.closed = 1, 0
	}
}

// shorten drops the part of the log that every server has applied and nobody can go back to.
func (w *world) shorten() {
	drop := w.length
	for si := range w.sessions {
		ss := &w.session[si]
		if ss.late == 0 {
			ss.lateEpoch = 0
		}
		if w.finished(si) {
			continue
		}
		if !w.mayReconnect(si) {
			ss.seen = ss.applied
		}
		drop = min(drop, ss.applied, ss.seen)
		if ss.putBack != 0 {
			drop = min(drop, ss.since)
		}
	}
	if drop == 0 {
		return
	}
	w.version = w.versionAt(drop)
	for i := range drop {
		w.alive, w.dir = w.apply(w.alive, w.dir, w.log[i])
	}
	copy(w.log[:], w.log[drop:w.length])
	clear(w.log[w.length-drop : w.length])
	w.length -= drop
	for si := range w.sessions {
		ss := &w.session[si]
		ss.applied -= min(drop, ss.applied)
		ss.seen -= min(drop, ss.seen)
		ss.since -= min(drop, ss.since)
		for i := range ss.requests {
			ss.pipe[i].position -= min(drop, ss.pipe[i].position)
		}
	}
	for c := range w.clients {
		if g := &w.client[c].granted; *g > 0 {
			*g = max(*g, drop+1) - drop
		}
	}
}

// references returns the nodes that still matter.
func (w *world) references() nodeSet {
	set := w.alive | w.aliveEnd
	add := func(n uint8) {
		if n < maxNodes {
			set |= only(n)
		}
	}
	for c := range w.clients {
		cl := &w.client[c]
		add(cl.own)
		add(cl.ahead)
		add(cl.reader)
		add(cl.ready)
		set |= cl.deleting | cl.watching
	}
	for si := range w.sessions {
		ss := &w.session[si]
		set |= ss.data | ss.marker | ss.lostData | ss.lostMarker
		for i := range ss.requests {
			add(ss.pipe[i].node)
			add(ss.pipe[i].made)
			set |= ss.pipe[i].set
		}
		for i := range ss.late {
			add(ss.lateWrites[i].node)
			set |= ss.lateWrites[i].set
		}
	}
	for i := range w.length {
		switch t := w.log[i]; t.change {
		case changeNothing, changeClose, changeMakeDir, changeRemoveDir:
		case changeOpen, changeLast:
			add(t.a)
			add(t.b)
		default:
			add(t.a)
		}
	}
	if h := w.highest; h > 0 && set&(only(h-1)-1) != 0 { // a lower token may still be granted
		add(h - 1)
	}
	return set
}

// renumber drops nodes that are gone for good, and numbers the others anew in the same order.
func (w *world) renumber() {
	keep := w.references()
	if keep == only(w.nodes)-1 {
		return
	}
	rank := func(n uint8) uint8 { return uint8((keep & (only(n) - 1)).len()) }
	move := func(n *uint8) {
		if *n < maxNodes {
			*n = rank(*n)
		}
	}
	moveSet := func(set *nodeSet) {
		var moved nodeSet
		for n := range (*set & keep).all() {
			moved |= only(rank(n))
		}
		*set = moved
	}
	w.moveNodes(keep, rank)
	for c := range w.clients {
		cl := &w.client[c]
		for _, n := range []*uint8{&cl.own, &cl.ahead, &cl.reader, &cl.ready} {
			move(n)
		}
		for _, set := range []*nodeSet{&cl.watching, &cl.members, &cl.held, &cl.deleting, &cl.entered} {
			moveSet(set)
		}
	}
	for si := range w.sessions {
		ss := &w.session[si]
		for _, set := range []*nodeSet{&ss.data, &ss.marker, &ss.lostData, &ss.lostMarker} {
			moveSet(set)
		}
		for i := range ss.requests {
			r := &ss.pipe[i]
			move(&r.node)
			move(&r.made)
			moveSet(&r.set)
		}
		for i := range ss.late {
			move(&ss.lateWrites[i].node)
			moveSet(&ss.lateWrites[i].set)
		}
	}
	for _, set := range []*nodeSet{&w.alive, &w.aliveEnd, &w.founders} {
		moveSet(set)
	}
	for i := range w.length {
		switch t := &w.log[i]; t.change {
		case changeNothing, changeClose, changeMakeDir, changeRemoveDir:
		case changeOpen, changeLast:
			move(&t.a)
			move(&t.b)
		default:
			move(&t.a)
		}
	}
}

// moveNodes gives the nodes of keep their new numbers, and lowers the sequence numbers.
func (w *world) moveNodes(keep nodeSet, rank func(uint8) uint8) {
	var nodes [maxNodes]node
	low := w.seq
	for n := range keep.all() {
		x := w.node[n]
		if x.place > 0 {
			if keep.has(x.place - 1) {
				x.place = rank(x.place-1) + 1
			} else {
				x.place = 0
			}
		}
		nodes[rank(n)] = x
		if x.kind != member && x.kind != ready {
			low = min(low, x.seq)
		}
	}
	w.nodes = uint8(keep.len())
	if w.highest > 0 && !w.cfg.tokenOfNumber {
		w.highest = rank(w.highest-1) + b2i(keep.has(w.highest-1))
	}
	for n := range nodes {
		if x := &nodes[n]; n >= int(w.nodes) {
			*x = node{owner: none, session: none}
		} else if x.kind != member && x.kind != ready && !w.cfg.lastNumber && !w.cfg.tokenOfNumber {
			x.seq -= low
		}
	}
	w.node = nodes
	if !w.cfg.lastNumber && !w.cfg.tokenOfNumber {
		w.seq -= low
	}
}

// sortAlike makes mirror images equal: it sorts contenders with the same algorithm and a session
// each.
func (w *world) sortAlike() {
	alike := w.alike
	if len(alike) < 2 {
		return
	}
	var order [maxClients]uint8
	copy(order[:], alike)
	moved := false
	for i := 1; i < len(alike); i++ {
		for j := i; j > 0 && w.before(order[j], order[j-1]); j-- {
			order[j], order[j-1] = order[j-1], order[j]
			moved = true
		}
	}
	if !moved {
		return
	}
	clients, sessions := w.client, w.session
	to := [maxClients]uint8{0, 1, 2, 3}
	for i, from := range order[:len(alike)] {
		to[from] = alike[i]
		w.client[alike[i]], w.session[alike[i]] = clients[from], sessions[from]
	}
	for n := range w.nodes {
		if x := &w.node[n]; x.owner != none {
			x.owner, x.session = to[x.owner], to[x.session]
		}
	}
	for i := range w.length {
		if t := &w.log[i]; t.change == changeClose {
			t.a = to[t.a]
		}
	}
}

func (w *world) before(a, b uint8) bool {
	if d := bytes.Compare(bytesOf(&w.client[a]), bytesOf(&w.client[b])); d != 0 {
		return d < 0
	}
	return bytes.Compare(bytesOf(&w.session[a]), bytesOf(&w.session[b])) < 0
}

// bytesOf returns the memory of a value of a type without padding.
func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) } //nolint:gosec // without padding

const (
	stateHead   = unsafe.Offsetof(State{}.node)
	sessionHead = unsafe.Offsetof(session{}.pipe)
)

// encode appends a state to b.
func (w *world) encode(b []byte) []byte {
	s := w.State
	b = append(b, bytesOf(s)[:stateHead]...)
	for n := range s.nodes {
		b = append(b, bytesOf(&s.node[n])...)
	}
	for i := range s.length {
		b = append(b, bytesOf(&s.log[i])...)
	}
	for si := range w.sessions {
		ss := &s.session[si]
		b = append(b, bytesOf(ss)[:sessionHead]...)
		for i := range ss.requests {
			b = append(b, bytesOf(&ss.pipe[i])...)
		}
		for i := range ss.late {
			b = append(b, bytesOf(&ss.lateWrites[i])...)
		}
	}
	for c := range w.clients {
		b = append(b, bytesOf(&s.client[c])...)
	}
	return b
}

// decode sets the state to one that was encoded at the beginning of b, and returns the rest of b.
func (w *world) decode(b []byte) []byte {
	s := w.State
	*s = w.blank
	take := func(to []byte) { b = b[copy(to, b):] }
	take(bytesOf(s)[:stateHead])
	for n := range s.nodes {
		take(bytesOf(&s.node[n]))
	}
	for i := range s.length {
		take(bytesOf(&s.log[i]))
	}
	for si := range w.sessions {
		ss := &s.session[si]
		take(bytesOf(ss)[:sessionHead])
		for i := range ss.requests {
			take(bytesOf(&ss.pipe[i]))
		}
		for i := range ss.late {
			take(bytesOf(&ss.lateWrites[i]))
		}
	}
	for c := range w.clients {
		take(bytesOf(&s.client[c]))
	}
	return b
}
