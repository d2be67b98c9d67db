// Package replay compares a run with the model: what the servers have committed about a mutex, and
// what its clients have noted, must be a path of internal/verify/model. If it is none, the client, the model
// or the notes are wrong.
package replay

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
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

// Thin returns what TraceOf reads of events about a lock, in their order, without what it does not read.
func Thin(events []history.Event, lock Lock) (thin []history.Event) {
	b := newBuilder(lock)
	b.findClients(events)
	b.findSessions(events)
	for _, e := range events {
		if e.Kind != history.Last && !b.reads(e) {
			continue
		}
		kept := history.Event{At: e.At, Process: e.Process, Kind: e.Kind, Workload: e.Workload, Op: e.Op, Mode: e.Mode, Node: e.Node, Session: e.Session}
		switch e.Kind {
		case history.Created, history.Deleted, history.Marked, history.Over:
			kept.Value = e.Value
		case history.Released:
			kept.Text = e.Text
		}
		thin = append(thin, kept)
	}
	return thin
}

// Committed returns what transactions did to the nodes of locks and barriers with these paths, and which
// sessions they ended, as events. offset is what the wall clock is ahead of the history's clock, in nanoseconds.
func Committed(txns []txnlog.Txn, locks []string, offset int64) (events []history.Event) {
	const millisecond = 1_000_000
	for _, t := range txns {
		e := history.Event{At: t.Time*millisecond - offset, Session: t.Session, Value: t.Zxid}
		if t.Ends {
			e.Kind = history.Over
			events = append(events, e)
			continue
		}
		var created []string
		for _, c := range t.Changes {
			if !ofLock(c.Path, locks) {
				continue
			}
			e.Node = c.Path
			switch c.Op {
			case jute.OpCreate:
				e.Kind = history.Created
				created = append(created, c.Path)
			case jute.OpDelete:
				e.Kind = history.Deleted
			default:
				continue
			}
			events = append(events, e)
		}
		events = mark(events, t.Zxid, created)
	}
	return events
}

// ofLock reports whether a node is that of a lock, or one of its contenders' or members'.
func ofLock(path string, locks []string) bool {
	parent := path[:max(0, strings.LastIndexByte(path, '/'))]
	return slices.Contains(locks, path) || slices.Contains(locks, parent)
}

// mark makes one event of each node of a transaction that is deleted with a release marker. The events
// of the transaction are the last ones.
func mark(events []history.Event, zxid int64, created []string) []history.Event {
	begin := len(events)
	for begin > 0 && events[begin-1].Value == zxid {
		begin--
	}
	marked := events[:begin]
	for _, e := range events[begin:] {
		_, isMarker := layout.CutReleaseMarker(e.Node)
		switch {
		case isMarker && slices.Contains(created, e.Node):
			continue
		case e.Kind == history.Deleted && slices.Contains(created, layout.ReleaseMarker(e.Node)):
			e.Kind = history.Marked
		}
		marked = append(marked, e)
	}
	return marked
}

// Server is what the names of servers begin with, in events about their clocks.
const Server = "server-"

// clockSpan is a time, on the history's clock, in which a server's wall clock was ahead by an offset.
type clockSpan struct{ from, to, offset int64 }

// clockSpans returns what the wall clocks of the servers showed. All servers are among the events, if one
// is, because the nemesis sets all clocks right in the end. An offset may have lasted for a little longer
// than until it was noted that it would end.
func clockSpans(events []history.Event) (spans []clockSpan) {
	const late = int64(time.Second)
	last := map[string]int{} // span of each server
	for _, e := range events {
		if e.Kind != history.Stepped || !strings.HasPrefix(e.Process, Server) {
			continue
		}
		i, known := last[e.Process]
		if !known {
			i = len(spans)
			spans = append(spans, clockSpan{math.MinInt64, math.MaxInt64, 0})
		}
		spans[i].to = e.At + late
		last[e.Process] = len(spans)
		spans = append(spans, clockSpan{e.At, math.MaxInt64, e.Value})
	}
	return spans
}

// RightTimes returns transactions, in the order of their zxids, with the right times: those in the logs
// are of the leader's wall clock, which events say was stepped. offset is what the right wall clock is
// ahead of the history's clock, in nanoseconds. Who led is not known. So a transaction has the earliest
// time at which some server's clock showed what is logged, and that is not before the transaction ahead
// of it: it is never too late. It would be too early only if the servers had committed nothing for as
// long as two offsets differ.
func RightTimes(txns []txnlog.Txn, events []history.Event, offset int64) []txnlog.Txn {
	const millisecond = 1_000_000
	spans := clockSpans(events)
	if len(spans) == 0 {
		return txns
	}
	right := make([]txnlog.Txn, len(txns))
	before := int64(math.MinInt64)
	for i, t := range txns {
		found := int64(math.MaxInt64)
		for _, s := range spans {
			at := t.Time*millisecond - offset - s.offset
			if at >= before && at+millisecond >= s.from && at <= s.to {
				found = min(found, at)
			}
		}
		if found == math.MaxInt64 {
			found = before
		}
		if before = found; found != math.MinInt64 {
			t.Time = (found + offset) / millisecond
		}
		right[i] = t
	}
	return right
}
