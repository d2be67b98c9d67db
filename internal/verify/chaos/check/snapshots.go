package check

import (
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// snapshots finds snapshots of a cache that are no tree of one moment, lack a change that was made
// before their moment, or go back.
func snapshots(events []history.Event) (found []Violation) {
	newest := map[string]int64{}
	changes := []int64{0}
	for _, e := range events {
		if e.Kind == history.Changed {
			changes = append(changes, e.Value)
		}
	}
	slices.Sort(changes)
	for _, e := range events {
		if e.Kind != history.Seen {
			continue
		}
		if e.Text != "" {
			found = append(found, Violation{Rule: "snapshots", At: e.At, Text: fmt.Sprintf("%s: of zxid %d, torn: %s", e.Process, e.Value, e.Text)})
		}
		later, exact := slices.BinarySearch(changes, e.Value) // the first change after the snapshot
		if exact {
			later++
		}
		if last := changes[max(0, later-1)]; e.Token != 0 && e.Token < last {
			found = append(found, Violation{Rule: "snapshots", At: e.At, Text: fmt.Sprintf("%s: of zxid %d, without the change of zxid %d", e.Process, e.Value, last)})
		}
		if before := newest[e.Process]; e.Value < before {
			found = append(found, Violation{Rule: "snapshots", At: e.At, Text: fmt.Sprintf("%s: zxid %d after %d", e.Process, e.Value, before)})
		}
		newest[e.Process] = max(newest[e.Process], e.Value)
	}
	return found
}
