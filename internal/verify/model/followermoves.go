package model

import "slices"

// step takes a step of the model. A transaction that changes something must be the next one of the
// trace.
func (f *follower) step(st step) bool {
	length, alive := f.length, f.aliveEnd
	epoch := uint8(0)
	switch st.kind {
	case stepStart:
		f.at.started[st.a] = f.at.begun[st.a]
		f.contend(st.a)
	case stepDisconnect:
		f.forgetOlder(st.a)
	case stepCommit:
		epoch = f.session[st.a].pipe[st.b].epoch
	case stepLate:
		epoch = f.session[st.a].lateWrites[0].epoch
	}
	if st.kind < lastOfSystem {
		f.takeOfSystem(st)
	} else {
		f.takeFault(st)
	}
	if f.length == length || f.log[f.length-1].change == changeNothing {
		return true
	}
	want, ok := f.nextChange()
	if !ok || want.Client != int(st.a) && want.Kind != QueueMade {
		return false
	}
	switch t := f.log[f.length-1]; t.change {
	case changeCreate:
		to := -1
		if want.Kind == Created {
			to = f.grantedTo[want.Node]
		}
		ok = want.Kind == Created && uint8(want.Epoch) == epoch && (to < 0 || to+1 == int(f.at.started[st.a])) &&
			f.node[t.a].kind == f.trace.Lock.contender(want.Reads).kind()
	case changeDelete:
		ok = want.Kind == Deleted && f.find(alive, want.Node) == t.a
	case changeRelease:
		ok = want.Kind == Released && f.find(alive, want.Node) == t.a
	case changeMakeDir:
		ok = want.Kind == QueueMade
	default:
		ok = false
	}
	f.at.change++
	return ok
}

// changeFromOutside commits the next transaction of the trace if it is not one of a client, or the
// deletion of a node that its client has given up or released, and which it does not wait for.
func (f *follower) changeFromOutside() bool {
	want, ok := f.nextChange()
	if !ok {
		return false
	}
	n := f.find(f.aliveEnd, want.Node)
	var t transaction
	switch want.Kind {
	case Created:
		if ok = f.at.orphans[want.Client] > 0 && f.grantedTo[want.Node] < 0; ok {
			f.at.orphans[want.Client]--
			t = transaction{changeCreate, f.createOrphan(uint8(want.Client), uint8(want.Epoch), want.Reads), 0}
		}
	case Taken:
		t = transaction{changeDelete, n, 0}
		ok = n != none
	case Deleted, Released:
		t = transaction{changeDelete, n, 0}
		if want.Kind == Released {
			t.change = changeRelease
		}
		ok = n != none && f.client[want.Client].own != n && f.client[want.Client].reader != n
	case SessionEnded:
		t = transaction{changeClose, uint8(want.Client), uint8(want.Epoch)}
	case QueueMade:
		t = transaction{change: changeMakeDir}
		ok, f.seq = f.dirEnd == 0, 0
	case QueueRemoved:
		t = transaction{change: changeRemoveDir}
		ok = f.dirEnd != 0 && f.aliveEnd == 0
	default:
		ok = false
	}
	if ok {
		f.append(t)
		f.at.change++
	}
	return ok
}

// createOrphan creates the node of an acquisition that has failed.
func (f *follower) createOrphan(c, epoch uint8, reads bool) uint8 {
	f.seq++
	return f.create(node{kind: f.trace.Lock.contender(reads).kind(), owner: c, session: c, epoch: epoch, seq: f.seq - 1})
}

// readNote reads the next note, if it agrees with the state.
func (f *follower) readNote() bool {
	i := int(f.at.note)
	if i == len(f.trace.Notes) {
		return false
	}
	n := f.trace.Notes[i]
	if int(f.at.change) < len(f.trace.Changes) && f.trace.Changes[f.at.change].At+commitLate < n.At {
		return false
	}
	c := uint8(n.Client)
	cl := &f.client[c]
	mine := f.of[i] >= 0 && int(f.at.started[c]) == f.of[i]+1
	ok := true
	switch n.Kind {
	case Begun:
		f.at.begun[c] = uint16(f.of[i] + 1)
	case Granted:
		ok = mine && cl.phase == phaseHeld && f.isNode(cl.own, n.Node)
	case Held:
		ok = mine && f.believes(c)
	case Downgraded:
		ok = mine && f.readsStill(c) && f.isNode(cl.reader, n.Node)
	case ReleasedWell:
		ok = !mine || cl.phase == phaseIdle || cl.own == none && f.tidiesUp(c)
	case Refused:
		if mine {
			f.giveUp(c)
		}
	case Parted:
		if f.session[c].connected != 0 {
			f.part(c)
		}
	case Connected:
		for f.isAhead(n.Epoch, c) {
			f.renew(c)
		}
	case Dead:
		if f.at.died[c] == 0 {
			f.die(c)
		}
		f.at.died[c] = 0
	}
	f.at.note++
	return ok
}

