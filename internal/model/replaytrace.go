package model

import "slices"

// step takes a step of the model. A transaction that changes something must be the next one of the
// trace.
func (r *replayer) step(st step) bool {
	length, alive := r.length, r.aliveEnd
	epoch := uint8(0)
	switch st.kind {
	case stepStart:
		r.at.started[st.a] = r.at.begun[st.a]
	case stepCommit:
		epoch = r.session[st.a].pipe[st.b].epoch
	case stepLate:
		epoch = r.session[st.a].lateWrites[0].epoch
	}
	if st.kind < lastOfSystem {
		r.takeOfSystem(st)
	} else {
		r.takeFault(st)
	}
	if r.length == length || r.log[r.length-1].change == changeNothing {
		return true
	}
	want, ok := r.nextChange()
	if !ok || want.Client != int(st.a) && want.Kind != QueueMade {
		return false
	}
	switch t := r.log[r.length-1]; t.change {
	case changeCreate:
		ok = want.Kind == Created && want.Epoch == int(epoch)
	case changeDelete:
		ok = want.Kind == Deleted && r.find(alive, want.Node) == t.a
	case changeRelease:
		ok = want.Kind == Released && r.find(alive, want.Node) == t.a
	case changeMakeDir:
		ok = want.Kind == QueueMade
	default:
		ok = false
	}
	r.at.change++
	return ok
}

// nextChange returns the next transaction of the trace, if it may be committed now: everything that was
// noted before it began was read.
func (r *replayer) nextChange() (Change, bool) {
	if int(r.at.change) == len(r.trace.Changes) {
		return Change{}, false
	}
	next := r.trace.Changes[r.at.change]
	if int(r.at.note) == len(r.trace.Notes) {
		return next, true
	}
	return next, r.trace.Notes[r.at.note].At >= next.At
}

// find returns the node of the model that stands for a node of the trace, or none if that does not
// exist. Those that exist are in the same order on both sides.
func (r *replayer) find(alive nodeSet, node int) uint8 {
	there := r.existing[r.at.change]
	for n := range alive.all() {
		if len(there) == 0 {
			break
		}
		if there[0] == node {
			return n
		}
		there = there[1:]
	}
	return none
}

// isNode reports whether a node of the model may stand for a node of the trace: if either exists.
func (r *replayer) isNode(n uint8, node int) bool {
	if r.aliveEnd.has(n) {
		return r.find(r.aliveEnd, node) == n
	}
	return r.created[r.at.change] > node && r.find(r.aliveEnd, node) == none
}

// createdBefore returns how many nodes were created before each transaction, and behind the last one.
func (t *Trace) createdBefore() []int {
	all := make([]int, 1, len(t.Changes)+1)
	for _, c := range t.Changes {
		n := all[len(all)-1]
		if c.Kind == Created {
			n++
		}
		all = append(all, n)
	}
	return all
}

// existing returns the nodes that exist before each transaction, and behind the last one.
func (t *Trace) existing() [][]int {
	owners := map[int]Change{}
	all := make([][]int, 1, len(t.Changes)+1)
	for _, c := range t.Changes {
		now := all[len(all)-1]
		switch c.Kind {
		case Created:
			owners[c.Node] = c
			now = append(now[:len(now):len(now)], c.Node)
		case Deleted, Released, Taken:
			now = without(now, func(node int) bool { return node == c.Node })
		case SessionEnded:
			now = without(now, func(node int) bool {
				owner := owners[node]
				return owner.Client == c.Client && owner.Epoch == c.Epoch
			})
		}
		all = append(all, now)
	}
	return all
}

func without(nodes []int, gone func(node int) bool) (left []int) {
	for _, n := range nodes {
		if !gone(n) {
			left = append(left, n)
		}
	}
	return left
}

