package view

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func queueOf(names ...string) (q Queue) {
	var items []layout.Item
	for _, name := range names {
		if it, ok := layout.ParseItem(name); ok {
			items = append(items, it)
		}
	}
	q.classify(items, time.UnixMilli(0x19A00000000))
	return q
}

// Items and lock nodes that may not be read are left out, on servers that do not even show their Stat.
func TestUnreadableQueues(t *testing.T) {
	server := curatortest.Start(t, curatortest.WithRelease("3.9.5"))
	client := server.Client(t)
	for path, perms := range map[string]framework.Perm{
		"/q/queue-0000000001": framework.PermWrite, "/q/queue-0000000002": framework.PermAll, "/q/queue-0000000003": framework.PermAll,
		"/locks/queue-0000000002": framework.PermAll, "/locks/queue-0000000003": framework.PermWrite,
		"/hidden/queue-0000000009": framework.PermWrite,
	} {
		mode := framework.Persistent
		if strings.HasPrefix(path, "/locks") {
			mode = framework.Ephemeral
		}
		create := client.Create().CreatingParentsIfNeeded().WithMode(mode).WithACL(framework.WorldACL(perms))
		if _, err := create.ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Queues(t.Context(), client, "/", time.Now())
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if q := found[0]; q.Path != "/hidden" || q.Error == "" {
		t.Errorf("%+v", q)
	}
	if q := found[1]; q.Path != "/q" || q.Length != 3 || q.Oldest.Node != "/q/queue-0000000002" || q.InWork != 2 || len(q.Consumers) != 1 {
		t.Errorf("%+v", q)
	}
	if Age(time.Time{}) != "-" {
		t.Error("an unknown time has an age")
	}
}

// Of a queue whose items may not be read only some are asked for.
func TestHiddenQueue(t *testing.T) {
	server := curatortest.Start(t, curatortest.WithRelease("3.9.5"))
	client := server.Client(t)
	create := client.Create().CreatingParentsIfNeeded().WithMode(framework.PersistentSequential).WithACL(framework.WorldACL(framework.PermWrite))
	var paths []string
	for range mostRefused + 2 {
		path, err := create.ForPath(t.Context(), "/q/queue-")
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	asks := func(i int) (hit func() bool) {
		return server.Inject(curatortest.Rule{Op: "exists", Path: paths[i], Do: curatortest.Fail(framework.ErrNoAuth)})
	}
	last, next := asks(mostRefused-1), asks(mostRefused)
	found, err := Queues(t.Context(), client, "/q", time.Now())
	if err != nil || len(found) != 1 || found[0].Error == "" || found[0].Oldest != nil || found[0].Kind != "" {
		t.Errorf("%+v, %v", found, err)
	}
	if !last() || next() {
		t.Errorf("asked for item %d: %t, and for the next one: %t", mostRefused, last(), next())
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"queue-0000000001": "plain", "queue-1000000050000000001": "priority", "queue-0FFFFFFFF0000000003": "priority",
		"queue-|19A00000000|0000000002": "delay", "queue-|job 7|0000000000": "id", "queue-|19a00000000|0000000002": "id",
		"queue-||0000000000": "id", "qn-0000000001": "simple", "queue-x": "", "queue-": "", "queue-00000001": "", "lock-0000000001": "",
	} {
		if got := queueOf(name).Kind; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	q := queueOf("queue-|19A00000002|0000000001", "queue-|19A00000000|0000000002", "queue-|19A00000001|0000000003")
	if q.Kind != "delay" || q.Delayed != 2 || !q.NextDue.Equal(time.UnixMilli(0x19A00000001)) {
		t.Errorf("%+v", q)
	}
	q = queueOf("queue-1000000050000000001", "queue-0FFFFFFFF0000000003", "queue-0000000004", "queue-1000000050000000005")
	if q.Kind != mixed || len(q.Priorities) != 2 || q.Priorities[0] != (Priority{-1, 1}) || q.Priorities[1] != (Priority{5, 2}) {
		t.Errorf("%+v", q)
	}
}
