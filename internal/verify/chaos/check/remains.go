package check

import (
	"fmt"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

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