// changeFromOutside commits the next transaction of the trace if it is not one of a client, or the
// deletion of a node that its client has given up or released, and which it does not wait for.
func (r *replayer) changeFromOutside() bool {
	want, ok := r.nextChange()
	if !ok {
		return false
	}
	n := r.find(r.aliveEnd, want.Node)
	var t transaction
	switch want.Kind {
	case Created:
		if ok = r.at.orphans[want.Client] > 0; ok {
			r.at.orphans[want.Client]--
			t = transaction{changeCreate, r.createOrphan(uint8(want.Client), uint8(want.Epoch)), 0}
		}
	case Taken:
		t = transaction{changeDelete, n, 0}
		ok = n != none
	case Deleted, Released:
		t = transaction{changeDelete, n, 0}
		if want.Kind == Released {
			t.change = changeRelease
		}
		ok = n != none && r.client[want.Client].own != n
	case SessionEnded:
		t = transaction{changeClose, uint8(want.Client), uint8(want.Epoch)}
	case QueueMade:
		t = transaction{change: changeMakeDir}
		ok, r.seq = r.dirEnd == 0, 0
	case QueueRemoved:
		t = transaction{change: changeRemoveDir}
		ok = r.dirEnd != 0 && r.aliveEnd == 0
	default:
		ok = false
	}
	if ok {
		r.append(t)
		r.at.change++
	}
	return ok
}

// createOrphan creates the node of an acquisition that has failed.
func (r *replayer) createOrphan(c, epoch uint8) uint8 {
	r.seq++
	return r.create(node{owner: c, session: c, epoch: epoch, seq: r.seq - 1})
}

// readNote reads the next note, if it agrees with the state.
func (r *replayer) readNote() bool {
	i := int(r.at.note)
	if i == len(r.trace.Notes) {
		return false
	}
	n := r.trace.Notes[i]
	if int(r.at.change) < len(r.trace.Changes) && r.trace.Changes[r.at.change].At+commitLate < n.At {
		return false
	}
	c := uint8(n.Client)
	cl := &r.client[c]
	mine := r.of[i] >= 0 && int(r.at.started[c]) == r.of[i]+1
	ok := true
	switch n.Kind {
	case Begun:
		r.at.begun[c] = uint16(r.of[i] + 1)
	case Granted:
		ok = mine && cl.phase == phaseHeld && r.isNode(cl.own, n.Node)
	case Held:
		ok = mine && cl.phase == phaseHeld
	case ReleasedWell:
		ok = !mine || cl.phase == phaseIdle
	case Refused:
		if mine {
			r.giveUp(c)
		}
	case Connected:
		ok = int(r.session[c].epoch) >= n.Epoch
	case Dead:
		if r.at.died[c] == 0 {
			r.die(c)
		}
		r.at.died[c] = 0
	}
	r.at.note++
	return ok
}

// giveUp ends an acquisition that fails, if it has not given up yet.
func (r *replayer) giveUp(c uint8) {
	cl := &r.client[c]
	switch {
	case cl.phase == phaseHeld:
		r.algorithm(c).move(r.world, c, moveRelease)
	case cl.phase >= phaseCreate && cl.phase <= phaseWait && cl.flags&cancelled == 0:
		r.algorithm(c).move(r.world, c, moveCancel)
	}
}

// leaves has a client go on with its next acquisition although the last one is not over for the servers:
// Release and Acquire return when their contexts end, and the rest is done behind their backs. What was
// sent for it comes from outside then.
func (r *replayer) leaves(c uint8) bool {
	cl := &r.client[c]
	if r.at.begun[c] <= r.at.started[c] {
		return false
	}
	switch {
	case cl.phase == phaseDelete:
		r.unsend(c, opDelete, opRelease)
	case cl.flags&cancelled != 0 && (cl.phase == phaseCreate || cl.phase == phaseSearch):
		r.at.orphans[c] += r.unsend(c, opCreate, opList, opMakeDir)
	default:
		return false
	}
	r.forget(c)
	return true
}

