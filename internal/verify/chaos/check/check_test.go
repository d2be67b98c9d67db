package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const second = int64(time.Second)

// script makes a history: each method adds an event a millisecond later than the one before.
type script struct {
	events []history.Event
	now    int64
}

func (s *script) add(process string, op int64, kind history.Kind, change ...func(e *history.Event)) *script {
	s.now += int64(time.Millisecond)
	e := history.Event{At: s.now, Process: process, Op: op, Kind: kind, Workload: "mutex"}
	for _, c := range change {
		c(&e)
	}
	s.events = append(s.events, e)
	return s
}

func (s *script) grant(process string, op, token int64, change ...func(e *history.Event)) *script {
	return s.add(process, op, history.Grant, append([]func(e *history.Event){func(e *history.Event) {
		e.Lock, e.Mode, e.Token, e.Node, e.Session = "/lock", history.Exclusive, token, "/lock/"+process, 7
	}}, change...)...)
}

func (s *script) later(d time.Duration) *script { s.now += int64(d); return s }

func text(t string) func(e *history.Event)   { return func(e *history.Event) { e.Text = t } }
func value(v int64) func(e *history.Event)   { return func(e *history.Event) { e.Value = v } }
func workload(w string) func(*history.Event) { return func(e *history.Event) { e.Workload = w } }
func shared(most int) func(e *history.Event) {
	return func(e *history.Event) { e.Mode, e.Max = history.Shared, most }
}
func token(n int64) func(e *history.Event)    { return func(e *history.Event) { e.Token = n } }
func node(n string) func(e *history.Event)    { return func(e *history.Event) { e.Node = n } }
func session(id int64) func(e *history.Event) { return func(e *history.Event) { e.Session = id } }

func register(key, before, after string) func(e *history.Event) {
	return func(e *history.Event) { e.Key, e.Before, e.Text = key, before, after }
}

