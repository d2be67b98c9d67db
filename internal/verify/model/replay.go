package model

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
)

// Replay looks for a path of the model of the lock on which the servers commit what the trace says, in
// that order, and the clients note what it says: whose belief is noted holds the lock, and a lease whose
// release has succeeded is over. What the trace does not say may have happened at any moment: requests,
// replies and events on their way, servers that lag, reads. A connection breaks, and a local deadline
// passes, only near a note that says so.
//
// The search takes replies and events for quick as long as that explains the trace, and tries what is
// less likely where it does not. One wrong guess costs it every other order of what follows, so there are
// several attempts, of at most so many states each, 0 for the default: at first with few unlikely steps
// between two that bring it further than ever, then with more. Each is made once as the model is, and once
// without waits that the end of their node makes unlikely. All are made with two fifths of the states before
// any is made with all.
func Replay(ctx context.Context, t *Trace, states int) (Replayed, error) {
	if t.Clients < 1 || t.Clients > maxClients {
		return Replayed{}, fmt.Errorf("model: %d clients; a state has room for %d", t.Clients, maxClients)
	}
	if states <= 0 {
		states = defaultStates
	}
	var found Replayed
	for _, most := range []int{states * 2 / 5, states} {
		for oddity := 1; oddity <= maxOddity; oddity++ {
			for _, unmarked := range []bool{false, true} {
				r := newReplayer(t, oddity, unmarked)
				r.search(func() bool { return ctx.Err() != nil || r.States >= most })
				if found.add(r); found.Verdict != Undecided || ctx.Err() != nil {
					return found, ctx.Err()
				}
				if r.Exhausted {
					break // without some of these states there is no path either
				}
			}
		}
	}
	return found, nil
}

// add adds what an attempt has found.
func (r *Replayed) add(a *replayer) {
	r.Attempts = append(r.Attempts, a.Attempt)
	switch {
	case a.complete:
		r.Verdict = Path
	case a.refutes():
		r.Verdict = Refuted
	}
	var s State
	a.restore(&s, a.furthest)
	if changes, notes := int(a.at.change), int(a.at.note); a.complete || changes+notes > r.Changes+r.Notes || r.Stuck == "" {
		r.Changes, r.Notes, r.Stuck = changes, notes, a.describe()
	}
}

// replayer searches in one attempt.
type replayer struct {
	follower
	Attempt

	seed     maphash.Seed
	seen     map[uint64]uint8 // the oddity of a state
	waiting  [][]candidate    // by worth
	best     int              // no state is worth more
	furthest []byte
	complete bool // the trace was followed to its end
}

// candidate is a state to be looked at.
type candidate struct {
	saved  []byte
	oddity int // see push
}

const (
	// defaultStates is how many states an attempt looks at: of 63 searches in recorded runs, 62 needed
	// fewer.
	defaultStates = 150_000
	// farBack is how much of the trace makes up for one oddity.
	farBack = 12
	// maxBack is how far the search goes back, in worth.
	maxBack = 1000
)

func newReplayer(t *Trace, oddity int, unmarked bool) *replayer {
	return &replayer{
		follower: newFollower(t, unmarked), Attempt: Attempt{Oddity: oddity, WithoutUnlikelyWaits: unmarked},
		seen: map[uint64]uint8{}, seed: maphash.MakeSeed(),
		waiting: make([][]candidate, len(t.Changes)+len(t.Notes)+oddity*farBack+1),
	}
}

// search looks at states until one is at the end of the trace.
func (r *replayer) search(enough func() bool) {
	r.tidy()
	r.push(0)
	most := -1
	for r.States&0xff != 0 || !enough() {
		c, ok := r.next()
		if r.Exhausted = !ok; r.Exhausted {
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
		if r.complete = r.atEnd(); r.complete {
			break
		}
		r.follow(c.saved, c.oddity)
	}
	r.Cuts = r.cuts.names()
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
	if oddity > r.Oddity {
		r.cuts |= cutOddity
		return
	}
	saved := r.save()
	h := maphash.Bytes(r.seed, saved)
	if before, ok := r.seen[h]; ok && int(before) <= oddity {
		return
	}
	r.seen[h] = uint8(oddity)
	worth := r.progress() + (r.Oddity-oddity)*farBack
	r.waiting[worth] = append(r.waiting[worth], candidate{saved, oddity})
	r.best = max(r.best, worth)
}

// forgetOld forgets the states that are too far back.
func (r *replayer) forgetOld() {
	if old := r.best - maxBack; old >= 0 && r.waiting[old] != nil {
		r.waiting[old] = nil
		r.cuts |= cutBack
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
	if r.length > maxLog-maxRoom {
		r.cuts |= cutRoom
		return false
	}
	if r.judge(); r.violation != "" || !r.grantsAsNoted() || !r.believesAsNoted() {
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

// Verdict is what Replay says of a trace.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota // no path was found, but not every path was looked at
	Path                     // the trace is a path of the model
	Refuted                  // it is none: an attempt has looked at everything, see Attempt
)

// String names the verdict.
func (v Verdict) String() string { return [...]string{"not decided", "path", "refuted"}[v] }

// Replayed says what Replay has found.
type Replayed struct {
	Verdict  Verdict
	Attempts []Attempt
	// Changes and Notes are how many of the trace the longest path has.
	Changes, Notes int
	// Stuck says what comes next behind the longest path, and what the model's clients do there.
	Stuck string
}

// States is how many states were looked at.
func (r Replayed) States() (n int) {
	for _, a := range r.Attempts {
		n += a.States
	}
	return n
}

// Attempt is one search for a path, within bounds.
type Attempt struct {
	// Oddity is how many unlikely steps the attempt takes between two steps that bring it further than
	// ever.
	Oddity int
	// WithoutUnlikelyWaits leaves out that a client has waited for a node that it deletes without the
	// marker. That happens only if its connection breaks during the release.
	WithoutUnlikelyWaits bool
	// States is how many states were looked at.
	States int
	// Exhausted says that none was left to look at.
	Exhausted bool
	// Cuts are the bounds, other than the number of states, that have kept states from being looked at.
	Cuts []string
}

// maxOddity is the highest Attempt.Oddity.
const maxOddity = 7

// refutes reports whether an attempt without a path shows that there is none: it was exhausted, and
// nothing was left out, but for more unlikely steps than the last attempt takes.
func (a Attempt) refutes() bool {
	for _, c := range a.Cuts {
		if c != cutOddity.names()[0] || a.Oddity < maxOddity {
			return false
		}
	}
	return a.Exhausted && !a.WithoutUnlikelyWaits
}

// String says how far the attempt has come.
func (a Attempt) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d unlikely steps", a.Oddity)
	if a.WithoutUnlikelyWaits {
		b.WriteString(", no unlikely waits")
	}
	fmt.Fprintf(&b, ": %d states", a.States)
	if a.Exhausted {
		b.WriteString(", exhausted")
	}
	if len(a.Cuts) > 0 {
		fmt.Fprintf(&b, ", without %s", strings.Join(a.Cuts, ", "))
	}
	return b.String()
}
