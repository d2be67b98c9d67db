package replay_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/chaos/replay"
	"github.com/go-curator/curator/internal/chaos/txnlog"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lock = "/chaos/mutex"

// recorded returns the events of a run: sixteen seconds of the mutex in a minute of attack.
func recorded(t *testing.T) (events []history.Event) {
	t.Helper()
	file, err := os.Open("testdata/mutex.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := history.Read(file, func(e history.Event) { events = append(events, e) }); err != nil {
		t.Fatal(err)
	}
	return events
}

func look(t *testing.T, events []history.Event) replay.Result {
	t.Helper()
	r, err := replay.Find(t.Context(), events, replay.Lock{Workload: "mutex", Path: lock}, model.Limits{States: 8_000})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecorded(t *testing.T) {
	if r := look(t, recorded(t)); !r.Complete {
		t.Error(r)
	}
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

// What was recorded, and then changed, is no path of the model any more.
func TestChanged(t *testing.T) {
	const moment = int64(time.Microsecond)
	for name, change := range map[string]func(t *testing.T, events []history.Event) []history.Event{
		"a grant before the predecessor has released": func(t *testing.T, events []history.Event) []history.Event {
			_, grant := handOver(t, events)
			events[grant].At = releaseOf(t, events, grant) - moment
			return events
		},
		"a belief after the release of the node": func(t *testing.T, events []history.Event) []history.Event {
			released := index(t, events, history.Released, 5)
			held := events[released]
			held.Kind, held.At, held.Text = history.Held, events[released].At+moment, ""
			return slices.Insert(events, released+1, held)
		},
		"a marker of one that never waited": func(t *testing.T, events []history.Event) []history.Event {
			i := index(t, events, history.Created, 1) // the first contender
			for k := range events {
				if events[k].Kind == history.Deleted && events[k].Node == events[i].Node {
					events[k].Kind = history.Marked
				}
			}
			return events
		},
		"a node that is deleted before it is granted": func(t *testing.T, events []history.Event) []history.Event {
			_, grant := handOver(t, events)
			deleted := events[grant]
			deleted.Kind, deleted.Session = history.Deleted, 1
			deleted.At, deleted.Value = releaseOf(t, events, grant)-moment, valueBefore(t, events, events[grant].Node)
			events = slices.DeleteFunc(events, func(e history.Event) bool { return e.Node == deleted.Node && e.Kind == history.Marked })
			return append(events, deleted)
		},
		"a release that succeeds and leaves the node": func(t *testing.T, events []history.Event) []history.Event {
			marked := index(t, events, history.Marked, 3)
			node := events[marked].Node
			return slices.DeleteFunc(events, func(e history.Event) bool { return e.Node == node && e.Kind == history.Marked })
		},
	} {
		t.Run(name, func(t *testing.T) {
			if r := look(t, change(t, recorded(t))); r.Complete {
				t.Errorf("it is a path of the model: %v", r)
			}
		})
	}
}

// handOver returns the indices of a marked release and of the grant that follows from it.
func handOver(t *testing.T, events []history.Event) (marked, grant int) {
	t.Helper()
	slices.SortStableFunc(events, func(a, b history.Event) int { return int(a.At - b.At) })
	for i, e := range events {
		if e.Kind != history.Marked {
			continue
		}
		for k := i + 1; k < len(events); k++ {
			if events[k].Kind == history.Grant && createdBefore(events, events[k].Node, e.At) {
				return i, k
			}
			if events[k].Kind == history.Marked || events[k].Kind == history.Deleted {
				break
			}
		}
	}
	t.Fatal("no grant follows a marked release")
	return 0, 0
}

func createdBefore(events []history.Event, node string, at int64) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.Created && e.Node == node && e.At < at
	})
}

// releaseOf returns the time of the last call of Release before a grant.
func releaseOf(t *testing.T, events []history.Event, grant int) int64 {
	t.Helper()
	for _, e := range slices.Backward(events[:grant]) {
		if e.Kind == history.Release {
			return e.At
		}
	}
	t.Fatal("nobody has released the lock before")
	return 0
}

// valueBefore returns a zxid right behind the creation of a node.
func valueBefore(t *testing.T, events []history.Event, node string) int64 {
	t.Helper()
	for _, e := range events {
		if e.Kind == history.Created && e.Node == node {
			return e.Value
		}
	}
	t.Fatalf("%s was never created", node)
	return 0
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
