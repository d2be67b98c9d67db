package check

import (
	"testing"

	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/chaos/worker"
)

const barrierPath = "/chaos/barrier"

// tale is the history of a double barrier for three.
type tale struct {
	script
	zxid int64
}

// says notes something of a member, whose only operation it is.
func (s *tale) says(process string, kind history.Kind, change ...func(e *history.Event)) *tale {
	s.add(process, 1, kind, append([]func(e *history.Event){workload(worker.Barrier), func(e *history.Event) { e.Lock = barrierPath }}, change...)...)
	return s
}

// commits has the servers commit something, by a session. The time of the log says nothing.
func (s *tale) commits(kind history.Kind, session int64, name string) *tale {
	s.zxid++
	e := history.Event{At: s.now - 1, Kind: kind, Session: session, Value: s.zxid}
	if name != "" {
		e.Node = barrierPath + "/" + name
	}
	s.events = append(s.events, e)
	return s
}

// sessionOfTale is the session of a process: its number and that of its run.
func sessionOfTale(process string) int64 { return int64(process[3]-'0')*10 + int64(process[5]-'0') }

// nodeOf is the name of the process's node.
func nodeOf(process string) string { return "n-" + process }

// comes has members call Enter, and create their nodes.
func (s *tale) comes(processes ...string) *tale {
	for _, p := range processes {
		s.says(p, history.Begin).commits(history.Created, sessionOfTale(p), nodeOf(p))
	}
	return s
}

// opens has a session create "ready".
func (s *tale) opens() *tale { return s.commits(history.Created, 1, "ready") }

// isIn has Enter return nil.
func (s *tale) isIn(processes ...string) *tale {
	for _, p := range processes {
		s.says(p, history.Entered)
	}
	return s
}

// isSeen has members see their nodes.
func (s *tale) isSeen(processes ...string) *tale {
	for _, p := range processes {
		created := int64(0)
		for _, e := range s.events {
			if e.Kind == history.Created && e.Node == barrierPath+"/"+nodeOf(p) {
				created = e.Value
			}
		}
		s.says(p, history.Member, session(sessionOfTale(p)), node(barrierPath+"/"+nodeOf(p)), value(created))
	}
	return s
}

// guest has a member come that has seen what was committed before, enter, and see that it has no node.
func (s *tale) guest(process string) *tale {
	return s.says(process, history.Begin, token(s.zxid)).isIn(process).seesNoNode(process)
}

func (s *tale) seesNoNode(process string) *tale {
	return s.says(process, history.Member, session(sessionOfTale(process)), token(s.zxid))
}

// leaves has members call Leave, and delete their nodes.
func (s *tale) leaves(processes ...string) *tale {
	for _, p := range processes {
		s.says(p, history.Leave).commits(history.Deleted, sessionOfTale(p), nodeOf(p))
	}
	return s
}

// hasLeft has Leave return nil.
func (s *tale) hasLeft(processes ...string) *tale {
	for _, p := range processes {
		s.says(p, history.Left)
	}
	return s
}

func (s *tale) dies(process string) *tale {
	s.add(process, 0, history.Killing)
	return s
}

// over has the servers end the session of a process.
func (s *tale) over(process string) *tale {
	return s.commits(history.Over, sessionOfTale(process), "")
}

// round has three members come and enter, and see their nodes.
func (s *tale) round() *tale {
	const a, b, c = "go-0.1", "go-1.1", "go-2.1"
	return s.comes(a, b, c).opens().isIn(a, b, c).isSeen(a, b, c)
}

