package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-curator/curator/internal/verify/chaos/history"
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
	done := map[string]history.Event{}
	for _, e := range r.Events {
		if e.Kind != history.Done {
			continue
		}
		if first, twice := done[e.Text]; twice {
			violate(e.At, "%s: its effect was acknowledged to %s, and again to %s", e.Text, first.Process, e.Process)
		}
		done[e.Text] = e
	}
	for _, v := range superseded(r.Events) {
		violate(v.At, "%s", v.Text)
	}
	for _, item := range slices.Sorted(maps.Keys(r.Effects)) {
		if n := r.Effects[item]; n > 1 {
			violate(outcome[item].At, "%s has had its effect %d times", item, n)
		}
	}
	return found
}

// superseded finds effects that were committed by a consumer although another one had been handed
// the item before the commit began: the first one's lock node was gone then. An operator who deletes
// a lock node by hand can have it so.
func superseded(events []history.Event) (found []history.Event) {
	takes := map[string][]history.Event{} // by item
	commits := map[string]history.Event{} // by process and item
	deleted := map[string]bool{}
	for _, e := range events {
		if e.Kind == history.Deleting {
			deleted[e.Node] = true
		}
	}
	for _, e := range events {
		switch e.Kind {
		case history.Take:
			takes[e.Text] = append(takes[e.Text], e)
		case history.Commit:
			commits[e.Process+" "+e.Text] = e
		case history.Done:
			commit := commits[e.Process+" "+e.Text]
			for _, other := range takes[e.Text] {
				if other.At < commit.At && other.Token > commit.Token && !deleted[commit.Node] {
					found = append(found, history.Event{At: e.At, Text: fmt.Sprintf("%s: %s has committed its effect with the token %d, though %s had the item with %d",
						e.Text, e.Process, commit.Token, other.Process, other.Token)})
				}
			}
		}
	}
	return found
}
