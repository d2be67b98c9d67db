package check

import (
	"fmt"
	"math"

	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/chaos/worker"
)

// visit is one stay in the double barrier, from the call of Enter to the end of that of Leave. Times
// that have not come are later than all others.
type visit struct {
	history.Event       // of the beginning
	entered       int64 // when Enter had returned nil
	leaves        int64 // before Leave was called
	left          int64 // when Leave had returned nil
	seen          int64 // the node was there at this time or later; 0 if it is not known
	node          *member
}

// visits are all stays in one barrier.
type visits struct {
	all    []*visit
	byNode map[*member]*visit
}

// visitsOf puts together what the members of a barrier say and what the servers have committed. If
// the history has not both, no node is known, and nothing can be judged.
func visitsOf(events []history.Event) visits {
	v := visits{byNode: map[*member]*visit{}}
	byOp := map[string]*visit{}
	nodes := map[string]*member{}
	for _, e := range events {
		if e.Workload != worker.Barrier {
			continue
		}
		if e.Kind == history.Begin {
			s := &visit{Event: e, entered: math.MaxInt64, leaves: math.MaxInt64, left: math.MaxInt64}
			v.all, byOp[operation(e)] = append(v.all, s), s
			continue
		}
		s := byOp[operation(e)]
		switch {
		case s == nil:
		case e.Kind == history.Entered:
			s.entered = e.At
		case e.Kind == history.Member:
			if len(nodes) == 0 {
				for _, m := range committedMembers(events, e.Lock) {
					nodes[m.path] = m
				}
			}
			if m := nodes[e.Node]; m != nil && m.session == e.Session && m.created == e.Value {
				s.seen, s.node, v.byNode[m] = e.At, m, s
			}
		case e.Kind == history.Leave:
			s.leaves = e.At
		case e.Kind == history.Left && e.Text == "":
			s.left = e.At
		}
	}
	return v
}

// others calls each for the other members of a visit's round that are known, if the visit ended with
// a Leave that returned nil.
func (v visits) others(s *visit, each func(other *visit)) {
	if s.left == math.MaxInt64 || s.node == nil || s.node.round == nil {
		return
	}
	for _, m := range s.node.round.members {
		if other := v.byNode[m]; other != nil && other != s {
			each(other)
		}
	}
}

// counted returns how many members were in whose round is known, and how often one that left had to
// wait for another one.
func counted(v visits) (members, waits int) {
	for _, s := range v.all {
		if s.node != nil && s.node.round != nil {
			members++
		}
		v.others(s, func(*visit) { waits++ })
	}
	return members, waits
}

// uncounted finds members that were through Enter although no round had counted their node, or
// although too few members had come by then. A guest, who has no node, is judged by rounds alone.
func uncounted(v visits) (found []Violation) {
	for _, s := range v.all {
		if s.node == nil {
			continue
		}
		come := 0
		if s.node.round != nil {
			for _, m := range s.node.round.members {
				if other := v.byNode[m]; other == nil || other.At < s.entered { // else it has called Enter later
					come++
				}
			}
		}
		if come < worker.Members {
			found = append(found, Violation{
				Rule: "rounds", At: s.entered, Lock: s.Lock,
				Text: fmt.Sprintf("%s is through Enter, though its round has counted %d members, and not %d", operation(s.Event), come, worker.Members),
			})
		}
	}
	return found
}

// deserted finds members that were through Leave with nil although another member of the same round
// had not called Leave, and its node was there certainly.
func deserted(v visits) (found []Violation) {
	for _, s := range v.all {
		since := v.createdSince(s.left)
		v.others(s, func(other *visit) {
			if other.leaves > s.left && other.stays(s.left, since) {
				found = append(found, Violation{
					Rule: "rounds", At: s.left, Lock: s.Lock,
					Text: fmt.Sprintf("%s is through Leave, though %s is in, with %s, and has not called Leave", operation(s.Event), operation(other.Event), other.node.path),
				})
			}
		})
	}
	return found
}

// createdSince returns the zxid of a node that was certainly created after a time, because Enter was
// called after it; what was committed before that time has a lower one. It returns never if none is
// known.
func (v visits) createdSince(at int64) int64 {
	zxid := int64(never)
	for _, s := range v.all {
		if s.At > at && s.node != nil {
			zxid = min(zxid, s.node.created)
		}
	}
	return zxid
}

// stays tells whether the node of a member that calls Leave after a time was certainly there at that
// time. since is a zxid that is certainly later.
func (s *visit) stays(at, since int64) bool {
	switch {
	case s.seen >= at, s.node.removed == never:
		return true
	case s.node.removedBy == s.node.session:
		return true // nothing but Leave has it deleted by its own session
	}
	return s.node.removed > since
}
