package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
)

// lingering is for how long the node of a member that was killed, or that could not reach a
// server, may be counted.
const lingering = 30 * time.Second

// presence is the time in which a member of the barrier may be counted.
type presence struct{ from, to int64 }

// rounds finds members that were through Enter although there had never been enough of them since
// the barrier was empty, by what the members say alone. A member that comes while others are in may
// pass at once. See visits.go for what the servers' logs say.
func rounds(events []history.Event) (found []Violation) {
	present := map[string]*presence{}
	byProcess := map[string]*presence{}
	var all []*presence
	var entered []history.Event
	for _, e := range events {
		p := present[operation(e)]
		switch {
		case (e.Kind == history.Killing || e.Kind == history.Ended) && byProcess[e.Process] != nil:
			byProcess[e.Process].to = min(byProcess[e.Process].to, e.At+int64(lingering))
		case e.Workload != worker.Barrier:
		case e.Kind == history.Begin:
			p = &presence{e.At, 1 << 62}
			present[operation(e)], byProcess[e.Process] = p, p
			all = append(all, p)
		case e.Kind == history.Entered:
			entered = append(entered, e)
		case e.Kind == history.Refused, e.Kind == history.Left && e.Text != "":
			p.to = e.At + int64(lingering)
		case e.Kind == history.Left:
			p.to = e.At
		}
	}
	opened := openings(all)
	for _, e := range entered {
		began := present[operation(e)].from
		if !slices.ContainsFunc(opened, func(o presence) bool { return o.from <= e.At && began <= o.to }) {
			found = append(found, Violation{
				Rule: "rounds", At: e.At, Lock: e.Lock,
				Text: fmt.Sprintf("%s is through Enter, though %d members have not come", operation(e), worker.Members),
			})
		}
	}
	return found
}

// openings returns the times from when enough members may have been there until none may.
func openings(all []*presence) (open []presence) {
	type step struct {
		at    int64
		delta int
	}
	var steps []step
	for _, p := range all {
		steps = append(steps, step{p.from, 1}, step{p.to, -1})
	}
	slices.SortFunc(steps, func(a, b step) int {
		if a.at != b.at {
			if a.at < b.at {
				return -1
			}
			return 1
		}
		return b.delta - a.delta // of one instant, those who come are counted first
	})
	count, isOpen := 0, false
	for _, s := range steps {
		count += s.delta
		switch {
		case !isOpen && count >= worker.Members:
			open, isOpen = append(open, presence{s.at, 1 << 62}), true
		case isOpen && count == 0:
			open[len(open)-1].to, isOpen = s.at, false
		}
	}
	return open
}
