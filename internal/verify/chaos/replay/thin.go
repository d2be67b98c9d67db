package replay

import "github.com/go-curator/curator/internal/verify/chaos/history"

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