// cases are histories, each with the rules that it violates.
var cases = map[string]struct {
	history *script
	want    string
	apart   string
}{
	"one after the other": {new(script).grant("go-0.1", 1, 5).add("go-0.1", 1, history.Held).grant("go-1.1", 1, 6), "", ""},
	"both believe": {
		new(script).grant("go-0.1", 1, 5).grant("go-1.1", 1, 6).add("go-0.1", 1, history.Held), "exclusion", "",
	},
	"goroutines of one process": {
		new(script).grant("go-0.1", 1, 5).grant("go-0.1", 2, 5).add("go-0.1", 1, history.Held), "exclusion", "",
	},
	"a belief of Java": {
		new(script).grant("java-0.1", 1, 0).grant("go-1.1", 1, 6).add("java-0.1", 1, history.Held), "", "exclusion",
	},
	"a release that was confirmed, though another one was in": {
		new(script).grant("go-0.1", 1, 5).grant("go-1.1", 1, 6).add("go-0.1", 1, history.Release).add("go-0.1", 1, history.Released), "exclusion", "",
	},
	"a release that tells of the loss": {
		new(script).grant("go-0.1", 1, 5).grant("go-1.1", 1, 6).add("go-0.1", 1, history.Release).add("go-0.1", 1, history.Released, text(history.ReleaseLost)), "", "",
	},
	"deleted by hand": {
		new(script).grant("go-0.1", 1, 5).add("", 0, history.Deleting, node("/lock/go-0.1")).grant("go-1.1", 1, 6).add("go-0.1", 1, history.Held), "", "",
	},
	"another node deleted by hand": {
		new(script).grant("go-0.1", 1, 5).add("", 0, history.Deleting, node("/lock/go-9.1")).grant("go-1.1", 1, 6).add("go-0.1", 1, history.Held), "exclusion", "",
	},
	"session ended by hand": {
		new(script).grant("go-0.1", 1, 5).add("", 0, history.Expiring, session(7)).grant("go-1.1", 1, 6, session(8)).add("go-0.1", 1, history.Held), "", "",
	},
	"readers": {
		new(script).grant("go-0.1", 1, 5, shared(0)).grant("go-1.1", 1, 6, shared(0)).grant("go-2.1", 1, 7, shared(0)).add("go-0.1", 1, history.Held), "", "",
	},
	"a reader beside a writer": {
		new(script).grant("go-0.1", 1, 5).grant("go-1.1", 1, 6, shared(0)).add("go-0.1", 1, history.Held), "exclusion", "",
	},
	"leases": {
		new(script).grant("go-0.1", 1, 5, shared(2)).grant("go-1.1", 1, 6, shared(2)).add("go-0.1", 1, history.Held), "", "",
	},
	"too many leases": {
		new(script).grant("go-0.1", 1, 5, shared(2)).grant("go-1.1", 1, 6, shared(2)).grant("go-2.1", 1, 7, shared(2)).
			add("go-0.1", 1, history.Held).add("go-1.1", 1, history.Held), "leases", "",
	},
	"a token that falls":      {new(script).grant("go-0.1", 1, 6).grant("go-1.1", 1, 5), "tokens", ""},
	"a token of another node": {new(script).grant("go-0.1", 1, 6).grant("go-1.1", 1, 6), "tokens", ""},
	"a writer's token below that of a reader before": {
		new(script).grant("go-0.1", 1, 6, shared(0)).grant("go-1.1", 1, 5), "tokens", "",
	},
	"handed over":         {new(script).grant("go-0.1", 1, 6).grant("go-0.1", 2, 6), "", ""},
	"within the delay":    {new(script).grant("go-0.1", 1, 5, value(second)).add("go-0.1", 1, history.Lost).grant("go-1.1", 1, 6, value(second)), "lock delay", ""},
	"killed with a delay": {new(script).grant("go-0.1", 1, 5, value(second)).add("go-0.1", 0, history.Killing).grant("go-1.1", 1, 6, value(second)), "lock delay", ""},
	"after the delay":     {new(script).grant("go-0.1", 1, 5, value(second)).add("go-0.1", 1, history.Lost).later(time.Second).grant("go-1.1", 1, 6, value(second)), "", ""},
	"released with a delay": {
		new(script).grant("go-0.1", 1, 5, value(second)).add("go-0.1", 1, history.Release).add("go-0.1", 1, history.Released).grant("go-1.1", 1, 6, value(second)), "", "",
	},
	"late":      {new(script).add("go-0.1", 1, history.Begin, value(second)).later(13*time.Second).add("go-0.1", 1, history.Refused), "answers", ""},
	"in time":   {new(script).add("go-0.1", 1, history.Begin, value(second)).later(5*time.Second).add("go-0.1", 1, history.Refused), "", ""},
	"no answer": {new(script).add("go-0.1", 1, history.Begin, value(second)).later(13*time.Second).add("go-1.1", 1, history.Ready), "answers", ""},
	"stopped": {
		new(script).add("go-0.1", 1, history.Begin, value(second)).add("go-0.1", 0, history.Stopping).later(13*time.Second).
			add("go-0.1", 0, history.Continued).add("go-0.1", 1, history.Refused), "", "",
	},
	"killed": {
		new(script).add("go-0.1", 1, history.Begin, value(second)).add("go-0.1", 0, history.Killing).later(13*time.Second).add("go-1.1", 1, history.Ready), "", "",
	},
	"served": {
		new(script).add("", 0, history.Quiet, text(" go-0:mutex")).add("go-0.3", 1, history.Begin).grant("go-0.3", 1, 5), "", "",
	},
	"served before only": {
		new(script).add("go-0.3", 1, history.Begin).add("", 0, history.Quiet, text(" go-0:mutex")).grant("go-0.3", 1, 5), "served", "",
	},
	"torn": {new(script).add("go-0.1", 0, history.Seen, value(5), text("a=1 b=2")), "snapshots", ""},
	"stale": {
		new(script).add("go-0.1", 1, history.Changed, value(5)).add("go-0.1", 1, history.Changed, value(7)).add("go-0.1", 0, history.Seen, value(7), token(5)), "snapshots", "",
	},
	"as new as it says": {
		new(script).add("go-0.1", 1, history.Changed, value(5)).add("go-0.1", 1, history.Changed, value(7)).add("go-0.1", 0, history.Seen, value(6), token(5)), "", "",
	},
	"back":           {new(script).add("go-0.1", 0, history.Seen, value(5)).add("go-0.1", 0, history.Seen, value(4)), "snapshots", ""},
	"goroutines":     {new(script).add("go-0.1", 0, history.Remains, value(2)), "remains", ""},
	"memory":         {new(script).add("go-0.1", 0, history.Memory, value(1<<30)), "memory", ""},
	"failed":         {new(script).add("go-0.1", 1, history.Failed), "failed", ""},
	"ended":          {new(script).add("go-0.1", 0, history.Ended, text("exit status 2")), "ended", ""},
	"an item twice":  {new(script).add("go-0.1", 1, history.Stored, text("twice")), "items", ""},
	"an item lost":   {new(script).add("go-0.1", 1, history.Stored, text("lost")), "items", ""},
	"an item unread": {new(script).add("go-0.1", 1, history.Stored, text("queued")).add("", 0, history.Quiet), "items", ""},
	"an item late":   {new(script).add("", 0, history.Quiet).add("go-0.1", 1, history.Stored, text("queued")), "", ""},
	"an item refused": {
		new(script).add("go-0.1", 1, history.Unwritten, text("once")), "items", "",
	},
	"an effect of a consumer that had lost the item": {
		new(script).add("go-0.1", 0, history.Take, text("once"), token(5)).add("go-1.1", 0, history.Take, text("once"), token(6)).
			add("go-0.1", 0, history.Commit, text("once"), token(5)).add("go-0.1", 0, history.Done, text("once")), "items", "",
	},
	"an effect that was acknowledged twice": {
		new(script).add("go-0.1", 0, history.Done, text("once")).add("go-1.1", 0, history.Done, text("once")), "items", "",
	},
	"an effect of a consumer that loses the item": {
		new(script).add("go-0.1", 0, history.Take, text("once"), token(5)).add("go-0.1", 0, history.Commit, text("once"), token(5)).
			add("go-1.1", 0, history.Take, text("once"), token(6)).add("go-0.1", 0, history.Done, text("once")), "", "",
	},
	"an update lost": {
		new(script).add("go-0.1", 1, history.Write, register("r", "", "a")).add("go-0.1", 1, history.Wrote, register("r", "", "a")).
			add("go-1.1", 1, history.Write, register("r", "", "b")).add("go-1.1", 1, history.Wrote, register("r", "", "b")), "registers", "",
	},
	"an order that time forbids": {
		new(script).add("go-0.1", 1, history.Write, register("s", "", "a")).add("go-0.1", 1, history.Wrote, register("s", "b", "a")).
			add("go-1.1", 1, history.Write, register("s", "", "b")).add("go-1.1", 1, history.Wrote, register("s", "", "b")), "registers", "",
	},
	"a change in doubt that was applied": {
		new(script).add("go-0.1", 1, history.Write, register("s", "", "a")).
			add("go-1.1", 1, history.Write, register("s", "", "b")).add("go-1.1", 1, history.Wrote, register("s", "a", "b")), "", "",
	},
	"a change in doubt that was not": {
		new(script).add("go-0.1", 1, history.Write, register("s", "", "a")).add("go-0.1", 1, history.Doubtful, register("s", "", "a")).
			add("go-1.1", 1, history.Write, register("s", "", "b")).add("go-1.1", 1, history.Wrote, register("s", "", "b")), "", "",
	},
	"the last change lost": {
		new(script).add("go-0.1", 1, history.Write, register("r", "", "a")).add("go-0.1", 1, history.Wrote, register("r", "", "a")), "registers", "",
	},
	"a barrier for two": {
		new(script).add("go-0.1", 1, history.Begin, workload("barrier")).add("go-1.1", 1, history.Begin, workload("barrier")).
			add("go-0.1", 1, history.Entered, workload("barrier")), "rounds", "",
	},
	"a barrier for three": {
		new(script).add("go-0.1", 1, history.Begin, workload("barrier")).add("go-1.1", 1, history.Begin, workload("barrier")).
			add("go-2.1", 1, history.Begin, workload("barrier")).add("go-0.1", 1, history.Entered, workload("barrier")), "", "",
	},
}

