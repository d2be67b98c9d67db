package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// change is a change of a register: at one moment between call and end the text is before, and
// becomes after.
type change struct {
	call, end     int64
	before, after string
	known         bool // what was before
}

// registers finds registers whose changes cannot have happened one after the other, each at a
// moment of its call, so that none is lost. A change in doubt counts if somebody has read it.
func registers(r Run) (found []Violation) {
	changes := changesOf(r)
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		state := ""
		for _, chunk := range chunks(changes[key]) {
			if !linearizable(chunk, state) {
				at, why := explain(chunk)
				found = append(found, Violation{Rule: "registers", At: at, Text: fmt.Sprintf("%s: from %q on: %s", key, state, why)})
				break
			}
			state = lastOf(chunk, state)
		}
		if final, ok := r.Registers[key]; ok && len(found) == 0 && final != state {
			found = append(found, Violation{Rule: "registers", Text: fmt.Sprintf("%s: %q in the end, want %q", key, final, state)})
		}
	}
	return found
}

// changesOf returns the changes of each register that were applied, by key, in the order of
// their calls.
func changesOf(r Run) map[string][]change {
	calls := map[string]history.Event{}
	doubtful := map[string]history.Event{} // by text; those without an answer are among them
	read := map[string]int64{}             // when a text was read first
	changes := map[string][]change{}
	last := int64(0)
	for _, e := range r.Events {
		last = max(last, e.At)
		if e.Key == "" {
			continue
		}
		if _, before := read[e.Before]; !before && e.Before != "" {
			read[e.Before] = e.At
		}
		switch e.Kind {
		case history.Write:
			calls[e.Text], doubtful[e.Text] = e, e
		case history.Wrote:
			changes[e.Key] = append(changes[e.Key], change{calls[e.Text].At, e.At, e.Before, e.Text, true})
			delete(doubtful, e.Text)
		case history.Unwritten:
			delete(doubtful, e.Text)
		case history.Doubtful:
			doubtful[e.Text] = e
		}
	}
	for text, e := range doubtful {
		end, seen := read[text]
		if !seen && r.Registers[e.Key] == text {
			end, seen = last+1, true
		}
		if seen {
			changes[e.Key] = append(changes[e.Key], change{calls[text].At, end, e.Before, text, e.Kind == history.Doubtful})
		}
	}
	for _, ofKey := range changes {
		slices.SortFunc(ofKey, func(a, b change) int { return cmp.Compare(a.call, b.call) })
	}
	return changes
}

// chunkSize is how many changes are judged together, at least: the cost grows with their square.
const chunkSize = 300

// chunks divides changes where none is under way.
func chunks(all []change) (parts [][]change) {
	begin, end := 0, int64(0)
	for i, c := range all {
		if i-begin >= chunkSize && c.call > end {
			parts = append(parts, all[begin:i])
			begin = i
		}
		end = max(end, c.end)
	}
	if begin < len(all) {
		parts = append(parts, all[begin:])
	}
	return parts
}

// linearizable asks porcupine.
func linearizable(changes []change, first string) bool {
	model := porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, _ any) (bool, any) {
			c := input.(change)
			return !c.known || state.(string) == c.before, c.after
		},
		Equal: func(a, b any) bool { return a == b },
	}
	var operations []porcupine.Operation
	for i, c := range changes {
		operations = append(operations, porcupine.Operation{ClientId: i, Input: c, Call: c.call, Return: c.end})
	}
	return porcupine.CheckOperations(model, operations)
}

// lastOf returns the text after all changes, each of which was replaced by another one but the
// last.
func lastOf(changes []change, first string) string {
	replaced := map[string]bool{}
	for _, c := range changes {
		replaced[c.before] = true
	}
	last := first
	for _, c := range changes { // of several, one in doubt has not told what it has replaced
		if !replaced[c.after] {
			last = c.after
		}
	}
	return last
}

// explain names two changes that have replaced the same text, if that is what is wrong, and the time
// of the second one.
func explain(changes []change) (at int64, why string) {
	replacedBy := map[string]change{}
	for _, c := range changes {
		if other, twice := replacedBy[c.before]; twice && c.known && other.known {
			return c.call, fmt.Sprintf("both %q and %q have replaced %q: one of them is lost", other.after, c.after, c.before)
		}
		replacedBy[c.before] = c
	}
	return changes[0].call, fmt.Sprintf("%d changes have no order", len(changes))
}

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
