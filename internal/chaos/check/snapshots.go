package check

import (
	"fmt"

	"github.com/go-curator/curator/internal/chaos/history"
)

// snapshots finds snapshots of a cache that are no tree of one moment, or go back.
func snapshots(events []history.Event) (found []Violation) {
	newest := map[string]int64{}
	for _, e := range events {
		if e.Kind != history.Seen {
			continue
		}
		if e.Text != "" {
			found = append(found, Violation{Rule: "snapshots", At: e.At, Text: fmt.Sprintf("%s: of zxid %d, torn: %s", e.Process, e.Value, e.Text)})
		}
		if before := newest[e.Process]; e.Value < before {
			found = append(found, Violation{Rule: "snapshots", At: e.At, Text: fmt.Sprintf("%s: zxid %d after %d", e.Process, e.Value, before)})
		}
		newest[e.Process] = max(newest[e.Process], e.Value)
	}
	return found
}
