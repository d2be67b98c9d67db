package replay_test

import (
	"cmp"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
	"github.com/go-curator/curator/internal/verify/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lock = "/chaos/mutex"

// logs are runs of 30 s under attack, what is about one lock. All are paths of the model, but hard ones: a
// single wrong guess of the search, that a client has waited when it has not, cost it every order of what
// follows (mutex-1698595027, -700002, -700019). In mutex-700004 a client has waited, and deletes its node
// without the marker because its process was stopped; in downgrades-700012 a session ends before there is a
// lock.
var logs = []string{
	"mutex", "mutex-700002", "mutex-700004", "mutex-700019", "mutex-1698595027", "downgrades-700012",
}

// recorded returns the events of a log, and the lock that they are about.
func recorded(t *testing.T, name string) (events []history.Event, of replay.Lock) {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Read(lines, func(e history.Event) { events = append(events, e) }); err != nil {
		t.Fatal(err)
	}
	of.Workload, _, _ = strings.Cut(name, "-")
	of.Path = "/chaos/" + of.Workload
	if of.Workload == "downgrades" {
		of.Kind = model.ReadWrite
	}
	return events, of
}

func TestRecorded(t *testing.T) {
	for _, name := range logs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, of := recorded(t, name)
			r, err := replay.Find(t.Context(), events, of, 0)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != model.Path {
				t.Error(r)
			}
			t.Log(r)
		})
	}
}

// handedOver returns what was recorded of two acquisitions, the second of which waits for the first. It is
// so short that the search can look at everything.
func handedOver(t *testing.T) (events []history.Event) {
	t.Helper()
	all, _ := recorded(t, "mutex")
	ops := map[string]int64{"go-0.1": 83, "go-2.3": 29}
	nodes := map[string]bool{}
	sessions := map[int64]bool{}
	for _, e := range all {
		if e.Kind == history.Grant && ops[e.Process] == e.Op {
			nodes[e.Node], sessions[e.Session] = true, true
		}
	}
	for _, e := range all {
		of := e.Op != 0 && ops[e.Process] == e.Op || nodes[e.Node] || e.Kind == history.Ready && sessions[e.Session]
		if of {
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	return events
}

// index returns where the event is that is of a kind, and comes after n others of that kind.
func index(t *testing.T, events []history.Event, kind history.Kind, n int) int {
	t.Helper()
	for i, e := range events {
		if e.Kind == kind {
			if n == 0 {
				return i
			}
			n--
		}
	}
	t.Fatalf("there are too few events: %s", kind)
	return 0
}

// What was recorded is a path of the model, and what was then changed is none.
func TestChanged(t *testing.T) {
	const moment = int64(time.Microsecond)
	type events = []history.Event
	for name, change := range map[string]func(t *testing.T, all events) events{
		"nothing": func(_ *testing.T, all events) events { return all },
		"a grant before the predecessor has released": func(t *testing.T, all events) events {
			all[index(t, all, history.Grant, 1)].At = all[index(t, all, history.Release, 0)].At - moment
			return all
		},
		"a belief after the release of the node": func(t *testing.T, all events) events {
			held := all[index(t, all, history.Released, 0)]
			held.Kind, held.At, held.Text = history.Held, held.At+moment, ""
			return append(all, held)
		},
		"a marker of one that never waited": func(t *testing.T, all events) events {
			all[index(t, all, history.Deleted, 0)].Kind = history.Marked
			return all
		},
		"a node that is deleted before it is granted": func(t *testing.T, all events) events {
			marked := index(t, all, history.Marked, 0)
			deleted := all[marked]
			deleted.Kind, deleted.At = history.Deleted, all[index(t, all, history.Release, 0)].At-moment
			deleted.Value = all[index(t, all, history.Created, 1)].Value
			return append(slices.Delete(all, marked, marked+1), deleted)
		},
		"a release that succeeds and leaves the node": func(t *testing.T, all events) events {
			marked := index(t, all, history.Marked, 0)
			return slices.Delete(all, marked, marked+1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := model.Refuted
			if name == "nothing" {
				want = model.Path
			}
			r, err := replay.Find(t.Context(), change(t, handedOver(t)), replay.Lock{Workload: "mutex", Path: lock}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != want {
				t.Error(r)
			}
			t.Log(r)
		})
	}
}

func TestCommitted(t *testing.T) {
	create := func(path string) txnlog.Change { return txnlog.Change{Op: jute.OpCreate, Path: path} }
	remove := func(path string) txnlog.Change { return txnlog.Change{Op: jute.OpDelete, Path: path} }
	txns := []txnlog.Txn{
		{Zxid: 1, Session: 7, Time: 2, Changes: []txnlog.Change{create("/lock")}},
		{Zxid: 2, Session: 7, Time: 2, Changes: []txnlog.Change{create("/lock/a"), create("/lock2/a")}},
		{Zxid: 3, Session: 7, Time: 3, Changes: []txnlog.Change{create("/lock/a.released"), remove("/lock/a.released"), remove("/lock/a")}},
		{Zxid: 4, Session: 7, Time: 4, Ends: true},
		{Zxid: 5, Session: 8, Time: 5, Changes: []txnlog.Change{remove("/lock"), {Op: jute.OpSetData, Path: "/lock/b"}}},
	}
	var got []string
	for _, e := range replay.Committed(txns, []string{"/lock"}, 1_000_000) {
		got = append(got, strings.TrimSpace(time.Duration(e.At).String()+" "+string(e.Kind)+" "+e.Node))
	}
	want := []string{"1ms created /lock", "1ms created /lock/a", "2ms marked /lock/a", "3ms over", "4ms deleted /lock"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTraceOfRefuses(t *testing.T) {
	for name, events := range map[string][]history.Event{
		"a node of nobody's session":    {{At: 1, Kind: history.Created, Node: lock + "/a", Session: 7, Value: 1}},
		"a node that was never created": {{At: 1, Kind: history.Deleted, Node: lock + "/a", Session: 7, Value: 1}},
		"a grant of a node that was never created": {
			{At: 1, Process: "go-0.1", Kind: history.Begin, Workload: "mutex", Op: 1},
			{At: 2, Process: "go-0.1", Kind: history.Grant, Workload: "mutex", Op: 1, Node: lock + "/a", Session: 7},
		},
	} {
		if trace, err := replay.TraceOf(events, replay.Lock{Workload: "mutex", Path: lock}); err == nil {
			t.Errorf("%s: no error, and %v", name, trace)
		}
	}
}
