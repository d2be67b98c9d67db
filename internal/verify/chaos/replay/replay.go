package replay

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/model"
)

// Result says whether what happened to a lock is a path of the model.
type Result struct {
	model.Replayed
	Lock                 string
	AllChanges, AllNotes int // of the trace
}

// Find looks for a path of the model that shows what the events say of a lock, in attempts of at most so
// many states, 0 for the default. See TraceOf and model.Replay.
func Find(ctx context.Context, events []history.Event, lock Lock, states int) (Result, error) {
	t, err := TraceOf(events, lock)
	if err != nil {
		return Result{}, err
	}
	r := Result{Lock: lock.Path, AllChanges: len(t.Changes), AllNotes: len(t.Notes)}
	r.Replayed, err = model.Replay(ctx, t, states)
	return r, err
}

// String says what was found, and of what is no path where the longest one ends.
func (r Result) String() string {
	var b strings.Builder
	if r.Verdict == model.Path {
		fmt.Fprintf(&b, "%s: %d transactions and %d notes of clients are a path of the model (%d states)\n",
			r.Lock, r.Changes, r.Notes, r.States())
		return b.String()
	}
	fmt.Fprintf(&b, "%s: %s: no path of the model was found behind transaction %d of %d and note %d of %d\n",
		r.Lock, r.Verdict, r.Changes, r.AllChanges, r.Notes, r.AllNotes)
	for _, a := range r.Attempts {
		fmt.Fprintf(&b, "  %v\n", a)
	}
	b.WriteString(r.Stuck)
	return b.String()
}
