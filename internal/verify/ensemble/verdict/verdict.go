// Package verdict decides for pairs of clients of the same lock whether both believed that they
// held it at the same time. It only computes, and starts nothing.
//
// Its functions may be called from several goroutines as long as no goroutine changes a value that
// another one uses.
package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/exclusion"
)

// Case is a row of the table: pairs under the same kind of fault with the same settings.
type Case struct {
	Scenario string
	Policy   string
	Timeout  time.Duration // the session timeout of the holder
}

// Pair has the measurements of one pair: X, which held a lock when the fault began, and Y, which
// waited for it. The instants are durations since the same origin, by one monotonic clock. Zero means
// never.
type Pair struct {
	Case
	Fault    time.Duration // when the fault began
	Ended    time.Duration // when the context of X's lease ended
	Acquired time.Duration // when Y's Acquire returned
	Watched  time.Duration // when watching ended; later instants do not count
	Error    time.Duration // the maximum error of the time between Ended and Acquired
}

// Outcome is the outcome of a pair.
type Outcome int

// The outcomes.
const (
	// Handed means that X stopped believing that it holds the lock before Y began to, or at the
	// same instant.
	Handed Outcome = iota
	// Overlapped means that Y began to believe before X had stopped.
	Overlapped
	// Kept means that X never stopped, and Y never began.
	Kept
	// Lost means that X stopped, and Y did not begin while they were watched.
	Lost
	// Early means that X stopped before the fault began, so that the pair shows nothing about the
	// fault.
	Early
)

// Judge returns the outcome of a pair. For Overlapped the duration is how long both believed at least,
// and for Handed how long neither believed in between.
func (p Pair) Judge() (Outcome, time.Duration) {
	overlaps, ended := p.overlaps(), p.watched(p.Ended)
	switch {
	case len(overlaps) > 0:
		return Overlapped, overlaps[0].By
	case ended && p.Ended < p.Fault:
		return Early, 0
	case p.watched(p.Acquired):
		return Handed, p.Acquired - p.Ended
	case ended:
		return Lost, 0
	default:
		return Kept, 0
	}
}

// watched tells whether something happened, and counts.
func (p Pair) watched(instant time.Duration) bool { return instant != 0 && instant <= p.Watched }

// overlaps returns the conflict of the pair, if there is one. X has held the lock all the time.
func (p Pair) overlaps() []exclusion.Conflict[exclusion.Hold] {
	holds := []exclusion.Hold{{End: p.Watched, Through: true, Error: p.Error}}
	if p.watched(p.Ended) {
		holds[0].End, holds[0].Through = p.Ended, false
	}
	if p.watched(p.Acquired) {
		holds = append(holds, exclusion.Hold{Begin: p.Acquired, End: p.Watched})
	}
	return exclusion.Find(holds, func(h exclusion.Hold) exclusion.Hold { return h })
}

// Row is the sum of the pairs of a Case. Durations are as measured, not in nominal time.
type Row struct {
	Case
	Pairs    int // without those whose outcome is Early
	Overlaps int
	Doubtful int           // overlaps that are not longer than their error
	Worst    time.Duration // the longest overlap
	Handed   int
	Slack    time.Duration // the shortest time between the two of a pair with the outcome Handed; 0 if there is none
	Kept     int
	Early    int
	Error    time.Duration // the largest error of a pair
}

// Sum returns a row for each case, in the order in which the cases first occur.
func Sum(pairs []Pair) []Row {
	var rows []Row
	for _, p := range pairs {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Case == p.Case })
		if i < 0 {
			i = len(rows)
			rows = append(rows, Row{Case: p.Case})
		}
		rows[i].add(p)
	}
	return rows
}

// add adds a pair to its row.
func (r *Row) add(p Pair) {
	outcome, by := p.Judge()
	if outcome == Early {
		r.Early++
		return
	}
	r.Pairs++
	r.Error = max(r.Error, p.Error)
	switch outcome {
	case Overlapped:
		r.Overlaps++
		r.Worst = max(r.Worst, by)
		if p.overlaps()[0].Doubtful() {
			r.Doubtful++
		}
	case Handed:
		if r.Handed == 0 || by < r.Slack {
			r.Slack = by
		}
		r.Handed++
	case Kept:
		r.Kept++
	}
}

// Silent reports whether the row shows nothing: leases ended, but no lock was granted to Y.
func (r Row) Silent() bool { return r.Handed == 0 && r.Overlaps == 0 && r.Kept < r.Pairs }

// Total returns the sum of the counts of rows. It has no durations, because rows can have different
// scales.
func Total(rows []Row) Row {
	var total Row
	for _, r := range rows {
		total.Pairs += r.Pairs
		total.Overlaps += r.Overlaps
		total.Doubtful += r.Doubtful
		total.Kept += r.Kept
		total.Early += r.Early
	}
	return total
}

// Table returns rows, and their total, as a table in Markdown. All durations are in nominal seconds:
// measured durations are multiplied by scale. Case.Timeout is nominal already.
func Table(rows []Row, scale func(Row) int) string {
	var b strings.Builder
	b.WriteString("| fault | policy | T | pairs | overlaps | worst overlap | least slack | error | leases kept | ended before the fault |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range rows {
		r.write(&b, fmt.Sprintf("%s | %s | %s", r.Scenario, r.Policy, r.Timeout), scale(r))
	}
	if len(rows) > 0 {
		Total(rows).write(&b, "all | | ", 1)
	}
	return b.String()
}

// write writes a line of the table.
func (r Row) write(b *strings.Builder, name string, scale int) {
	worst, slack, wrong := "", "", ""
	if r.Worst > 0 {
		worst = seconds(r.Worst, scale)
	}
	if r.Handed > 0 {
		slack = seconds(r.Slack, scale)
	}
	if r.Error > 0 {
		wrong = seconds(r.Error, scale)
	}
	fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s | %d | %d |\n", name, r.Pairs, r.Overlaps, worst, slack, wrong, r.Kept, r.Early)
}

// seconds returns a measured duration in nominal seconds.
func seconds(d time.Duration, scale int) string {
	return fmt.Sprintf("%.2f s", (time.Duration(scale) * d).Seconds())
}
