package check

import (
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

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
