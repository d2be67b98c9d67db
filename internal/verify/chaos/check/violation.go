package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// Run is what is judged.
type Run struct {
	Events []history.Event // in the order of their times
	// Registers has the final texts by key, as Event.Key names it.
	Registers map[string]string
	// Effects has how many effects each item of the queue has had.
	Effects map[string]int
	// Items has those that are still in the queue.
	Items []string
	// Slack is how late an answer may be on the machine of the run.
	Slack time.Duration
	// MaxHeap bounds what a worker's heap has at its end, in bytes.
	MaxHeap int64
}

// Violation is something that must not be.
type Violation struct {
	Rule string
	At   int64  // on the history's clock; 0 for the end
	Lock string // the path, if it is about a lock
	Text string
	// Apart tells that a client is involved that is not ours, which believes by its own rules.
	Apart bool
}

// String returns the rule and the text.
func (v Violation) String() string { return v.Rule + ": " + v.Text }

// IsForeign tells whether a process is a client that is not ours.
func IsForeign(process string) bool { return !strings.HasPrefix(process, "go-") }

// operation names the operation of an event.
func operation(e history.Event) string { return fmt.Sprintf("%s/%d", e.Process, e.Op) }

// Around returns the events about a violation: those of its lock, and of the nemesis, in the time
// before and after.
func Around(events []history.Event, v Violation, before, after time.Duration) string {
	ofLock := map[string]bool{}
	for _, e := range events {
		if e.Lock != "" && e.Lock == v.Lock {
			ofLock[operation(e)] = true
		}
	}
	var text strings.Builder
	for _, e := range events {
		at := time.Duration(e.At - v.At)
		if at < -before || at > after || e.Kind == history.Seen {
			continue
		}
		if v.Lock != "" && (e.Op != 0 && !ofLock[operation(e)] || e.Op == 0 && e.Node != "" && !strings.HasPrefix(e.Node, v.Lock)) {
			continue
		}
		fmt.Fprintf(&text, "%+12.3fms %s\n", float64(at)/float64(time.Millisecond), describe(e))
	}
	return text.String()
}

// describe returns an event on one line.
func describe(e history.Event) string {
	words := []string{string(e.Kind), e.Process}
	for _, w := range []struct {
		name  string
		value any
		is    bool
	}{
		{"op", e.Op, e.Op != 0}, {"workload", e.Workload, e.Workload != ""}, {"mode", e.Mode, e.Mode != ""},
		{"token", e.Token, e.Token != 0}, {"session", fmt.Sprintf("%#x", e.Session), e.Session != 0},
		{"node", e.Node, e.Node != ""}, {"key", e.Key, e.Key != ""}, {"before", e.Before, e.Before != ""},
		{"text", e.Text, e.Text != ""},
	} {
		if w.is {
			words = append(words, fmt.Sprintf("%s=%v", w.name, w.value))
		}
	}
	return strings.Join(words, " ")
}
