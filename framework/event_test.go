package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

type eventKey struct{}

// events adds a listener, and returns what it receives.
func (t bench) events() chan framework.Event {
	events := make(chan framework.Event, 16)
	t.c.CuratorListenable().Add(func(_ context.Context, e framework.Event) { events <- e })
	return events
}

// A listener is told what an operation in the background has returned, with the values of its
// context and without its end.
func TestEvents(t *testing.T) {
	eachBench(t, func(t bench) {
		events := t.events()
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), eventKey{}, "value"))
		outcome := func(err error) framework.Event {
			t.Helper()
			t.ok(err)
			e := <-events
			if e.Err != nil || e.Context().Value(eventKey{}) != "value" || e.Context().Done() != nil {
				t.Fatalf("event %+v, value %v", e, e.Context().Value(eventKey{}))
			}
			return e
		}
		equal := func(got, want framework.Event) {
			t.Helper()
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(framework.Event{})); diff != "" {
				t.Fatalf("event (-want +got):\n%s", diff)
			}
		}
		child := t.path + "/n"
		e := outcome(t.c.Create().CreatingParentsIfNeeded().WithMode(framework.PersistentSequential).WithData([]byte("x")).
			InBackground(ctx, child, nil))
		if !strings.HasPrefix(e.Name, child+"0") {
			t.Fatalf("event %+v", e)
		}
		stat := t.stat(e.Name)
		equal(e, framework.Event{Op: "create", Path: child, Name: e.Name, Stat: &stat})
		child = e.Name
		equal(outcome(t.c.GetData().InBackground(ctx, child, nil)),
			framework.Event{Op: "getData", Path: child, Data: []byte("x"), Stat: &stat})
		equal(outcome(t.c.CheckExists().InBackground(ctx, child, nil)), framework.Event{Op: "exists", Path: child, Stat: &stat})
		equal(outcome(t.c.CheckExists().InBackground(ctx, t.path+"/none", nil)), framework.Event{Op: "exists", Path: t.path + "/none"})
		equal(outcome(t.c.GetACL().InBackground(ctx, child, nil)),
			framework.Event{Op: "getACL", Path: child, ACL: framework.OpenACLUnsafe(), Stat: &stat})
		e = outcome(t.c.SetData().InBackground(ctx, child, []byte("y"), nil))
		stat = t.stat(child)
		equal(e, framework.Event{Op: "setData", Path: child, Stat: &stat})
		e = outcome(t.c.SetACL().InBackground(ctx, child, framework.OpenACLUnsafe(), nil))
		stat = t.stat(child)
		equal(e, framework.Event{Op: "setACL", Path: child, Stat: &stat})
		cancel() // what follows is done all the same, and its event has a context that goes on
		var stored framework.Stat
		e = outcome(t.c.GetChildren().StoringStatIn(&stored).InBackground(ctx, t.path, nil))
		stat = t.stat(t.path)
		equal(e, framework.Event{Op: "getChildren", Path: t.path, Children: []string{child[len(t.path)+1:]}, Stat: &stat})
		if e.Stat == &stored || stored != stat {
			t.Error("the event has the Stat of the user")
		}
		equal(outcome(t.c.Sync().InBackground(ctx, t.path, nil)), framework.Event{Op: "sync", Path: t.path})
		w, _ := watch()
		equal(outcome(t.c.Watches().Add().InBackground(ctx, t.path, w, nil)), framework.Event{Op: "addWatch", Path: t.path})
		equal(outcome(t.c.Watches().Remove().InBackground(ctx, t.path, w, nil)), framework.Event{Op: "removeWatches", Path: t.path})
		config, err := t.c.GetConfig().StoringStatIn(&stat).ForEnsemble(t.Context())
		t.ok(err)
		equal(outcome(t.c.GetConfig().InBackground(ctx, nil)), framework.Event{Op: "getConfig", Data: config, Stat: &stat})
		equal(outcome(t.c.Delete().InBackground(ctx, child, nil)), framework.Event{Op: "delete", Path: child})
	})
}

