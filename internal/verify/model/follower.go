package model

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// place is how much of the trace is behind a state, and which acquisitions the clients are at. It has
// no padding.
type place struct {
	change, note uint32
	begun        [maxClients]uint16 // 1 + the last one that was noted
	started      [maxClients]uint16 // 1 + the last one that the model's client has started
	died         [maxClients]uint8  // 1 between its end and the note of it
	orphans      [maxClients]uint8  // creations under way of acquisitions that have failed
}

const placeSize = int(unsafe.Sizeof(place{}))

// follower is a state of the model that has come a part of the way along a trace.
type follower struct {
	*world
	*facts
	at    place
	trace *Trace

	writer, reader Contender // what a client does in an acquisition
}

// newFollower returns a follower at the beginning of a trace.
// Without unlikely waits a node that is deleted without the marker was not waited for.
func newFollower(t *Trace, withoutUnlikelyWaits bool) follower {
	const unlimited = 1 << 30
	cfg := &Config{Contenders: times(t.Clients, t.Lock.contender(false)), leases: max(1, t.Leases), rounds: unlimited, retries: unlimited}
	f := follower{
		world: newWorld(cfg), facts: newFacts(t, withoutUnlikelyWaits), trace: t,
		writer: t.Lock.contender(false), reader: t.Lock.contender(true),
	}
	first := f.first()
	for _, c := range t.Changes {
		if c.Kind == SessionEnded {
			continue // it says nothing about the lock's path
		}
		if c.Kind == QueueMade {
			first.dir, first.dirEnd = 0, 0
		}
		break
	}
	f.State = &first
	return f
}

// progress is how much of the trace was followed. Notes that were read far ahead of the next transaction
// do not count: it may turn out that the transaction is impossible.
func (f *follower) progress() int {
	return int(f.at.change) + min(int(f.at.note), f.notesBefore[f.at.change])
}

// atEnd reports whether the whole trace was followed.
func (f *follower) atEnd() bool {
	return int(f.at.change) >= len(f.trace.Changes)-f.trace.Last && int(f.at.note) == len(f.trace.Notes)
}

// save returns the present state and place.
func (f *follower) save() []byte { return f.encode(append(make([]byte, 0, 400), bytesOf(&f.at)...)) }

// restore sets the state and the place to those that were saved.
func (f *follower) restore(s *State, saved []byte) {
	copy(bytesOf(&f.at), saved)
	f.State = s
	f.decode(saved[placeSize:])
	for c := range f.clients {
		f.contend(c)
	}
}

// contend has a client do what it does in its acquisition.
func (f *follower) contend(c uint8) {
	switch a := f.current(c); {
	case a == nil:
	case a.reads:
		f.cfg.Contenders[c] = f.reader
	default:
		f.cfg.Contenders[c] = f.writer
	}
}

// passed reports whether a note was read.
func (f *follower) passed(note int) bool { return note < int(f.at.note) }

// current returns the acquisition that the model's client is at, or nil.
func (f *follower) current(c uint8) *acquisition {
	if f.at.started[c] == 0 {
		return nil
	}
	return &f.acquisitions[c][f.at.started[c]-1]
}

// nextChange returns the next transaction of the trace, if it may be committed now: everything that was
// noted before it began was read.
func (f *follower) nextChange() (Change, bool) {
	if int(f.at.change) == len(f.trace.Changes) {
		return Change{}, false
	}
	next := f.trace.Changes[f.at.change]
	if int(f.at.note) == len(f.trace.Notes) {
		return next, true
	}
	return next, f.trace.Notes[f.at.note].At >= next.At
}

// nextConnection returns the next note about a client's connection, or never.
func (f *follower) nextConnection(c uint8) int {
	i, _ := slices.BinarySearch(f.connections[c], int(f.at.note))
	if i == len(f.connections[c]) {
		return never
	}
	return f.connections[c][i]
}

// near reports whether the next note about a client's connection is of a kind, and comes soon, or is
// the client's next note of all.
func (f *follower) near(c uint8, kind NoteKind, span int64) bool {
	i := f.nextConnection(c)
	if i == never || f.trace.Notes[i].Kind != kind {
		return false
	}
	if f.trace.Notes[i].At-f.trace.Notes[f.at.note].At <= span {
		return true
	}
	for k := int(f.at.note); k < i; k++ {
		if f.trace.Notes[k].Client == int(c) {
			return false
		}
	}
	return true
}