// Each rule finds what it is for, and nothing else.
func TestRules(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result := All(Run{
				Events: c.history.events, Slack: 10 * time.Second, MaxHeap: 1 << 20,
				Registers: map[string]string{"r": "never written"},
				Effects:   map[string]int{"twice": 2, "once": 1}, Items: []string{"queued"},
			})
			if c.want != "items" { // what every history has
				result.Violations = slices.DeleteFunc(result.Violations, func(v Violation) bool { return strings.HasPrefix(v.Text, "twice") })
			}
			if got := rulesOf(result.Violations); got != c.want {
				t.Errorf("found %q (%v), want %q", got, result.Violations, c.want)
			}
			if got := rulesOf(result.Apart); got != c.apart {
				t.Errorf("found apart %q (%v), want %q", got, result.Apart, c.apart)
			}
		})
	}
}

func rulesOf(all []Violation) string {
	var rules []string
	for _, v := range all {
		rules = append(rules, v.Rule)
	}
	slices.Sort(rules)
	return strings.Join(slices.Compact(rules), " ")
}

// A long register is judged in chunks, and a loss in a late one is found.
func TestManyChanges(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s, before := new(script), ""
		for i := range 5 * chunkSize {
			after := strings.Repeat("x", 1) + string(rune('a'+i%26)) + time.Duration(i).String()
			s.add("go-0.1", int64(i), history.Write, register("s", "", after)).add("go-0.1", int64(i), history.Wrote, register("s", before, after))
			if !lost || i != 4*chunkSize {
				before = after
			}
		}
		got := registers(Run{Events: s.events})
		if (len(got) == 1) != lost {
			t.Errorf("lost %t: %v", lost, got)
		}
	}
}

// What is shown around a violation is about its lock, and about the nemesis.
func TestAround(t *testing.T) {
	s := new(script).grant("go-0.1", 1, 5).add("go-3.1", 9, history.Held).add("", 0, history.Fault, text("clients-silent")).grant("go-1.1", 1, 6).add("go-0.1", 1, history.Held)
	v := All(Run{Events: s.events}).Violations[0]
	around := Around(s.events, v, time.Second, time.Second)
	for _, want := range []string{"grant go-0.1", "grant go-1.1", "held go-0.1", "clients-silent"} {
		if !strings.Contains(around, want) {
			t.Errorf("no %q in:\n%s", want, around)
		}
	}
	if strings.Contains(around, "go-3.1") {
		t.Errorf("an operation on another lock in:\n%s", around)
	}
}
