package check

import (
	"cmp"
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
