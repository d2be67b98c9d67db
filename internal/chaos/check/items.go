package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-curator/curator/internal/chaos/history"
)

// items finds items of a queue whose effect happened more than once, or not although the item was
// stored, or although it was not.
func items(r Run) (found []Violation) {
	outcome := map[string]history.Event{}
	quiet := int64(0)
	for _, e := range r.Events {
		if e.Kind == history.Quiet {
			quiet = e.At
		}
		if e.Kind == history.Stored || e.Kind == history.Unwritten && e.Key == "" {
			outcome[e.Text] = e
		}
	}
	queued := map[string]bool{}
	for _, item := range r.Items {
		queued[item] = true
	}
	violate := func(at int64, format string, args ...any) {
		found = append(found, Violation{Rule: "items", At: at, Text: fmt.Sprintf(format, args...)})
	}
	for _, item := range slices.Sorted(maps.Keys(outcome)) {
		e, effects := outcome[item], r.Effects[item]
		switch {
		case e.Kind == history.Unwritten && effects > 0:
			violate(e.At, "%s has an effect, though its put was refused", item)
		case e.Kind == history.Stored && effects == 0 && queued[item] && e.At > quiet: // nobody had to take it
		case e.Kind == history.Stored && effects == 0 && queued[item]:
			violate(e.At, "%s is still in the queue", item)
		case e.Kind == history.Stored && effects == 0:
			violate(e.At, "%s was stored, and is lost", item)
		}
	}
	for _, item := range slices.Sorted(maps.Keys(r.Effects)) {
		if n := r.Effects[item]; n > 1 {
			violate(outcome[item].At, "%s has had its effect %d times", item, n)
		}
	}
	return found
}
