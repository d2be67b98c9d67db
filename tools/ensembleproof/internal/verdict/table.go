package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Row is the sum of the pairs of a Case. Durations are those that were measured.
type Row struct {
	Case
	Pairs    int // without those that ended early
	Overlaps int
	Doubtful int           // overlaps that are no longer than what is wrong with the instants
	Worst    time.Duration // of the overlaps
	Handed   int
	Slack    time.Duration // the least of the pairs that were handed on; nothing if there are none
	Kept     int
	Early    int
	Error    time.Duration // the largest of a pair
}

// Sum returns a row for each case, in the order in which the cases come first.
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
		if by <= p.Error {
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

// Silent tells whether the row shows nothing: leases ended, and no lock was granted to Y.
func (r Row) Silent() bool { return r.Handed == 0 && r.Overlaps == 0 && r.Kept < r.Pairs }

// Total returns the counts of rows together. It has no durations, because rows can differ in
// their scale.
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

// Table returns rows, and their total, as a table in Markdown. Every duration is in nominal
// seconds: one that was measured is multiplied with scale, as Case.Timeout has been already.
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
