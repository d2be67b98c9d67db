package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// call is a call that can wait.
type call struct {
	history.Event       // of its beginning
	answer        int64 // 0 without one
}

// answered finds calls that were answered too late, or not at all. While its process is stopped
// nothing counts.
func answered(r Run) (found []Violation) {
	calls := map[string]*call{}
	var order []*call
	last, ended := int64(0), map[string]int64{}
	for _, e := range r.Events {
		last = max(last, e.At)
		switch e.Kind {
		case history.Begin, history.Leave:
			c := &call{Event: e}
			calls[operation(e)] = c
			order = append(order, c)
		case history.Grant, history.Lost, history.Refused, history.Entered, history.Left:
			if c := calls[operation(e)]; c != nil && c.answer == 0 {
				c.answer = e.At
			}
		case history.Killing, history.Ended:
			if ended[e.Process] == 0 {
				ended[e.Process] = e.At
			}
		}
	}
	stops := stopsOf(r.Events)
	for _, c := range order {
		if c.Value == 0 || IsForeign(c.Process) {
			continue
		}
		until := c.answer
		if until == 0 {
			until = last
			if at := ended[c.Process]; at != 0 {
				until = at
			}
		}
		took := time.Duration(until - c.At - stops.within(c.Process, c.At, until))
		if late := took - time.Duration(c.Value); late > r.Slack {
			found = append(found, Violation{
				Rule: "answers", At: until, Lock: c.Lock,
				Text: fmt.Sprintf("%s of %s: no answer for %v after its time of %v", operation(c.Event), c.Workload, late, time.Duration(c.Value)),
			})
		}
	}
	return found
}

// stops are the times in which processes were stopped.
type stops map[string][][2]int64

func stopsOf(events []history.Event) stops {
	all, since := stops{}, map[string]int64{}
	for _, e := range events {
		switch e.Kind {
		case history.Stopping:
			since[e.Process] = e.At
		case history.Continued:
			all[e.Process] = append(all[e.Process], [2]int64{since[e.Process], e.At})
		}
	}
	return all
}

// within returns for how long the process was stopped in a time.
func (s stops) within(process string, from, to int64) (sum int64) {
	for _, stop := range s[process] {
		sum += max(0, min(to, stop[1])-max(from, stop[0]))
	}
	return sum
}

// Unserved finds who was not served between the end of the faults and that of the run: of every
// process of ours that was asked to work then, the workloads in which nothing that began after the
// faults has succeeded. Before the end of the faults it finds nothing.
func Unserved(events []history.Event) (found []Violation) {
	quiet := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Quiet })
	if quiet < 0 {
		return nil
	}
	waiting := map[string]bool{} // by process and workload
	for name := range strings.FieldsSeq(events[quiet].Text) {
		waiting[name] = true
	}
	began := map[string]bool{}
	at := events[quiet].At
	for _, e := range events[quiet:] {
		switch e.Kind {
		case history.Begin:
			began[operation(e)] = true
		case history.Grant, history.Entered:
			if began[operation(e)] {
				delete(waiting, Demand(e.Process, e.Workload))
			}
		case history.Stored, history.Awaited:
			delete(waiting, Demand(e.Process, e.Workload))
		case history.Last:
			at = e.At
		}
	}
	for name := range waiting {
		found = append(found, Violation{Rule: "served", At: at, Text: name + " was not served after the faults"})
	}
	slices.SortFunc(found, func(a, b Violation) int { return strings.Compare(a.Text, b.Text) })
	return found
}

// Demand names what a process wants of a workload, whichever run of the process it is: the Text
// of history.Quiet has all of them, separated by spaces.
func Demand(process, workload string) string {
	name, _, _ := strings.Cut(process, ".")
	return fmt.Sprintf("%s:%s", name, workload)
}
