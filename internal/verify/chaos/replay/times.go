package replay

import (
	"math"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
)

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
