package framework_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
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

// check shows what one step does. It ends with a client that still can be used, or closed.
type check = func(t bench)

// steps has a check for every step of every builder, and one for the builder itself.
var steps = func() map[string]check {
	all := map[string]check{}
	for _, some := range []map[string]check{createSteps, writeSteps, readSteps, watchSteps, configSteps, opsSteps} {
		maps.Copy(all, some)
	}
	return all
}()

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
	t.Parallel()
	for name, check := range steps {
		t.Run(strings.ReplaceAll(name, "/", "."), func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
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

// removed shows that a watcher is told, next, that its watches of the node were removed.
func (t bench) removed(events chan framework.WatchedEvent, kinds ...framework.EventType) {
	t.Helper()
	for _, kind := range kinds {
		t.event(events, kind)
	}
}

// silent closes the client, which waits for what its watchers have still to be told, and
// fails if that was anything.
func (t bench) silent(events ...chan framework.WatchedEvent) {
	t.Helper()
	t.ok(t.c.Close(context.WithoutCancel(t.Context())))
	for i, ch := range events {
		if len(ch) > 0 {
			t.Fatalf("watcher %d is told of %+v", i, <-ch)
		}
	}
}

// data returns a node's data as it is stored.
func (t bench) data(path string) string {
	t.Helper()
	data, err := t.c.GetData().Undecompressed().ForPath(t.Context(), path)
	t.ok(err)
	return string(data)
}

func (t bench) set(path, data string) {
	t.Helper()
	_, err := t.c.SetData().ForPath(t.Context(), path, []byte(data))
	t.ok(err)
}
