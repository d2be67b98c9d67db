package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

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
