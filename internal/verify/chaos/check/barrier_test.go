package check

import (
	"testing"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
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
	return s.comes(go0, go1, go2).opens().isIn(go0, go1, go2).isSeen(go0, go1, go2)
}

// The members of the tales.
const go0, go1, go2, go3, again = "go-0.1", "go-1.1", "go-2.1", "go-3.1", "go-0.2"

// tales are histories, each with how many violations it has.
var tales = map[string]struct {
	history *tale
	found   int
}{
	"all leave, then return":          {new(tale).round().leaves(go0, go1, go2).hasLeft(go2, go1, go0), 0},
	"one returns before another call": {new(tale).round().leaves(go0, go1).hasLeft(go0).leaves(go2).hasLeft(go1, go2), 1},
	"two return":                      {new(tale).round().leaves(go0, go1).hasLeft(go0, go1).leaves(go2).hasLeft(go2), 2},
	"an error promises nothing": {
		new(tale).round().leaves(go0, go1).says(go0, history.Left, text("deadline")).leaves(go2).hasLeft(go1, go2), 0,
	},
	"the other one's Leave fails later": {
		new(tale).round().leaves(go0, go1).hasLeft(go0, go1).leaves(go2).says(go2, history.Left, text("deadline")), 2,
	},
	"the other one had died": {
		new(tale).round().dies(go2).leaves(go0, go1).over(go2).hasLeft(go0, go1).comes(again, go3), 0,
	},
	"the other one had died, but its node was there": {
		new(tale).round().dies(go2).leaves(go0, go1).hasLeft(go0, go1).comes(again).isIn(again).isSeen(again).over(go2), 2 + 1, // and again is in alone
	},
	"the other one had died, and nothing tells when its node went": {
		new(tale).round().dies(go2).leaves(go0, go1).hasLeft(go0, go1).over(go2).comes(again), 0,
	},
	"the other one's session had ended, which it does not know": {
		new(tale).round().leaves(go0, go1).over(go2).hasLeft(go0, go1).says(go2, history.Leave).says(go2, history.Left, text("lost")), 0,
	},
	"somebody else had deleted the other one's node": {
		new(tale).round().leaves(go0, go1).commits(history.Deleted, 99, nodeOf(go2)).hasLeft(go0, go1).says(go2, history.Leave).says(go2, history.Left, text("lost")), 0,
	},
	"the other one's node was never deleted": {
		new(tale).round().dies(go2).leaves(go0, go1).hasLeft(go0, go1), 2,
	},
	"the other one sees its node afterwards": {
		new(tale).comes(go0, go1, go2).opens().isIn(go0, go1, go2).isSeen(go0, go1).leaves(go0, go1).hasLeft(go0, go1).isSeen(go2).over(go2), 2,
	},
	"the other one never saw its node": {
		new(tale).comes(go0, go1, go2).opens().isIn(go0, go1, go2).isSeen(go0, go1).leaves(go0, go1).hasLeft(go0, go1).leaves(go2).hasLeft(go2), 0,
	},
	"the one that leaves never saw its node": {
		new(tale).comes(go0, go1, go2).opens().isIn(go0, go1, go2).isSeen(go1, go2).leaves(go0, go1).hasLeft(go0).leaves(go2).hasLeft(go1, go2), 0,
	},
	"a guest is not waited for": {
		new(tale).round().says(go3, history.Begin).isIn(go3).leaves(go0, go1, go2).hasLeft(go0, go1, go2).says(go3, history.Leave).hasLeft(go3), 0,
	},
	"a guest waits": {
		new(tale).round().guest(go3).leaves(go0, go1).says(go3, history.Leave).hasLeft(go3).leaves(go2).hasLeft(go0, go1, go2), 1,
	},
	"a guest of one round or of the next one": {
		new(tale).round().says(go3, history.Begin, token(5)).leaves(go0, go1, go2).commits(history.Deleted, 1, "ready").
			comes("go-0.2", "go-1.2", "go-2.2").opens().isIn(go3, "go-0.2", "go-1.2", "go-2.2").isSeen("go-0.2", "go-1.2", "go-2.2").
			seesNoNode(go3).says(go3, history.Leave).hasLeft(go3).leaves("go-0.2"), 0,
	},
	"a guest when the round is over": {
		new(tale).round().leaves(go0, go1, go2).commits(history.Deleted, 1, "ready").hasLeft(go0, go1, go2).guest(go3), 1,
	},
	"a guest while the round ends": {
		new(tale).round().says(go3, history.Begin, token(6)).leaves(go0, go1, go2).commits(history.Deleted, 1, "ready").isIn(go3).seesNoNode(go3), 0,
	},
	"a guest of a round that died": {
		new(tale).round().dies(go0).dies(go1).dies(go2).over(go0).over(go1).over(go2).guest(go3), 1,
	},
	"a guest of a round of which one lives": {
		new(tale).round().dies(go0).dies(go1).over(go0).over(go1).guest(go3), 0,
	},
	"a guest before the first round": {new(tale).comes(go0).guest(go3), 1},
	"one of the next round is not waited for": {
		new(tale).round().comes(go3).leaves(go0, go1, go2).hasLeft(go0, go1, go2).commits(history.Deleted, 1, "ready").
			comes("go-0.2", "go-1.2").opens().isIn(go3, "go-0.2", "go-1.2").isSeen(go3).leaves(go3), 0,
	},
	"a fourth one that was counted is waited for": {
		new(tale).comes(go0, go1, go2, go3).opens().isIn(go0, go1, go2, go3).isSeen(go0, go1, go2, go3).leaves(go0, go1, go2).hasLeft(go0).leaves(go3).hasLeft(go1, go2, go3), 1,
	},
	"two of three": {
		new(tale).comes(go0, go1).opens().isIn(go0).isSeen(go0).comes(go2).isIn(go1, go2), 1,
	},
	"the third one comes when the first one is in": {
		new(tale).comes(go0, go1).isIn(go0).comes(go2).opens().isSeen(go0, go2).isIn(go1, go2), 1,
	},
	"three, of whom one is not known any more": {
		new(tale).comes(go0, go1, go2).opens().isIn(go0).isSeen(go0).dies(go2).over(go2), 0,
	},
	"a round that the node was too late for": {
		new(tale).comes(go0, go1, go2).opens().comes(go3).isIn(go0, go1, go2, go3).isSeen(go3), 1,
	},
	"without the servers' logs": {
		new(tale).says(go0, history.Begin).says(go1, history.Begin).says(go2, history.Begin).isIn(go0, go1, go2).
			says(go0, history.Leave).hasLeft(go0).says(go1, history.Leave).says(go2, history.Leave).hasLeft(go1, go2), 0,
	},
	"seen, but without the servers' logs": {
		new(tale).says(go0, history.Begin).says(go1, history.Begin).says(go2, history.Begin).isIn(go0, go1, go2).isSeen(go0, go1, go2).
			says(go0, history.Leave).hasLeft(go0).says(go1, history.Leave).says(go2, history.Leave).hasLeft(go1, go2), 0,
	},
}

// Nobody leaves before the others, and nobody is counted too early: by what members say, and by what
// the servers have committed.
func TestVisits(t *testing.T) {
	for name, tt := range tales {
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
	s := new(tale).round().leaves(go0, go1, go2).hasLeft(go0, go1).says(go2, history.Left, text("deadline"))
	r := All(Run{Events: s.events})
	if r.Rounds != 3 || r.Counted != 3 || r.Waits != 4 || len(r.Violations) != 0 {
		t.Errorf("%d entered, %d counted, %d waits, and %v", r.Rounds, r.Counted, r.Waits, r.Violations)
	}
}
