package check

import (
	"fmt"
	"math"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
)

// visit is one stay in the double barrier, from the call of Enter to the end of that of Leave. Times
// that have not come are later than all others.
type visit struct {
	history.Event       // of the beginning
	entered       int64 // when Enter had returned nil
	leaves        int64 // before Leave was called
	left          int64 // when Leave had returned nil
	seen          int64 // when the member looked for its node; 0 if that is not known
	node          *member
	rounds        []*round // that it may be in: one, if it has a node
}

// guest tells whether the member is in without a node.
func (s *visit) guest() bool { return s.seen != 0 && s.node == nil }

// visits are all stays in one barrier.
type visits struct {
	all    []*visit
	byNode map[*member]*visit
}

// visitsOf puts together what the members of a barrier say and what the servers have committed. If
// the history has not both, no round is known, and nothing can be judged.
func visitsOf(events []history.Event) visits {
	v := visits{byNode: map[*member]*visit{}}
	byOp := map[string]*visit{}
	var nodes map[string]*member
	var rounds []*round
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
			if nodes == nil {
				nodes, rounds = committedRounds(events, e.Lock)
			}
			v.place(s, e, nodes, rounds)
		case e.Kind == history.Leave:
			s.leaves = e.At
		case e.Kind == history.Left && e.Text == "":
			s.left = e.At
		}
	}
	return v
}

// place finds out which round a member is in that has looked for its node. A guest is in one that was
// not over before its Enter, and was open when it looked.
func (v visits) place(s *visit, e history.Event, nodes map[string]*member, rounds []*round) {
	if e.Node != "" {
		m := nodes[e.Node]
		if m == nil || m.session != e.Session || m.created != e.Value {
			return // the servers' logs are not there
		}
		s.seen, s.node, v.byNode[m] = e.At, m, s
		if m.round != nil {
			s.rounds = []*round{m.round}
		}
		return
	}
	if len(nodes) == 0 {
		return
	}
	s.seen = e.At
	for _, r := range rounds {
		if r.opened <= e.Token && r.over() > s.Token {
			s.rounds = append(s.rounds, r)
		}
	}
}

// others calls each for the other members of a visit's round that are known, if the visit ended with
// a Leave that returned nil, and the round is known.
func (v visits) others(s *visit, each func(other *visit)) {
	if s.left == math.MaxInt64 || len(s.rounds) != 1 {
		return
	}
	for _, m := range s.rounds[0].members {
		if other := v.byNode[m]; other != nil && other != s {
			each(other)
		}
	}
}

// counted returns how many members were in whose round is known, and how often one that left had to
// wait for another one.
func counted(v visits) (members, waits int) {
	for _, s := range v.all {
		if len(s.rounds) == 1 {
			members++
		}
		v.others(s, func(*visit) { waits++ })
	}
	return members, waits
}

// uncounted finds members that were through Enter although no round had counted their node, although
// too few members had come by then, or, as guests, although no round was open.
func uncounted(v visits) (found []Violation) {
	violate := func(s *visit, format string, args ...any) {
		found = append(found, Violation{
			Rule: "rounds", At: s.entered, Lock: s.Lock,
			Text: fmt.Sprintf("%s is through Enter, though ", operation(s.Event)) + fmt.Sprintf(format, args...),
		})
	}
	for _, s := range v.all {
		switch {
		case s.guest() && len(s.rounds) == 0:
			violate(s, "no round was open, from zxid %#x on", s.Token)
		case s.guest() || s.node == nil:
		case len(s.rounds) == 0:
			violate(s, "no round has counted %s", s.node.path)
		default:
			if come := v.comeBefore(s.entered, s.rounds[0]); come < worker.Members {
				violate(s, "its round has counted %d members, and not %d", come, worker.Members)
			}
		}
	}
	return found
}

// comeBefore returns how many of a round's members may have called Enter before a time.
func (v visits) comeBefore(at int64, r *round) (come int) {
	for _, m := range r.members {
		if s := v.byNode[m]; s == nil || s.At < at {
			come++
		}
	}
	return come
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