// find returns the node of the model that stands for a node of the trace, or none if that does not
// exist. Those that exist are in the same order on both sides.
func (f *follower) find(alive nodeSet, node int) uint8 {
	there := f.existing[f.at.change]
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
func (f *follower) isNode(n uint8, node int) bool {
	if f.aliveEnd.has(n) {
		return f.find(f.aliveEnd, node) == n
	}
	return f.created[f.at.change] > node && f.find(f.aliveEnd, node) == none
}

// grantsAsNoted reports whether those whose Acquire will return a lease, as the notes say, are on the
// way to it: who holds the lock holds it by that node, and has waited for it if it was released so. By
// another node the lock may be held that is gone already: Acquire begins anew when it learns of that.
func (f *follower) grantsAsNoted() bool {
	for c := range f.clients {
		cl, a := &f.client[c], f.current(c)
		if a == nil || a.granted == never {
			continue
		}
		node := f.trace.Notes[a.granted].Node
		is := cl.own != none && f.isNode(cl.own, node)
		switch {
		case !is && f.hasLeft(c, node):
			return false
		case cl.own == none:
		case cl.phase == phaseHeld && !is:
			if f.aliveEnd.has(cl.own) {
				return false
			}
		case cl.phase == phaseHeld && f.waits[node] == hasWaited && cl.flags&waited == 0:
			return false
		case is && f.waits[node] == hasNotWaited && cl.flags&waited != 0:
			return false
		}
	}
	return true
}

// hasLeft reports whether a client has given up the node that its Acquire will return, and has begun anew.
func (f *follower) hasLeft(c uint8, node int) bool {
	cl := &f.client[c]
	if f.created[f.at.change] <= node || f.passed(f.current(c).granted) {
		return false
	}
	return cl.own != none || cl.phase == phaseIdle || cl.phase == phaseCreate && !f.isCreated(c)
}

// isCreated reports whether a client has a node that it has not heard of.
func (f *follower) isCreated(c uint8) bool {
	ss := &f.session[c]
	return slices.ContainsFunc(ss.pipe[:ss.requests], func(q request) bool { return q.op == opCreate && q.position != 0 })
}

// believes reports whether a client believes in its lease. While it is downgraded it has two.
func (f *follower) believes(c uint8) bool {
	if a := f.current(c); a != nil && f.passed(a.downgraded) {
		return f.readsStill(c)
	}
	return f.client[c].phase == phaseHeld || f.readsStill(c)
}

// readsStill reports whether a writer that was downgraded has the read lock.
func (f *follower) readsStill(c uint8) bool {
	cl := &f.client[c]
	return cl.reader != none && cl.held.has(cl.reader) && cl.flags&readerLeaves == 0 && cl.phase >= phaseHeld && cl.phase <= phaseDelete
}

// believesAsNoted reports whether those believe in their leases who will note that they do: between its
// grant and such a note a lease cannot be lost.
func (f *follower) believesAsNoted() bool {
	for c := range f.clients {
		if f.at.begun[c] == 0 {
			continue
		}
		a := f.acquisitions[c][f.at.begun[c]-1]
		if !f.passed(a.granted) || a.held == never || f.passed(a.held) {
			continue
		}
		if f.at.started[c] != f.at.begun[c] || !f.believes(c) {
			return false
		}
	}
	return true
}

// describe says where the longest path ends.
func (f *follower) describe() string {
	var b strings.Builder
	for i := int(f.at.change); i < min(int(f.at.change)+3, len(f.trace.Changes)); i++ {
		c := f.trace.Changes[i]
		fmt.Fprintf(&b, "change %d at %d: node %d of client %d, epoch %d: %s\n", i, c.At, c.Node, c.Client, c.Epoch, changeNames[c.Kind])
	}
	for i := int(f.at.note); i < min(int(f.at.note)+3, len(f.trace.Notes)); i++ {
		n := f.trace.Notes[i]
		fmt.Fprintf(&b, "note %d at %d: client %d: %s (node %d, epoch %d)\n", i, n.At, n.Client, noteNames[n.Kind], n.Node, n.Epoch)
	}
	fmt.Fprintf(&b, "%d nodes exist, %d transactions are in the log\n", f.aliveEnd.len(), f.length)
	for c := range f.clients {
		cl, ss := &f.client[c], &f.session[c]
		fmt.Fprintf(&b, "client %d: %s, flags %#x; node %s; acquisition %d of %d; epoch %d, connected %d, closed %d, expired %d, applied %d, seen %d;",
			c, phaseNames[cl.phase], cl.flags, nodeName(cl.own), f.at.started[c], f.at.begun[c], ss.epoch, ss.connected, ss.closed, ss.expired, ss.applied, ss.seen)
		for _, q := range ss.pipe[:ss.requests] {
			fmt.Fprintf(&b, " %v,", q)
		}
		fmt.Fprintf(&b, " late %v of epoch %d, orphans %d\n", ss.lateWrites[:ss.late], ss.lateEpoch, f.at.orphans[c])
	}
	return b.String()
}
