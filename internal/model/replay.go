package model

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"time"
	"unsafe"
)

// Replayed says what Replay has found.
type Replayed struct {
	// Changes and Notes are how many of the trace the longest path has: all of them, or the trace is
	// no path of the model.
	Changes, Notes int
	// Complete says that the trace is a path of the model.
	Complete bool
	// Stuck says what comes next behind the longest path, and what the model's clients do there.
	Stuck string
	// States is how many states were looked at.
	States int
	Took   time.Duration
}

// Replay looks for a path of the model of the mutex on which the servers commit what the trace says, in
// that order, and the clients note what it says: whose belief is noted holds the lock, and a lease whose
// release has succeeded is over. What the trace does not say may have happened at any moment: requests,
// replies and events on their way, servers that lag, reads. A connection breaks, and a local deadline
// passes, only near a note that says so.
//
// The search takes replies and events for quick as long as that explains the trace, and tries what is
// less likely where it does not. A server lags by maxLag transactions at most. Limits bound the search.
func Replay(ctx context.Context, t *Trace, limits Limits) (Replayed, error) {
	if t.Clients < 1 || t.Clients > maxClients {
		return Replayed{}, fmt.Errorf("model: %d clients; a state has room for %d", t.Clients, maxClients)
	}
	r := newReplayer(t)
	began := time.Now()
	r.search(func() bool {
		return ctx.Err() != nil || limits.States > 0 && r.States > limits.States || limits.Time > 0 && time.Since(began) > limits.Time
	})
	r.Took = time.Since(began)
	return r.Replayed, ctx.Err()
}

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

// progress is how much of the trace is behind it.
func (p *place) progress() int { return int(p.change + p.note) }

// replayer searches.
type replayer struct {
	*world
	Replayed
	at           place
	trace        *Trace
	acquisitions [][]acquisition
	of           []int // the acquisition of each note
	connections  [][]int
	kills        [][]kill
	existing     [][]int // the nodes before each transaction
	created      []int   // how many were created before it
	waits        []wait  // of each node

	seed     maphash.Seed
	seen     map[uint64]uint8     // the oddity of a state
	waiting  [maxOddity + 1]stack // by oddity
	furthest []byte
}

const (
	// maxOddity bounds what the search tries: see push.
	maxOddity = 7
	// maxWaiting bounds how many states of one oddity wait to be looked at.
	maxWaiting = 40_000
	// farBack is how much of the trace lies between a state and one that is worth as much.
	farBack = 12
	// maxSeen bounds how many states are known, so that they are not looked at again.
	maxSeen = 2_000_000
)

// stack has states, the last one of which is to be looked at next. It forgets the oldest ones.
type stack [][]byte

func (s *stack) push(saved []byte) {
	if len(*s) >= maxWaiting {
		*s = append((*s)[:0], (*s)[len(*s)/2:]...)
	}
	*s = append(*s, saved)
}

