package replay

import (
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
)

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
