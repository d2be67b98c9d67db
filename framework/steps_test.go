package framework_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/buildergen/spec"
)

// bench is what the check of one step works with.
type bench struct {
	*testing.T
	b       *suite.Backend
	c       *framework.Client
	network *suite.Network
	path    string // does not exist, its parent does
}

func (t bench) ok(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t bench) want(err error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(err, want) {
			t.Fatalf("error %v, want one that matches %v", err, want)
		}
	}
	var op *framework.OpError
	if len(wants) > 0 && !errors.As(err, &op) {
		t.Fatalf("error %v is no *OpError", err)
	}
}

func (t bench) create(path string) string {
	t.Helper()
	actual, err := t.c.Create().ForPath(t.Context(), path)
	t.ok(err)
	return actual
}

func (t bench) exists(path string) bool {
	t.Helper()
	ok, err := t.c.CheckExists().ForPath(t.Context(), path)
	t.ok(err)
	return ok
}

func (t bench) stat(path string) (stat framework.Stat) {
	t.Helper()
	ok, err := t.c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), path)
	t.ok(err)
	if !ok {
		t.Fatalf("%s does not exist", path)
	}
	return stat
}

// steps has a check for every step of every builder, and one for the builder itself.
var steps = map[string]func(t bench){
	"Create":                                  testCreate,
	"Create/WithMode":                         testCreateWithMode,
	"Create/WithData":                         testCreateWithData,
	"Create/CreatingParentsIfNeeded":          testCreateParents,
	"Create/CreatingParentContainersIfNeeded": testCreateContainers,
	"Create/WithProtection":                   testCreateProtection,
	"Create/WithACL":                          testCreateACL,
	"Create/WithACLOnParents":                 testCreateACLOnParents,
	"Create/StoringStatIn": func(t bench) {
		var stat framework.Stat
		_, err := t.c.Create().StoringStatIn(&stat).WithData([]byte("abc")).ForPath(t.Context(), t.path)
		t.ok(err)
		if stat != t.stat(t.path) || stat.DataLength != 3 || stat.Czxid == 0 {
			t.Fatalf("stat %+v", stat)
		}
	},
	"Delete":                          testDelete,
	"Delete/WithVersion":              testDeleteWithVersion,
	"Delete/Guaranteed":               testDeleteGuaranteed,
	"Delete/DeletingChildrenIfNeeded": testDeleteChildren,
	"Delete/Quietly": func(t bench) {
		t.ok(t.c.Delete().Quietly().ForPath(t.Context(), t.path))
	},
	"CheckExists": func(t bench) {
		if t.exists(t.path) {
			t.Fatal("it exists")
		}
		t.create(t.path)
		if !t.exists(t.path) || !t.exists("/") {
			t.Fatal("it does not exist")
		}
	},
	"CheckExists/StoringStatIn": func(t bench) {
		stat := framework.Stat{Version: 7}
		ok, err := t.c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if ok || err != nil || stat.Version != 7 {
			t.Fatalf("%t, %v, %+v", ok, err, stat)
		}
	},
	"CheckExists/UsingWatcher": func(t bench) {
		w, events := watch()
		_, err := t.c.CheckExists().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		t.create(t.path)
		t.event(events, framework.NodeCreated)
	},
	"GetData": func(t bench) {
		_, err := t.c.GetData().ForPath(t.Context(), t.path)
		t.want(err, framework.ErrNoNode)
	},
	"GetData/StoringStatIn": func(t bench) {
		t.create(t.path)
		var stat framework.Stat
		data, err := t.c.GetData().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || string(data) != "test" || stat != t.stat(t.path) {
			t.Fatalf("%q, %v, %+v", data, err, stat)
		}
	},
	"GetData/UsingWatcher": testGetDataWatcher,
	"SetData": func(t bench) {
		_, err := t.c.SetData().ForPath(t.Context(), t.path, nil)
		t.want(err, framework.ErrNoNode)
		t.create(t.path)
		stat, err := t.c.SetData().ForPath(t.Context(), t.path, []byte("new"))
		if err != nil || stat.Version != 1 || stat != t.stat(t.path) {
			t.Fatalf("%+v, %v", stat, err)
		}
		if _, err := t.c.SetData().ForPath(t.Context(), t.path, nil); err != nil || t.stat(t.path).DataLength != 0 {
			t.Fatalf("nil does not empty the node: %v", err)
		}
	},
	"SetData/WithVersion": func(t bench) {
		t.create(t.path)
		for want := range int32(3) {
			_, err := t.c.SetData().WithVersion(want+1).ForPath(t.Context(), t.path, nil)
			t.want(err, framework.ErrBadVersion)
			_, err = t.c.SetData().WithVersion(want).ForPath(t.Context(), t.path, nil)
			t.ok(err)
		}
		_, err := t.c.SetData().WithVersion(-2).ForPath(t.Context(), t.path, nil)
		t.want(err, framework.ErrInvalidBuilder)
	},
	"GetChildren": func(t bench) {
		_, err := t.c.GetChildren().ForPath(t.Context(), t.path)
		t.want(err, framework.ErrNoNode)
		t.create(t.path)
		t.create(t.path + "/b")
		t.create(t.path + "/a")
		names, err := t.c.GetChildren().ForPath(t.Context(), t.path)
		slices.Sort(names)
		if err != nil || !slices.Equal(names, []string{"a", "b"}) {
			t.Fatalf("%q, %v", names, err)
		}
	},
	"GetChildren/StoringStatIn": func(t bench) {
		t.create(t.path)
		t.create(t.path + "/a")
		var stat framework.Stat
		_, err := t.c.GetChildren().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || stat != t.stat(t.path) || stat.NumChildren != 1 {
			t.Fatalf("%+v, %v", stat, err)
		}
	},
	"GetChildren/UsingWatcher": func(t bench) {
		t.create(t.path)
		w, events := watch()
		_, err := t.c.GetChildren().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		t.create(t.path + "/a")
		t.event(events, framework.NodeChildrenChanged)
	},
	"Transaction": testTransaction,
}

