package model

import (
	"context"
	"fmt"
	"hash/maphash"
	"time"
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

// Replay looks for a path of the model of the lock on which the servers commit what the trace says, in
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

// replayer searches.
type replayer struct {
	follower
	Replayed

	seed     maphash.Seed
	seen     map[uint64]uint8 // the oddity of a state
	waiting  [][]candidate    // by worth
	best     int              // no state is worth more
	furthest []byte
}

// candidate is a state to be looked at.
type candidate struct {
	saved  []byte
	oddity int // see push
}

const (
	// maxOddity bounds what the search tries.
	maxOddity = 7
	// farBack is how much of the trace makes up for one oddity.
	farBack = 12
	// maxBack is how far the search goes back, in worth.
	maxBack = 1000
	// maxSeen bounds how many states are known, so that they are not looked at again.
	maxSeen = 2_000_000
)

func newReplayer(t *Trace) *replayer {
	return &replayer{
		follower: newFollower(t), seen: map[uint64]uint8{}, seed: maphash.MakeSeed(),
		waiting: make([][]candidate, len(t.Changes)+len(t.Notes)+maxOddity*farBack+1),
	}
}

// search looks at states until one is at the end of the trace.
func (r *replayer) search(enough func() bool) {
	r.tidy()
	r.push(0)
	most := -1
	for r.States&0xff != 0 || !enough() {
		c, ok := r.next()
		if !ok {
			break
		}
		r.States++
		var s State
		r.restore(&s, c.saved)
		if p := r.progress(); p > most {
			most, r.furthest = p, c.saved
			c.oddity = 0
			r.forgetOld()
		}
		if r.Complete = r.atEnd(); r.Complete {
			break
		}
		r.follow(c.saved, c.oddity)
	}
	var s State
	r.restore(&s, r.furthest)
	r.Changes, r.Notes, r.Stuck = int(r.at.change), int(r.at.note), r.describe()
}

// next returns the state to look at next: one that is worth most, the latest one of these.
func (r *replayer) next() (candidate, bool) {
	for ; r.best >= 0; r.best-- {
		if n := len(r.waiting[r.best]); n > 0 {
			c := r.waiting[r.best][n-1]
			r.waiting[r.best] = r.waiting[r.best][:n-1]
			return c, true
		}
	}
	return candidate{}, false
}

// push keeps the present state to be looked at. Its oddity is how often, since the search was last
// as far as ever, something happened that mostly does not: a step that would have been possible was
// put off, a connection broke before that was noted, a server lagged. It is worth more the further it
// has come, and less the odder it is.
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
	worth := r.progress() + (maxOddity-oddity)*farBack
	r.waiting[worth] = append(r.waiting[worth], candidate{saved, oddity})
	r.best = max(r.best, worth)
}

// forgetOld forgets the states that are too far back.
func (r *replayer) forgetOld() {
	if old := r.best - maxBack; old >= 0 {
		r.waiting[old] = nil
	}
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
	if r.judge(); r.violation != "" || r.length > maxLog-maxRoom || !r.grantsAsNoted() || !r.believesAsNoted() {
		return false
	}
	r.push(oddity)
	return true
}

// follow pushes what may come behind a state, the likeliest last.
func (r *replayer) follow(saved []byte, oddity int) {
	if r.notesItself() {
		if r.branch(saved, oddity, r.readNote) {
			return
		}
		var s State
		r.restore(&s, saved)
	}
	type oddStep struct {
		step
		oddity int
	}
	var odd []oddStep
	var commits, moves []step
	r.steps(func(st step) {
		if !r.allows(st) {
			return
		}
		more := r.oddity(st)
		switch last := len(moves) - 1; {
		case more > 0:
			odd = append(odd, oddStep{st, more})
		case st.kind == stepCommit || st.kind == stepLate:
			commits = append(commits, st)
		case st.kind == stepRead && last >= 0 && moves[last].kind == stepRead && moves[last].a == st.a:
			odd = append(odd, oddStep{moves[last], 1}) // the server lags
			moves[last] = st
		default:
			moves = append(moves, st)
		}
	})
	for c := range r.clients {
		r.branch(saved, oddity+1, func() bool { return r.dies(c) })
		r.branch(saved, oddity+1, func() bool { return r.renews(c) })
		r.branch(saved, oddity+r.oddityOfLeaving(c), func() bool { return r.leaves(c) })
	}
	for _, o := range odd {
		r.branch(saved, oddity+o.oddity, func() bool { return r.step(o.step) })
	}
	unlikely := oddity // of what puts a step off that is possible
	for _, st := range moves {
		if r.branch(saved, unlikely, func() bool { return r.step(st) }) {
			unlikely = oddity + 1
		}
	}
	changes := r.branch(saved, unlikely, r.changeFromOutside)
	for _, st := range commits {
		changes = r.branch(saved, unlikely, func() bool { return r.step(st) }) || changes
	}
	if changes {
		unlikely++
	}
	r.branch(saved, unlikely, r.readNote)
}