// unsend takes requests of these kinds back, and returns how many creations there were among them
// that are not committed.
func (r *replayer) unsend(c uint8, ops ...operation) (creations uint8) {
	ss := &r.session[c]
	taken := func(q request) bool {
		is := slices.Contains(ops, q.op)
		creations += b2i(is && q.op == opCreate && q.position == 0)
		return is
	}
	left := slices.DeleteFunc(ss.pipe[:ss.requests], taken)
	ss.requests = uint8(len(left))
	left = slices.DeleteFunc(ss.lateWrites[:ss.late], taken)
	ss.late = uint8(len(left))
	return creations
}

// forget makes a client one that has not begun.
func (r *replayer) forget(c uint8) {
	r.client[c] = client{phase: phaseIdle, own: none, ahead: none, reader: none, ready: none}
}

// dies ends a client's process between the two notes about it.
func (r *replayer) dies(c uint8) bool {
	if r.at.died[c] != 0 || !r.isBeingKilled(c) {
		return false
	}
	r.die(c)
	r.at.died[c] = 1
	return true
}

func (r *replayer) isBeingKilled(c uint8) bool {
	for _, k := range r.kills[c] {
		if r.passed(k.killing) && !r.passed(k.dead) {
			return true
		}
	}
	return false
}

// die ends a client's process. The next one has a session of its own; nobody has closed the old one.
func (r *replayer) die(c uint8) {
	r.forget(c)
	r.at.started[c] = r.at.begun[c]
	r.renew(c)
}

// renews has a client begin another session, which the notes say it does.
func (r *replayer) renews(c uint8) bool {
	i := r.nextConnection(c)
	if i == never || r.trace.Notes[i].Kind != Connected || !r.near(c, Connected, connectedNear) {
		return false
	}
	if r.trace.Notes[i].Epoch <= int(r.session[c].epoch) || r.session[c].connected != 0 && r.client[c].phase != phaseIdle {
		return false
	}
	r.renew(c)
	return true
}

func (r *replayer) renew(c uint8) {
	ss := &r.session[c]
	if ss.connected != 0 {
		r.disconnect(c)
	}
	if ss.closed == 0 {
		ss.abandoned = ss.epoch + 1
	}
	r.beginSession(c)
}

// tidy makes states equal that differ in nothing that matters any more, and keeps them small.
func (r *replayer) tidy() {
	r.left = some(disconnects, 1, expiries, 1, cancels, 1)
	for c := range r.clients {
		cl, ss := &r.client[c], &r.session[c]
		cl.tries, cl.round = 0, 0
		if ss.half == 0 {
			r.giveBack(c)
		}
		if cl.phase == phaseIdle && ss.requests == 0 && ss.half == 0 {
			r.sleep(c)
		} else {
			r.limitLag(c)
		}
	}
	r.shorten()
	r.renumber()
}

// sleep forgets what does not matter to a client that waits for nothing.
func (r *replayer) sleep(c uint8) {
	ss := &r.session[c]
	if ss.connected != 0 && ss.closed != 0 {
		r.disconnect(c)
	}
	ss.data, ss.marker, ss.lostData, ss.lostMarker = 0, 0, 0, 0
	ss.applied, ss.seen, ss.expired = r.length, r.length, 0
}

// limitLag keeps the server of a client from lagging too far behind.
func (r *replayer) limitLag(c uint8) {
	ss := &r.session[c]
	if r.length <= maxLag {
		return
	}
	least := r.length - maxLag
	switch next := r.nextHeard(c); {
	case ss.connected == 0:
		ss.seen = max(ss.seen, least)
		ss.applied = max(ss.applied, ss.seen)
	case ss.half == 0:
		if next != 0 {
			least = min(least, next-1)
		}
		ss.applied = max(ss.applied, least)
		ss.seen = max(ss.seen, min(least, ss.applied))
	}
}