// An event has the results of several operations, also if they have failed.
func TestEventsOfSeveralOperations(t *testing.T) {
	eachBench(t, func(t bench) {
		events := t.events()
		t.create(t.path)
		op := t.c.TransactionOp()
		bad := []framework.Op{op.SetData().ForPath(t.path, nil), op.Delete().ForPath(t.path + "/none")}
		t.ok(t.c.Transaction().InBackground(t.Context(), bad, nil))
		e := <-events
		if t.want(e.Err, framework.ErrNoNode); e.Op != "multi" {
			t.Fatalf("event %+v", e)
		}
		t.failed(e.Results, "setData delete", framework.ErrRolledBack, framework.ErrNoNode)
		t.ok(t.c.Batch().InBackground(t.Context(), bad, nil))
		e = <-events
		if e.Op != "batch" || e.Err != nil || len(e.Results) != 2 || e.Results[0].Err != nil || !errors.Is(e.Results[1].Err, framework.ErrNoNode) {
			t.Fatalf("event %+v", e)
		}
		t.ok(t.c.Transaction().InBackground(t.Context(), bad[:1], nil))
		e = <-events
		if e.Err != nil || len(e.Results) != 1 || e.Results[0].Stat != t.stat(t.path) {
			t.Fatalf("event %+v", e)
		}
	})
}

// An event of a failed operation has nothing but the error, and one that no operation caused has
// the values of Start's context. A listener may use both after the client has been told to end.
func TestEventsOfFailuresAndOthers(t *testing.T) {
	eachBench(t, func(t bench) {
		events := t.events()
		t.ok(t.c.GetData().InBackground(t.Context(), t.path, nil))
		e := <-events
		if t.want(e.Err, framework.ErrNoNode); e.Op != "getData" || e.Path != t.path || e.Data != nil || e.Stat != nil {
			t.Fatalf("event %+v", e)
		}
		_, err := t.c.CheckExists().Watched().ForPath(t.Context(), t.path)
		t.ok(err)
		t.create(t.path)
		watched := <-events
		t.ok(t.c.Close(context.WithoutCancel(t.Context())))
		for want, e := range map[string]framework.Event{"watched": watched, "closing": <-events} {
			if e.Op != want || e.Context().Done() != nil {
				t.Fatalf("event %+v", e)
			}
			// It is no way around Close.
			_, err := t.c.CheckExists().ForPath(e.Context(), t.path)
			t.want(err, framework.ErrClosed)
		}
		if ctx := (framework.Event{}).Context(); ctx == nil || ctx.Err() != nil {
			t.Error("the zero Event has no context")
		}
	})
}

// What is given to an operation in the background is the caller's again when the call returns. Data of
// an operation in a transaction is when that operation is complete.
func TestBackgroundData(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := "/" + strings.ReplaceAll(b.Path(""), "/", "")
		done := make(chan error, 5)
		data := []byte("first")
		queued := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			copy(data, "later")
		}
		queued(c.Create().WithMode(framework.Ephemeral).WithData(data).InBackground(t.Context(), path,
			func(_ context.Context, _ string, err error) { done <- err }))
		data = []byte("again")
		queued(c.SetData().InBackground(t.Context(), path, data,
			func(_ context.Context, _ framework.Stat, err error) { done <- err }))
		acl := framework.OpenACLUnsafe()
		queued(c.SetACL().InBackground(t.Context(), path, acl,
			func(_ context.Context, _ framework.Stat, err error) { done <- err }))
		acl[0] = framework.ACL{}

		data = []byte("tx:  ")
		many := func(_ context.Context, _ []framework.OpResult, err error) { done <- err }
		ops := []framework.Op{
			c.TransactionOp().Create().WithMode(framework.Ephemeral).WithData(data).ForPath(path + "tx"),
			c.TransactionOp().SetData().ForPath(path, data),
		}
		queued(c.Transaction().InBackground(t.Context(), ops[:1], many))
		queued(c.Batch().InBackground(t.Context(), ops[1:], many))
		clear(ops)
		for range cap(done) {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{path, path + "tx"} {
			if got, err := c.GetData().ForPath(t.Context(), path); err != nil || string(got) != "tx:  " {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		}
	})
}
