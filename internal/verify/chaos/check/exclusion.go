package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/exclusion"
)

// hold is a lease, or a part of one, and the time in which it was certainly believed.
type hold struct {
	history.Event // of the grant
	until         int64
	releaseAt     int64  // when the release began, 0 for never
	released      bool   // there is a result of the release
	result        string // of the release
	lostAt        int64  // when the loss was noted, 0 for never
	ended         int64  // when its process ended, 0 for not before
	cut           bool   // the nemesis took it by hand, at until
}

func (h *hold) foreign() bool { return IsForeign(h.Process) }

// lost tells whether the hold ended otherwise than by a release.
func (h *hold) lost() bool {
	return h.released && h.result == history.ReleaseLost || h.lostAt != 0 || h.releaseAt == 0 && h.ended != 0
}

// end is the last moment at which nobody else may be in: that of the last belief, or if the
// release confirmed that the node was there until then, its beginning.
func (h *hold) end() int64 {
	if h.released && h.result == history.ReleaseOK && !h.cut {
		return max(h.until, h.releaseAt)
	}
	return h.until
}

// holdsOf returns all holds, in the order of their grants. What the nemesis took counts until
// then, or not at all.
func holdsOf(events []history.Event) []*hold {
	byOp := map[string][]*hold{}
	byProcess := map[string][]*hold{}
	var all []*hold
	for _, e := range events {
		switch e.Kind {
		case history.Grant:
			h := &hold{Event: e, until: e.At}
			all = append(all, h)
			byOp[operation(e)] = append(byOp[operation(e)], h)
			byProcess[e.Process] = append(byProcess[e.Process], h)
		case history.Killing, history.Ended:
			for _, h := range byProcess[e.Process] {
				if h.ended == 0 && h.releaseAt == 0 {
					h.ended = e.At
				}
			}
			delete(byProcess, e.Process)
		case history.Held, history.Lost, history.Release, history.Released:
			for _, h := range byOp[operation(e)] {
				h.follow(e)
			}
		}
	}
	all = cutByHand(all, events)
	slices.SortStableFunc(all, func(a, b *hold) int { return cmp.Compare(a.At, b.At) })
	return all
}

// follow takes in what became of the hold.
func (h *hold) follow(e history.Event) {
	switch e.Kind {
	case history.Held:
		h.until = max(h.until, e.At)
	case history.Lost:
		if h.lostAt == 0 {
			h.lostAt = e.At
		}
	case history.Release:
		h.releaseAt = e.At
	case history.Released:
		h.released, h.result = true, e.Text
	}
}

// cutByHand ends holds where the nemesis took their node or session.
func cutByHand(all []*hold, events []history.Event) []*hold {
	nodes, sessions := map[string]int64{}, map[int64]int64{}
	for _, e := range events {
		switch e.Kind {
		case history.Deleting:
			if _, known := nodes[e.Node]; !known {
				nodes[e.Node] = e.At
			}
		case history.Expiring:
			if _, known := sessions[e.Session]; !known {
				sessions[e.Session] = e.At
			}
		}
	}
	return slices.DeleteFunc(all, func(h *hold) bool {
		for _, at := range []int64{nodes[h.Node], sessions[h.Session]} {
			if at != 0 && at <= max(h.until, h.releaseAt) {
				h.until, h.cut = min(h.until, at), true
			}
		}
		return h.until < h.At
	})
}

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

// rising finds holds whose token is not above those of the holds that ended before, of which one
// excludes the other. The token of a node is the same for all that hold it, and a reader who was
// the writer has the writer's.
func rising(holds []*hold) (found []Violation) {
	for _, ofLock := range byLock(holds) {
		var exclusive, shared *hold // those with the highest tokens that have ended
		for _, b := range boundaries(ofLock) {
			h := b.hold
			if h.foreign() || h.Max > 0 {
				continue
			}
			switch {
			case b.begin:
				if exclusive != nil && !follows(exclusive, h) {
					found = append(found, fallen(exclusive, h))
				}
				if shared != nil && h.Mode == history.Exclusive && !follows(shared, h) {
					found = append(found, fallen(shared, h))
				}
			case h.Mode == history.Exclusive:
				exclusive = higher(exclusive, h)
			default:
				shared = higher(shared, h)
			}
		}
	}
	return found
}

// follows tells whether the token of b may come after that of a.
func follows(a, b *hold) bool {
	same := a.Node == b.Node || a.Process == b.Process && a.Mode != b.Mode
	return b.Token > a.Token || same && b.Token == a.Token
}

func higher(a, b *hold) *hold {
	if a == nil || b.Token > a.Token {
		return b
	}
	return a
}

func fallen(a, b *hold) Violation {
	return Violation{
		Rule: "tokens", At: b.At, Lock: b.Lock,
		Text: fmt.Sprintf("%s: %s has the token %d after %s with %d", b.Lock, operation(b.Event), b.Token, operation(a.Event), a.Token),
	}
}

// delayed finds holds of a lock with a delay that began too early after one that was lost.
func delayed(holds []*hold) (found []Violation) {
	for _, ofLock := range byLock(holds) {
		var last *hold
		for _, h := range ofLock {
			if h.Value == 0 {
				break
			}
			if last != nil && last.lost() && !last.believedAtRelease() && h.At-last.end() < h.Value {
				found = append(found, Violation{
					Rule: "lock delay", At: h.At, Lock: h.Lock,
					Text: fmt.Sprintf("%s: %s was let in %v after %s was lost; the delay is %v", h.Lock,
						operation(h.Event), time.Duration(h.At-last.end()), operation(last.Event), time.Duration(h.Value)),
				})
			}
			last = h
		}
	}
	return found
}

// believedAtRelease tells whether the release began before the loss was noted: then it may be
// the release that ended the hold.
func (h *hold) believedAtRelease() bool { return h.releaseAt != 0 && h.lostAt == 0 }
