package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// Unserved finds who was not served between the end of the faults and that of the run: of every
// process of ours that was asked to work then, the workloads in which nothing that began after the
// faults has succeeded. Before the end of the faults it finds nothing.
func Unserved(events []history.Event) (found []Violation) {
	quiet := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Quiet })
	if quiet < 0 {
		return nil
	}
	waiting := map[string]bool{} // by process and workload
	for name := range strings.FieldsSeq(events[quiet].Text) {
		waiting[name] = true
	}
	began := map[string]bool{}
	at := events[quiet].At
	for _, e := range events[quiet:] {
		switch e.Kind {
		case history.Begin:
			began[operation(e)] = true
		case history.Grant, history.Entered:
			if began[operation(e)] {
				delete(waiting, Demand(e.Process, e.Workload))
			}
		case history.Stored, history.Awaited:
			delete(waiting, Demand(e.Process, e.Workload))
		case history.Last:
			at = e.At
		}
	}
	for name := range waiting {
		found = append(found, Violation{Rule: "served", At: at, Text: name + " was not served after the faults"})
	}
	slices.SortFunc(found, func(a, b Violation) int { return strings.Compare(a.Text, b.Text) })
	return found
}

// Demand names what a process wants of a workload, whichever run of the process it is: the Text
// of history.Quiet has all of them, separated by spaces.
func Demand(process, workload string) string {
	name, _, _ := strings.Cut(process, ".")
	return fmt.Sprintf("%s:%s", name, workload)
}
