package check

import (
	"fmt"
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
