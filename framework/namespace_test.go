package framework_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// firstWrites are the ways of creating a node below a namespace.
var firstWrites = map[string]func(ctx context.Context, view *framework.Client, path string) error{
	"create": func(ctx context.Context, view *framework.Client, path string) error {
		_, err := view.Create().ForPath(ctx, path)
		return err
	},
	"transaction": func(ctx context.Context, view *framework.Client, path string) error {
		results, err := view.Transaction().ForOperations(ctx, inOrder(view, path)...)
		if err == nil && len(results) != 3 {
			err = errors.New("another number of results")
		}
		return err
	},
	"batch": func(ctx context.Context, view *framework.Client, path string) error {
		results, err := view.Batch().ForOperations(ctx, inOrder(view, path)...)
		for _, r := range results {
			err = errors.Join(err, r.Err)
		}
		return err
	},
}

// inOrder are operations that succeed only one after the other.
func inOrder(view *framework.Client, path string) []framework.Op {
	op := view.TransactionOp()
	return []framework.Op{
		op.Create().WithData(nil).ForPath(path), op.SetData().WithVersion(0).ForPath(path, []byte("x")),
		op.Check().WithVersion(1).ForPath(path),
	}
}

// namespace returns a namespace of two nodes that do not exist.
func (t bench) namespace(name string) string { return t.path[1:] + "/" + name }

// The first write creates the nodes of the namespace, and again when they are gone.
func TestFirstWriteInNamespace(t *testing.T) {
	for name, write := range firstWrites {
		t.Run(name, func(t *testing.T) {
			eachBench(t, func(t bench) {
				root := "/" + t.namespace("ns")
				view := t.c.UsingNamespace(root[1:])
				t.ok(write(t.Context(), view, "/a"))
				if n := t.network.Requests(jute.OpCreateContainer); n != 2 {
					t.Fatalf("%d containers", n)
				}
				t.create(t.path + "/other") // keeps the container above the namespace
				t.ok(t.c.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), root))
				t.ok(write(t.Context(), view, "/b"))
				if n := t.network.Requests(jute.OpCreateContainer); n != 3 || t.exists(root+"/a") || !t.exists(root+"/b") {
					t.Fatalf("%d containers", n)
				}
			})
		})
	}
}

// Several namespaces in one call, and a view beside the client itself.
func TestNamespacesTogether(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		one, two := t.c.UsingNamespace(t.namespace("one")), t.c.UsingNamespace(t.namespace("two/deep"))
		ops := func(name string) []framework.Op {
			return []framework.Op{
				t.c.TransactionOp().Create().ForPath(t.path + name), one.TransactionOp().Create().ForPath(name),
				two.TransactionOp().Create().ForPath(name), one.TransactionOp().Delete().ForPath(name),
			}
		}
		results, err := t.c.Transaction().ForOperations(t.Context(), ops("/tx")...)
		if err != nil || results[2].Path != "/tx" || !t.exists(t.path+"/two/deep/tx") {
			t.Fatalf("%+v, %v", results, err)
		}
		for _, name := range []string{"/two", "/one"} { // the second is an empty container, which the server may delete
			t.ok(t.c.Delete().DeletingChildrenIfNeeded().Quietly().ForPath(t.Context(), t.path+name))
		}
		results, err = t.c.Batch().ForOperations(t.Context(), ops("/batch")...)
		t.ok(err)
		for i, r := range results {
			if r.Err != nil {
				t.Errorf("result %d: %v", i, r.Err)
			}
		}
	})
}

// What is missing below the namespace is not looked for over and over, and nothing is applied
// that was not asked for.
func TestNoNodeInTransactionBelowNamespace(t *testing.T) {
	eachBench(t, func(t bench) {
		view := t.c.UsingNamespace(t.namespace("ns"))
		_, err := view.Create().ForPath(t.Context(), "/a")
		t.ok(err)
		op := view.TransactionOp()
		ops := []framework.Op{op.Delete().ForPath("/b"), op.Create().ForPath("/b"), op.Create().ForPath("/none/x")}
		results, err := view.Batch().ForOperations(t.Context(), ops...)
		t.ok(err)
		for i, want := range []error{framework.ErrNoNode, nil, framework.ErrNoNode} {
			if !errors.Is(results[i].Err, want) {
				t.Errorf("result %d: %v", i, results[i].Err)
			}
		}
		if ok, err := view.CheckExists().ForPath(t.Context(), "/b"); !ok || err != nil {
			t.Fatalf("/b is there: %t, %v: the delete was repeated", ok, err)
		}
		t.ok(view.Delete().ForPath(t.Context(), "/b"))
		looks := t.network.Requests(jute.OpExists)
		_, err = view.Transaction().ForOperations(t.Context(), ops[1:]...)
		t.want(err, framework.ErrNoNode)
		if n := t.network.Requests(jute.OpMulti); n > 3 {
			t.Errorf("%d transactions", n)
		}
		if n := t.network.Requests(jute.OpExists) - looks; n > 6 { // three nodes, twice
			t.Errorf("%d looks", n)
		}
	})
}