// tidiesUp reports whether a client has only the node left of a downgrade that has failed. Release does not
// wait for the end of that.
func (f *follower) tidiesUp(c uint8) bool {
	a := f.current(c)
	return a.downgrading != never && a.downgraded == never
}

// giveUp ends an acquisition that fails, if it has not given up yet.
func (f *follower) giveUp(c uint8) {
	cl := &f.client[c]
	switch {
	case cl.phase == phaseHeld:
		f.algorithm(c).move(f.world, c, moveRelease)
	case cl.phase >= phaseCreate && cl.phase <= phaseWait && cl.flags&cancelled == 0:
		f.algorithm(c).move(f.world, c, moveCancel)
	}
}

// leaves has a client go on with its next acquisition although the last one is not over for the servers:
// Release and Acquire return when their contexts end, and the rest is done behind their backs. What was
// sent for it comes from outside then.
func (f *follower) leaves(c uint8) bool {
	cl := &f.client[c]
	if f.at.begun[c] <= f.at.started[c] {
		return false
	}
	switch {
	case cl.phase == phaseDelete || cl.phase == phaseDeleteRead:
		f.at.orphans[c] += f.unsend(c, opDelete, opRelease, opDowngrade, opList)
	case cl.flags&cancelled != 0 && (cl.phase == phaseCreate || cl.phase == phaseSearch):
		f.at.orphans[c] += f.unsend(c, opCreate, opList, opMakeDir)
	default:
		return false
	}
	f.forget(c)
	return true
}

// unsend takes requests of these kinds back, and returns how many creations there were among them
// that are not committed.
func (f *follower) unsend(c uint8, ops ...operation) (creations uint8) {
	ss := &f.session[c]
	taken := func(q request) bool {
		is := slices.Contains(ops, q.op)
		creations += b2i(is && creates(q) && q.position == 0)
		return is
	}
	left := slices.DeleteFunc(ss.pipe[:ss.requests], taken)
	ss.requests = uint8(len(left))
	left = slices.DeleteFunc(ss.lateWrites[:ss.late], taken)
	ss.late = uint8(len(left))
	return creations
}

func creates(q request) bool { return q.op == opCreate || q.op == opDowngrade }

// part breaks the connection of a client.
func (f *follower) part(c uint8) {
	f.forgetOlder(c)
	f.disconnect(c)
}

// forgetOlder makes room for the late writes of the present session: a state has no room for those of two.
// What is created by those of an older one comes from outside.
func (f *follower) forgetOlder(c uint8) {
	ss := &f.session[c]
	if ss.late == 0 || ss.lateEpoch == ss.epoch {
		return
	}
	for _, q := range ss.lateWrites[:ss.late] {
		f.at.orphans[c] += b2i(creates(q))
	}
	ss.forgetLate()
}

// forget makes a client one that has not begun.
func (f *follower) forget(c uint8) {
	f.client[c] = client{phase: phaseIdle, own: none, ahead: none, reader: none, ready: none}
}

// dies ends a client's process between the two notes about it.
func (f *follower) dies(c uint8) bool {
	if f.at.died[c] != 0 || !f.isBeingKilled(c) {
		return false
	}
	f.die(c)
	f.at.died[c] = 1
	return true
}

func (f *follower) isBeingKilled(c uint8) bool {
	for _, k := range f.kills[c] {
		if f.passed(k.killing) && !f.passed(k.dead) {
			return true
		}
	}
	return false
}

// die ends a client's process. The next one has a session of its own; nobody has closed the old one.
func (f *follower) die(c uint8) {
	f.forget(c)
	f.at.started[c] = f.at.begun[c]
	f.contend(c)
	f.renew(c)
}

// renews has a client begin another session, which the notes say it does.
func (f *follower) renews(c uint8) bool {
	i := f.nextConnection(c)
	if i == never || f.trace.Notes[i].Kind != Connected || !f.near(c, Connected, connectedNear) {
		return false
	}
	if !f.isAhead(f.trace.Notes[i].Epoch, c) || f.session[c].connected != 0 && f.client[c].phase != phaseIdle {
		return false
	}
	f.renew(c)
	return true
}

// isAhead reports whether a session of the trace is one that a client is to begin yet. The model counts
// sessions in 8 bits.
func (f *follower) isAhead(epoch int, c uint8) bool {
	return int8(uint8(epoch)-f.session[c].epoch) > 0
}

// renew has a client begin another session, whether the servers have closed the last one or not.
func (f *follower) renew(c uint8) {
	ss := &f.session[c]
	if ss.connected != 0 {
		f.part(c)
	}
	if ss.closed == 0 {
		ss.abandoned = ss.epoch + 1
	}
	f.beginSession(c)
}
