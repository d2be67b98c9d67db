package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/model"
)

// written returns the events of a history in words, of clients that are connected. Each line is a client,
// the kind of an event, and if that needs one the name of a node, or the mode of an acquisition. There is a
// millisecond between two lines. A number behind the client's name is that of its operation, if that is not
// its last one. One at the end is that of a session, if that is not its last one: all are counted from 1. A
// process that has ended is followed by another one.
func written(t *testing.T, workload string, lines string) (events []history.Event) {
	t.Helper()
	const path = "/lock"
	sessions, ops, processes := map[string]int64{}, map[string]int64{}, map[string]int{}
	at, zxid, session := int64(0), int64(0), int64(0)
	for line := range strings.Lines(lines) {
		words := append(strings.Fields(line), "", "")
		if len(words) < 4 {
			continue
		}
		client, op, given := strings.Cut(words[0], ".")
		at += int64(time.Millisecond)
		process := fmt.Sprintf("%s.%d", client, processes[client])
		if sessions[client] == 0 {
			session++
			sessions[client] = session
			events = append(events, history.Event{At: at - 1, Process: process, Kind: history.Ready, Session: session})
		}
		what := history.Kind(words[1])
		if what == history.Begin {
			ops[client]++
		}
		e := history.Event{At: at, Process: process, Kind: what, Workload: workload, Op: ops[client], Session: sessions[client]}
		if given {
			_, _ = fmt.Sscan(op, &e.Op)
		}
		if words[3] != "" {
			_, _ = fmt.Sscan(words[3], &e.Session)
		}
		switch what {
		case history.Begin:
			e.Mode = history.Mode(words[2])
		case history.Created, history.Deleted, history.Marked, history.Over:
			zxid++
			e = history.Event{At: at, Kind: what, Session: e.Session, Node: path + "/" + words[2], Value: zxid}
		case history.Grant:
			e.Node = path + "/" + words[2]
		case history.Released:
			e.Text = history.ReleaseOK
		case history.Ended:
			processes[client]++
			delete(sessions, client)
		}
		events = append(events, e)
	}
	return events
}

// story is a history in words, and whether it is a path of the model.
type story struct {
	lines string
	path  bool
}

func mutexStories() map[string]story {
	return map[string]story{
		"creations of two processes that were killed": {`
			a begin x
			a killing
			a ended
			a begin x
			a killing
			a ended
			a begin x
			a created 2 2
			a created 3
			a over - 2
			a grant 3
			a held`, true},
		"a deletion a moment before what has led to it, at the end": {`
			a begin x
			a created 1
			a grant 1
			a deleted 1
			a last
			a release`, true},
	}
}

func semaphoreStories() map[string]story {
	const twoLeases = `
			a begin s
			a created 1
			a grant 1
			b begin s
			b created 2
			b grant 2
			c begin s
			c created 3
		`
	return map[string]story{
		"the third lease waits": {twoLeases + `
			b release
			b deleted 2
			c grant 3`, true},
		"three of two leases": {twoLeases + `
			c grant 3
			b release
			b deleted 2`, false},
		"a lease with a marker": {twoLeases + `
			b release
			b marked 2
			c grant 3`, false},
	}
}

func readWriteStories() map[string]story {
	return map[string]story{
		"readers share": {`
			a begin s
			a created __READ__1
			b begin s
			b created __READ__2
			b grant __READ__2
			a grant __READ__1
			b held
			a held`, true},
		"a writer among readers": {`
			a begin s
			a created __READ__1
			a grant __READ__1
			b begin x
			b created __WRIT__2
			b grant __WRIT__2
			b held
			a held`, false},
		"a reader overtakes a writer": {`
			a begin s
			a created __READ__1
			a grant __READ__1
			b begin x
			b created __WRIT__2
			c begin s
			c created __READ__3
			c grant __READ__3
			c held
			a held`, false},
	}
}

func downgradeStories() map[string]story {
	const downgraded = `
			a begin x
			a created __WRIT__1
			a grant __WRIT__1
			b begin x
			b created __WRIT__2
			a release
			a begin s
			a created __READ__1
			a grant __READ__1
		`
	return map[string]story{
		"a downgrade": {downgraded + `
			a deleted __WRIT__1
			a.1 released
			a held
			a release
			a deleted __READ__1
			a released
			b grant __WRIT__2`, true},
		"a downgrade that fails, and leaves its node for a moment": {`
			a begin x
			a created __WRIT__1
			a grant __WRIT__1
			a release
			a begin s
			a created __READ__1
			a refused
			a.1 release
			a deleted __WRIT__1
			a.1 released
			a deleted __READ__1`, true},
		"a downgraded writer lets another one in": {downgraded + `
			a deleted __WRIT__1
			a.1 released
			b grant __WRIT__2
			a held`, false},
		"a downgraded writer with a marker": {downgraded + `
			a marked __WRIT__1
			a.1 released
			a held`, false},
		"a reader in place of a writer that was gone": {`
			a begin x
			a created __WRIT__1
			a grant __WRIT__1
			a release
			a begin s
			b begin x
			a deleted __WRIT__1
			b created __WRIT__2
			b grant __WRIT__2
			a created __READ__1
			a grant __READ__1
			a held
			b held`, false},
	}
}

// TestWritten looks at short histories, some of which are no path of the model.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		lock    replay.Lock
		stories map[string]story
	}{
		{replay.Lock{Workload: "mutex", Path: "/lock"}, mutexStories()},
		{replay.Lock{Workload: "lease", Path: "/lock", Kind: model.Semaphore, Leases: 2}, semaphoreStories()},
		{replay.Lock{Workload: "downgrades", Path: "/lock", Kind: model.ReadWrite}, readWriteStories()},
		{replay.Lock{Workload: "downgrades", Path: "/lock", Kind: model.ReadWrite}, downgradeStories()},
	} {
		for name, s := range c.stories {
			t.Run(name, func(t *testing.T) {
				r, err := replay.Find(t.Context(), written(t, c.lock.Workload, s.lines), c.lock, 0)
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict == model.Undecided || (r.Verdict == model.Path) != s.path {
					t.Error(r)
				}
			})
		}
	}
}
