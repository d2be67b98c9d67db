package model

import (
	"fmt"
	"strings"
)

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

// cuts are what a search leaves out for want of room, of time or of likelihood.
type cuts uint8

const (
	cutOddity cuts = 1 << iota // more unlikely steps
	cutBack                    // states that are far back
	cutLag                     // servers that lag more than maxLag transactions
	cutLate                    // more than maxLate writes of a broken connection
	cutRoom                    // states that have no room for what happens
)

func (c cuts) names() (names []string) {
	for i, name := range []string{"unlikelier steps", "states far back", "servers that lag more", "more late writes", "larger states"} {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