// Every step of the specification has a check, and every check is of a step.
func TestEveryStep(t *testing.T) {
	known := map[string]bool{}
	for _, op := range spec.Ops {
		known[op.Name] = true
		for _, m := range op.Mods {
			known[op.Name+"/"+m.Name] = true
		}
	}
	for name := range known {
		if steps[name] == nil {
			t.Errorf("%s has no check", name)
		}
	}
	for name := range steps {
		if !known[name] {
			t.Errorf("the check %s is of no step", name)
		}
	}
}

func TestSteps(t *testing.T) {
	for name, check := range steps {
		t.Run(strings.ReplaceAll(name, "/", "."), func(t *testing.T) {
			suite.Each(t, func(t *testing.T, b *suite.Backend) {
				c, network := b.Client(t)
				path := b.Path("node")
				parent, _, _ := strings.Cut(path[1:], "/")
				if _, err := c.Create().ForPath(t.Context(), "/"+parent); err != nil {
					t.Fatal(err)
				}
				check(bench{t, b, c, network, path})
			})
		})
	}
}

// watch returns a Watcher and what it receives.
func watch() (*framework.Watcher, chan framework.WatchedEvent) {
	events := make(chan framework.WatchedEvent, 16)
	return framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) { events <- e }), events
}

func (t bench) event(events chan framework.WatchedEvent, want framework.EventType) {
	t.Helper()
	e := <-events
	if e.Type != want || e.Path != t.path {
		t.Fatalf("event %+v, want %d at %s", e, want, t.path)
	}
}

func testGetDataWatcher(t bench) {
	t.create(t.path)
	w, events := watch()
	for range 3 { // however often it is set, it is told once
		_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
	}
	_, err := t.c.SetData().ForPath(t.Context(), t.path, nil)
	t.ok(err)
	t.event(events, framework.NodeDataChanged)
	_, err = t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.ok(err)
	t.network.Cut()
	t.event(events, framework.WatchReset)
	_, err = t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.ok(err)
	t.ok(t.c.Delete().ForPath(t.Context(), t.path))
	t.event(events, framework.NodeDeleted)
	_, err = t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNoNode) // and no watch is set
	t.create(t.path)
	if len(events) > 0 {
		t.Fatalf("another event: %+v", <-events)
	}
}

func testTransaction(t bench) {
	t.create(t.path)
	t.create(t.path + "-")
	op := t.c.TransactionOp()
	results, err := t.c.Transaction().ForOperations(t.Context(),
		op.Check().WithVersion(0).ForPath(t.path),
		op.Create().WithMode(framework.EphemeralSequential).WithData([]byte("x")).ForPath(t.path+"-"),
		op.SetData().ForPath(t.path, []byte("y")),
		op.Create().WithMode(framework.Container).WithData(nil).ForPath(t.path+"/c"),
		op.Delete().ForPath(t.path+"-"))
	t.ok(err)
	if len(results) != 5 || !strings.HasPrefix(results[1].Path, t.path+"-0") || results[2].Stat.Version != 1 ||
		results[3].Stat != t.stat(t.path+"/c") || results[3].Path != t.path+"/c" {
		t.Fatalf("results %+v", results)
	}
	sent := t.network.Requests(jute.OpMulti)
	_, err = t.c.Transaction().ForOperations(t.Context(),
		op.SetData().ForPath(t.path, []byte("z")),
		op.Check().WithVersion(9).ForPath(t.path))
	t.want(err, framework.ErrBadVersion)
	var failed *framework.OpError
	if errors.As(err, &failed); failed.Op != "check" || failed.Path != t.path {
		t.Fatalf("failed %+v", failed)
	}
	if v := t.stat(t.path).Version; v != 1 {
		t.Fatalf("version %d: a part was applied", v)
	}
	sent++
	other, _ := t.b.Client(t.T)
	for _, ops := range [][]framework.Op{
		nil, {{}}, {op.Check().ForPath("relative")}, {other.TransactionOp().Check().ForPath(t.path)},
		{op.Create().WithACL().ForPath(t.path)}, {framework.TransactionOp{}.Check().ForPath(t.path)},
	} {
		if _, err := t.c.Transaction().ForOperations(t.Context(), ops...); err == nil {
			t.Errorf("no error for %v", ops)
		}
	}
	if n := t.network.Requests(jute.OpMulti); n != sent {
		t.Errorf("%d multis were sent that make no sense", n-sent)
	}
}
