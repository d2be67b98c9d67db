package check

import (
	"cmp"
	"slices"

	"github.com/go-curator/curator/internal/verify/chaos/history"
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
