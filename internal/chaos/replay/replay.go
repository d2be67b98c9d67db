package replay

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/model"
)

// Result says whether what happened to a lock is a path of the model.
type Result struct {
	model.Replayed
	Lock                 string
	AllChanges, AllNotes int // of the trace
}

// Find looks for a path of the model that shows what the events say of a lock. See TraceOf and model.Replay.
func Find(ctx context.Context, events []history.Event, lock Lock, limits model.Limits) (Result, error) {
	t, err := TraceOf(events, lock)
	if err != nil {
		return Result{}, err
	}
	r := Result{Lock: lock.Path, AllChanges: len(t.Changes), AllNotes: len(t.Notes)}
	r.Replayed, err = model.Replay(ctx, t, limits)
	return r, err
}

// String says what was found.
func (r Result) String() string {
	var b strings.Builder
	if r.Complete {
		fmt.Fprintf(&b, "%s: %d transactions and %d notes of clients are a path of the model", r.Lock, r.Changes, r.Notes)
	} else {
		fmt.Fprintf(&b, "%s: no path of the model was found behind transaction %d of %d and note %d of %d",
			r.Lock, r.Changes, r.AllChanges, r.Notes, r.AllNotes)
	}
	fmt.Fprintf(&b, " (%d states, %v)\n", r.States, r.Took.Round(1e6))
	if !r.Complete {
		b.WriteString(r.Stuck)
	}
	return b.String()
}
