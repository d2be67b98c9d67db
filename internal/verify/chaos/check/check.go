// Package check judges the history of a run. A violation names the rule that is broken and the instant,
// and has the events around it. The rules:
//
//	exclusion.go  no two believe at once, and no more than there are leases; tokens rise in the order of
//	              grants; after a loss nobody is let in before the lock delay has passed
//	answers.go    every call is answered in time, and after the faults everybody is served
//	data.go       registers that are changed under a lease are linearizable, and lose no change; every item
//	              of a queue has one effect; snapshots of a cache are whole, and do not go back
//	barrier.go    nobody is through a double barrier alone; by the servers' logs, too: nobody enters too
//	              early, and nobody leaves before the others
//	check.go      nothing is left over, and nothing failed
//
// What an operator takes from a holder is no violation: from the moment at which the nemesis
// begins to delete a node or to end a session, the holds on it count no more.
package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// Result is the judgement.
type Result struct {
	Violations []Violation // of the promises of this module
	Apart      []Violation // in which clients are involved that are not ours
	Holds      map[string]int
	Cut        int // holds that the nemesis took by hand
	Losses     int // holds that ended with a loss
	Writes     int // of registers, acknowledged
	Rounds     int // entered
	Counted    int // entered, by members of whose node the round is known
	Waits      int // of a member that left for another member of its round
	Effects    int
	Snapshots  int
}

// All applies every rule.
func All(r Run) Result {
	holds := holdsOf(r.Events)
	result := Result{Holds: map[string]int{}, Effects: len(r.Effects)}
	for _, h := range holds {
		result.Holds[h.Workload]++
		if h.cut {
			result.Cut++
		}
		if h.lost() {
			result.Losses++
		}
	}
	for _, e := range r.Events {
		switch e.Kind {
		case history.Wrote:
			result.Writes++
		case history.Entered:
			result.Rounds++
		case history.Seen:
			result.Snapshots++
		}
	}
	visits := visitsOf(r.Events)
	result.Counted, result.Waits = counted(visits)
	found := slices.Concat(
		excluded(holds), rising(holds), delayed(holds), answered(r), Unserved(r.Events),
		registers(r), items(r), rounds(r.Events), uncounted(visits), deserted(visits), snapshots(r.Events), remains(r),
	)
	slices.SortStableFunc(found, func(a, b Violation) int { return cmp.Compare(a.At, b.At) })
	for _, v := range found {
		if v.Apart {
			result.Apart = append(result.Apart, v)
		} else {
			result.Violations = append(result.Violations, v)
		}
	}
	return result
}

// remains finds what was left over, and what has failed.
func remains(r Run) (found []Violation) {
	for _, e := range r.Events {
		v := Violation{At: e.At, Apart: e.Process != "" && IsForeign(e.Process)}
		switch {
		case e.Kind == history.Failed:
			v.Rule, v.Text = "failed", fmt.Sprintf("%s: %s", operation(e), e.Text)
		case e.Kind == history.Ended && e.Text != "":
			v.Rule, v.Text = "ended", fmt.Sprintf("%s: %s", e.Process, e.Text)
		case e.Kind == history.Remains && e.Value > 0:
			v.Rule, v.Text = "remains", fmt.Sprintf("%s: %d too many of %s", e.Process, e.Value, e.Text)
		case e.Kind == history.Memory && r.MaxHeap > 0 && e.Value > r.MaxHeap:
			v.Rule, v.Text = "memory", fmt.Sprintf("%s: a heap of %d bytes", e.Process, e.Value)
		default:
			continue
		}
		found = append(found, v)
	}
	return found
}
