package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/exclusion"
)

// excluded finds holds of one lock that exclude each other and were believed at the same time,
// and more leases than there are.
func excluded(holds []*hold) (found []Violation) {
	for _, ofLock := range byLock(holds) {
		for _, c := range exclusion.Find(ofLock, (*hold).believed) {
			if c.Begun.Mode == history.Exclusive || c.Others[0].Mode == history.Exclusive {
				found = append(found, both(c.Others[0], c.Begun, c.By))
			} else {
				found = append(found, tooMany(c.Begun, append([]*hold{c.Begun}, c.Others...)))
			}
		}
	}
	return found
}

// believed is the time in which the hold was certainly believed.
func (h *hold) believed() exclusion.Hold {
	return exclusion.Hold{
		Begin: time.Duration(h.At), End: time.Duration(h.end()), Through: true, Shared: h.Mode != history.Exclusive, Leases: h.Max,
	}
}

// byLock returns the holds of each lock, in the order of their grants.
func byLock(holds []*hold) map[string][]*hold {
	locks := map[string][]*hold{}
	for _, h := range holds {
		locks[h.Lock] = append(locks[h.Lock], h)
	}
	return locks
}

// both is the violation of two holds at once.
func both(a, b *hold, overlap time.Duration) Violation {
	return Violation{
		Rule: "exclusion", At: b.At, Lock: b.Lock, Apart: a.foreign() || b.foreign(),
		Text: fmt.Sprintf("%s: %s (%s, token %d, believed until then or for %v more) and %s (%s, token %d) at once",
			b.Lock, operation(a.Event), a.Mode, a.Token, overlap, operation(b.Event), b.Mode, b.Token),
	}
}

// tooMany is the violation of more leases than there are.
func tooMany(h *hold, all []*hold) Violation {
	v := Violation{Rule: "leases", At: h.At, Lock: h.Lock, Text: fmt.Sprintf("%s: %d leases of %d:", h.Lock, len(all), h.Max)}
	for _, h := range all {
		v.Text += fmt.Sprintf(" %s part %d (token %d)", operation(h.Event), h.Part, h.Token)
		v.Apart = v.Apart || h.foreign()
	}
	return v
}

// boundary is the beginning or the end of a hold.
type boundary struct {
	at    int64
	begin bool
	hold  *hold
}

// boundaries returns the beginnings and the ends of holds in the order of time. Of one instant
// the beginnings come first.
func boundaries(holds []*hold) []boundary {
	var all []boundary
	for _, h := range holds {
		all = append(all, boundary{h.At, true, h}, boundary{h.end(), false, h})
	}
	slices.SortStableFunc(all, func(a, b boundary) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		switch {
		case a.begin == b.begin:
			return 0
		case a.begin:
			return -1
		default:
			return 1
		}
	})
	return all
}