// Nobody leaves before the others, and nobody is counted too early: by what members say, and by what
// the servers have committed.
func TestVisits(t *testing.T) {
	const a, b, c, d, again = "go-0.1", "go-1.1", "go-2.1", "go-3.1", "go-0.2"
	for name, tt := range map[string]struct {
		history *tale
		found   int
	}{
		"all leave, then return":          {new(tale).round().leaves(a, b, c).hasLeft(c, b, a), 0},
		"one returns before another call": {new(tale).round().leaves(a, b).hasLeft(a).leaves(c).hasLeft(b, c), 1},
		"two return":                      {new(tale).round().leaves(a, b).hasLeft(a, b).leaves(c).hasLeft(c), 2},
		"an error promises nothing": {
			new(tale).round().leaves(a, b).says(a, history.Left, text("deadline")).leaves(c).hasLeft(b, c), 0,
		},
		"the other one's Leave fails later": {
			new(tale).round().leaves(a, b).hasLeft(a, b).leaves(c).says(c, history.Left, text("deadline")), 2,
		},
		"the other one had died": {
			new(tale).round().dies(c).leaves(a, b).over(c).hasLeft(a, b).comes(again, d), 0,
		},
		"the other one had died, but its node was there": {
			new(tale).round().dies(c).leaves(a, b).hasLeft(a, b).comes(again).isIn(again).isSeen(again).over(c), 2 + 1, // and again is in alone
		},
		"the other one had died, and nothing tells when its node went": {
			new(tale).round().dies(c).leaves(a, b).hasLeft(a, b).over(c).comes(again), 0,
		},
		"the other one's session had ended, which it does not know": {
			new(tale).round().leaves(a, b).over(c).hasLeft(a, b).says(c, history.Leave).says(c, history.Left, text("lost")), 0,
		},
		"somebody else had deleted the other one's node": {
			new(tale).round().leaves(a, b).commits(history.Deleted, 99, nodeOf(c)).hasLeft(a, b).says(c, history.Leave).says(c, history.Left, text("lost")), 0,
		},
		"the other one's node was never deleted": {
			new(tale).round().dies(c).leaves(a, b).hasLeft(a, b), 2,
		},
		"the other one sees its node afterwards": {
			new(tale).comes(a, b, c).opens().isIn(a, b, c).isSeen(a, b).leaves(a, b).hasLeft(a, b).isSeen(c).over(c), 2,
		},
		"the other one never saw its node": {
			new(tale).comes(a, b, c).opens().isIn(a, b, c).isSeen(a, b).leaves(a, b).hasLeft(a, b).leaves(c).hasLeft(c), 0,
		},
		"the one that leaves never saw its node": {
			new(tale).comes(a, b, c).opens().isIn(a, b, c).isSeen(b, c).leaves(a, b).hasLeft(a).leaves(c).hasLeft(b, c), 0,
		},
		"a guest is not waited for": {
			new(tale).round().says(d, history.Begin).isIn(d).leaves(a, b, c).hasLeft(a, b, c).says(d, history.Leave).hasLeft(d), 0,
		},
		"a guest waits": {
			new(tale).round().guest(d).leaves(a, b).says(d, history.Leave).hasLeft(d).leaves(c).hasLeft(a, b, c), 1,
		},
		"a guest of one round or of the next one": {
			new(tale).round().says(d, history.Begin, token(5)).leaves(a, b, c).commits(history.Deleted, 1, "ready").
				comes("go-0.2", "go-1.2", "go-2.2").opens().isIn(d, "go-0.2", "go-1.2", "go-2.2").isSeen("go-0.2", "go-1.2", "go-2.2").
				seesNoNode(d).says(d, history.Leave).hasLeft(d).leaves("go-0.2"), 0,
		},
		"a guest when the round is over": {
			new(tale).round().leaves(a, b, c).commits(history.Deleted, 1, "ready").hasLeft(a, b, c).guest(d), 1,
		},
		"a guest while the round ends": {
			new(tale).round().says(d, history.Begin, token(6)).leaves(a, b, c).commits(history.Deleted, 1, "ready").isIn(d).seesNoNode(d), 0,
		},
		"a guest of a round that died": {
			new(tale).round().dies(a).dies(b).dies(c).over(a).over(b).over(c).guest(d), 1,
		},
		"a guest of a round of which one lives": {
			new(tale).round().dies(a).dies(b).over(a).over(b).guest(d), 0,
		},
		"a guest before the first round": {new(tale).comes(a).guest(d), 1},
		"one of the next round is not waited for": {
			new(tale).round().comes(d).leaves(a, b, c).hasLeft(a, b, c).commits(history.Deleted, 1, "ready").
				comes("go-0.2", "go-1.2").opens().isIn(d, "go-0.2", "go-1.2").isSeen(d).leaves(d), 0,
		},
		"a fourth one that was counted is waited for": {
			new(tale).comes(a, b, c, d).opens().isIn(a, b, c, d).isSeen(a, b, c, d).leaves(a, b, c).hasLeft(a).leaves(d).hasLeft(b, c, d), 1,
		},
		"two of three": {
			new(tale).comes(a, b).opens().isIn(a).isSeen(a).comes(c).isIn(b, c), 1,
		},
		"the third one comes when the first one is in": {
			new(tale).comes(a, b).isIn(a).comes(c).opens().isSeen(a, c).isIn(b, c), 1,
		},
		"three, of whom one is not known any more": {
			new(tale).comes(a, b, c).opens().isIn(a).isSeen(a).dies(c).over(c), 0,
		},
		"a round that the node was too late for": {
			new(tale).comes(a, b, c).opens().comes(d).isIn(a, b, c, d).isSeen(d), 1,
		},
		"without the servers' logs": {
			new(tale).says(a, history.Begin).says(b, history.Begin).says(c, history.Begin).isIn(a, b, c).
				says(a, history.Leave).hasLeft(a).says(b, history.Leave).says(c, history.Leave).hasLeft(b, c), 0,
		},
		"seen, but without the servers' logs": {
			new(tale).says(a, history.Begin).says(b, history.Begin).says(c, history.Begin).isIn(a, b, c).isSeen(a, b, c).
				says(a, history.Leave).hasLeft(a).says(b, history.Leave).says(c, history.Leave).hasLeft(b, c), 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := visitsOf(tt.history.events)
			found := append(uncounted(v), deserted(v)...)
			if len(found) != tt.found {
				t.Errorf("found %d, want %d: %v", len(found), tt.found, found)
			}
			for _, f := range found {
				if f.Rule != "rounds" || f.Lock != barrierPath || f.At == 0 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// What was judged is counted: a rule that never applies would find nothing, too.
func TestCounted(t *testing.T) {
	const a, b, c = "go-0.1", "go-1.1", "go-2.1"
	s := new(tale).round().leaves(a, b, c).hasLeft(a, b).says(c, history.Left, text("deadline"))
	r := All(Run{Events: s.events})
	if r.Rounds != 3 || r.Counted != 3 || r.Waits != 4 || len(r.Violations) != 0 {
		t.Errorf("%d entered, %d counted, %d waits, and %v", r.Rounds, r.Counted, r.Waits, r.Violations)
	}
}