// All callers of a client share the creation of a namespace.
func TestNamespaceIsCreatedOnce(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		var calls sync.WaitGroup
		for name, write := range firstWrites {
			for i := range 20 {
				calls.Go(func() {
					view := t.c.UsingNamespace(t.namespace("ns"))
					if err := write(t.Context(), view, "/"+name+strings.Repeat("x", i)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
		}
		calls.Wait()
		if n := t.network.Requests(jute.OpCreateContainer); n != 1 {
			t.Errorf("the namespace's node was created %d times", n)
		}
	})
}

// The end of the caller that was first is not that of the others.
func TestNamespaceOutlivesItsCaller(t *testing.T) {
	for name, write := range firstWrites {
		t.Run(name, func(t *testing.T) {
			eachBench(t, func(t bench) {
				t.create(t.path)
				view := t.c.UsingNamespace(t.namespace("ns"))
				ctx, cancel := context.WithCancel(t.Context())
				first, second := make(chan error, 1), make(chan error, 1)
				hit := t.network.On(jute.OpExists, suite.Late, func() {
					go func() { second <- write(t.Context(), view, "/b") }()
					if t.b.Virtual {
						synctest.Wait() // a batch waits for the same by now
					}
					cancel()
					if err := <-first; !errors.Is(err, context.Canceled) || framework.MaybeApplied(err) {
						t.Errorf("the first caller: %v", err)
					}
				})
				go func() { first <- write(ctx, view, "/a") }()
				<-hit
				t.ok(<-second)
				if n := t.network.Requests(jute.OpCreateContainer); n != 1 {
					t.Errorf("the namespace's node was created %d times", n)
				}
			})
		})
	}
}

// The requests that create a namespace do not write into the span of their caller, which may have ended.
// Only the race detector sees it.
func TestNamespaceOutlivesItsCallersSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		c := server.Client(t, framework.WithTracing(tracing.WithTracerProvider(sdktrace.NewTracerProvider())))
		server.Inject(curatortest.Rule{Op: "exists", Do: curatortest.Delay(20 * time.Millisecond)})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.UsingNamespace("ns").Create().ForPath(ctx, "/a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// Close ends the creation of a namespace, and nothing is left of it.
func TestNamespaceEndsWithClient(t *testing.T) {
	benchOn(t, suite.InVirtualTime, func(t bench) {
		heal := t.network.Isolate()
		done := make(chan error, 1)
		hit := t.network.On(jute.OpExists, suite.CutBefore, nil)
		go func() { done <- firstWrites["batch"](t.Context(), t.c.UsingNamespace(t.namespace("ns")), "/a") }()
		<-hit
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := t.c.Close(ctx); err == nil {
			t.Error("Close does not say what was left")
		}
		if err := <-done; !errors.Is(err, framework.ErrClosed) || framework.MaybeApplied(err) {
			t.Errorf("%v", err)
		}
		heal()
	})
}

// The root of a namespace with protection would be a node beside the namespace.
func TestProtectionStaysInTheNamespace(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		view := c.UsingNamespace(strings.TrimPrefix(b.Path("ns"), "/"))
		_, err := view.Create().WithProtection().WithMode(framework.Ephemeral).ForPath(t.Context(), "/")
		if !errors.Is(err, framework.ErrInvalidPath) {
			t.Fatal(err)
		}
		path, err := view.Create().WithProtection().WithMode(framework.EphemeralSequential).ForPath(t.Context(), "/")
		if err != nil || !strings.HasPrefix(path, "/_c_") {
			t.Fatal(path, err)
		}
	})
}

// A parent that is missing below a namespace is not looked for over and over.
func TestNoNodeBelowNamespace(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		view := c.UsingNamespace(strings.TrimPrefix(b.Path("ns"), "/"))
		if _, err := view.Create().ForPath(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		sent := network.Requests(jute.OpCreate2)
		if _, err := view.Create().ForPath(t.Context(), "/none/a"); !errors.Is(err, framework.ErrNoNode) {
			t.Fatal(err)
		}
		if n := network.Requests(jute.OpCreate2) - sent; n > 3 {
			t.Fatalf("%d creates", n)
		}
	})
}