func (s *stack) pop() []byte {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

func newReplayer(t *Trace) *replayer {
	const unlimited = 1 << 30
	cfg := &Config{Contenders: times(t.Clients, goMutex), leases: 1, rounds: unlimited, retries: unlimited}
	r := &replayer{world: newWorld(cfg), trace: t, connections: t.connections(), kills: t.kills()}
	r.existing, r.created = t.existing(), t.createdBefore()
	r.waits = t.waits()
	r.acquisitions, r.of = t.acquisitions()
	r.seen, r.seed = map[uint64]uint8{}, maphash.MakeSeed()
	return r
}

// search looks at states until one is at the end of the trace.
func (r *replayer) search(enough func() bool) {
	first := r.first()
	if len(r.trace.Changes) > 0 && r.trace.Changes[0].Kind == QueueMade {
		first.dir, first.dirEnd = 0, 0
	}
	r.State = &first
	r.tidy()
	r.push(0)
	most := -1
	for r.States&0xff != 0 || !enough() {
		oddity, saved := r.next(most)
		if saved == nil {
			break
		}
		r.States++
		var s State
		r.restore(&s, saved)
		if p := r.at.progress(); p > most {
			most, r.furthest = p, saved
			oddity = 0
		}
		if r.Complete = most == len(r.trace.Changes)+len(r.trace.Notes); r.Complete {
			break
		}
		r.follow(saved, oddity)
	}
	var s State
	r.restore(&s, r.furthest)
	r.Changes, r.Notes, r.Stuck = int(r.at.change), int(r.at.note), r.describe()
}

// next returns the state to look at next, and its oddity: of the last ones of each oddity the one whose
// oddity is least, where it counts as one more that a state is farBack behind the furthest.
func (r *replayer) next(most int) (oddity int, saved []byte) {
	least := never
	for o, s := range r.waiting {
		if len(s) == 0 {
			continue
		}
		var at place
		copy(bytesOf(&at), s[len(s)-1])
		if cost := o + (most-at.progress())/farBack; cost < least {
			oddity, least = o, cost
		}
	}
	if least == never {
		return 0, nil
	}
	return oddity, r.waiting[oddity].pop()
}

// save returns the present state and place.
func (r *replayer) save() []byte { return r.encode(append(make([]byte, 0, 400), bytesOf(&r.at)...)) }

// restore sets the state and the place to those that were saved.
func (r *replayer) restore(s *State, saved []byte) {
	copy(bytesOf(&r.at), saved)
	r.State = s
	r.decode(saved[placeSize:])
}

// push keeps the present state to be looked at. Its oddity is how often, since the search was last
// as far as ever, something happened that mostly does not: a step that would have been possible was
// put off, a connection broke before that was noted, a server lagged.
func (r *replayer) push(oddity int) {
	if oddity > maxOddity {
		return
	}
	saved := r.save()
	h := maphash.Bytes(r.seed, saved)
	if before, ok := r.seen[h]; ok && int(before) <= oddity {
		return
	}
	if len(r.seen) >= maxSeen {
		clear(r.seen)
	}
	r.seen[h] = uint8(oddity)
	r.waiting[oddity].push(saved)
}

// branch does something to a state that was saved, and pushes what comes of it. It reports whether
// that is possible.
func (r *replayer) branch(saved []byte, oddity int, do func() bool) bool {
	var s State
	r.restore(&s, saved)
	r.violation = ""
	if !do() || r.violation != "" {
		return false
	}
	r.tidy()
	if r.judge(); r.violation != "" || r.length > maxLog-maxRoom || !r.grantsAsNoted() {
		return false
	}
	r.push(oddity)
	return true
}

// grantsAsNoted reports whether those whose Acquire will return a lease, as the notes say, are on the
// way to it: who holds the lock holds it by that node, and has waited for it if it was released so. By
// another node the lock may be held that is gone already: Acquire begins anew when it learns of that.
func (r *replayer) grantsAsNoted() bool {
	for c := range r.clients {
		cl, a := &r.client[c], r.current(c)
		if a == nil || a.granted == never || cl.own == none {
			continue
		}
		node := r.trace.Notes[a.granted].Node
		is := r.isNode(cl.own, node)
		switch {
		case cl.phase == phaseHeld && !is:
			if r.aliveEnd.has(cl.own) {
				return false
			}
		case cl.phase == phaseHeld && r.waits[node] == hasWaited && cl.flags&waited == 0:
			return false
		case is && r.waits[node] == hasNotWaited && cl.flags&waited != 0:
			return false
		}
	}
	return true
}

// maxRoom is how many transactions one step may add to the log.
const maxRoom = 4

// describe says where the longest path ends.
func (r *replayer) describe() string {
	var b strings.Builder
	for i := int(r.at.change); i < min(int(r.at.change)+3, len(r.trace.Changes)); i++ {
		c := r.trace.Changes[i]
		fmt.Fprintf(&b, "change %d at %d: node %d of client %d, epoch %d: %s\n", i, c.At, c.Node, c.Client, c.Epoch, changeNames[c.Kind])
	}
	for i := int(r.at.note); i < min(int(r.at.note)+3, len(r.trace.Notes)); i++ {
		n := r.trace.Notes[i]
		fmt.Fprintf(&b, "note %d at %d: client %d: %s (node %d, epoch %d)\n", i, n.At, n.Client, noteNames[n.Kind], n.Node, n.Epoch)
	}
	fmt.Fprintf(&b, "%d nodes exist, %d transactions are in the log\n", r.aliveEnd.len(), r.length)
	for c := range r.clients {
		cl, ss := &r.client[c], &r.session[c]
		fmt.Fprintf(&b, "client %d: %s, flags %#x; node %s; acquisition %d of %d; epoch %d, connected %d, closed %d, expired %d, applied %d, seen %d;",
			c, phaseNames[cl.phase], cl.flags, nodeName(cl.own), r.at.started[c], r.at.begun[c], ss.epoch, ss.connected, ss.closed, ss.expired, ss.applied, ss.seen)
		for _, q := range ss.pipe[:ss.requests] {
			fmt.Fprintf(&b, " %v,", q)
		}
		fmt.Fprintf(&b, " late %d\n", ss.late)
	}
	return b.String()
}
