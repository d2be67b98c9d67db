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
