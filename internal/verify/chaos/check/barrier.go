package check

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/layout"
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

// lingering is for how long the node of a member that was killed, or that could not reach a
// server, may be counted.
const lingering = 30 * time.Second

// presence is the time in which a member of the barrier may be counted.
type presence struct{ from, to int64 }

// rounds finds members that were through Enter although there had never been enough of them since
// the barrier was empty, by what the members say alone. A member that comes while others are in may
// pass at once. See visitsOf for what the servers' logs say.
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

// never is the zxid of what has not happened.
const never = 1<<63 - 1

// member is a member's node in a double barrier, as the servers have committed it.
type member struct {
	path      string
	session   int64
	created   int64 // the zxid
	removed   int64 // the zxid, or never
	removedBy int64 // the session that has deleted it; 0 if it went with its own one
	round     *round
}

// round is one that was opened: by the node "ready", which counts the nodes that are older.
type round struct {
	opened  int64 // the zxid
	removed int64 // the zxid of the deletion of "ready", or never
	members []*member
}

// over returns the zxid from which on nobody may come to the round any more: "ready" is gone, or all
// whom it had counted are, and it is left of a round that died.
func (r *round) over() int64 {
	gone := int64(0)
	for _, m := range r.members {
		gone = max(gone, m.removed)
	}
	return min(r.removed, gone)
}

// committedRounds returns the members' nodes of the barrier at a path, by their paths, and its rounds.
// Each node has the first round that has counted it, if there is one.
func committedRounds(events []history.Event, barrier string) (all map[string]*member, rounds []*round) {
	var committed []history.Event
	for _, e := range events {
		switch e.Kind {
		case history.Created, history.Deleted, history.Over:
			committed = append(committed, e)
		}
	}
	slices.SortStableFunc(committed, func(a, b history.Event) int { return cmp.Compare(a.Value, b.Value) })
	all = map[string]*member{}
	var present []*member
	remove := func(e history.Event, by int64, gone func(m *member) bool) {
		present = slices.DeleteFunc(present, func(m *member) bool {
			if gone(m) {
				m.removed, m.removedBy = e.Value, by
				return true
			}
			return false
		})
	}
	for _, e := range committed {
		switch {
		case e.Kind == history.Over:
			remove(e, 0, func(m *member) bool { return m.session == e.Session })
		case path.Dir(e.Node) != barrier:
		case path.Base(e.Node) == layout.ReadyName:
			if e.Kind == history.Created {
				rounds = append(rounds, open(e.Value, present))
			} else if len(rounds) > 0 {
				rounds[len(rounds)-1].removed = e.Value
			}
		case e.Kind == history.Created:
			m := &member{path: e.Node, session: e.Session, created: e.Value, removed: never}
			all[m.path], present = m, append(present, m)
		default:
			remove(e, e.Session, func(m *member) bool { return m.path == e.Node })
		}
	}
	return all, rounds
}

// open makes a round of those who are present.
func open(zxid int64, present []*member) *round {
	r := &round{opened: zxid, removed: never, members: slices.Clone(present)}
	for _, m := range present {
		if m.round == nil {
			m.round = r
		}
	}
	return r
}
