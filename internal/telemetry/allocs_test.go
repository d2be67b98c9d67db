package telemetry

import (
	"context"
	"go/ast"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// hooks has a call of every exported method that is called while a program works, with the name of the method.
func hooks(tel *Telemetry) map[string]func() {
	ctx, conn, at := context.Background(), new(zkconn.Conn), time.Unix(1, 0)
	lock, queue := tel.Lock(tracing.KindMutex, "orders", "/a"), tel.Queue("queue", "mail", "/b")
	cache, candidate := tel.Cache("config", "/c", noCache{}), tel.Candidate(tracing.RecipeLatch, "jobs", "/d")
	term, failed := candidate.Elected(ctx, 1, at), Failure{Err: zkconn.ErrNoNode}
	op, data := Op{Name: "getData", Path: "/path", Prefix: "/namespace"}, []byte("10.1.2.3\nowner=a")
	_, a := tel.Acquire(ctx, lock, false)
	_, o := tel.Operation(ctx, conn, op)
	_, processing := tel.Process(ctx, queue)
	_, update := tel.AtomicUpdate(ctx, "sum", "/e")
	return map[string]func(){
		"Telemetry.Operation":      func() { tel.Operation(ctx, conn, op) },
		"Operation.Active":         func() { o.Active() },
		"Operation.End":            func() { o.End(1, zkconn.ErrNoNode) },
		"Telemetry.Retry":          func() { tel.Retry(ctx, "create", 2, zkconn.ErrConnectionLoss) },
		"Telemetry.GaveUp":         func() { tel.GaveUp() },
		"Telemetry.Lock":           func() { tel.Lock(tracing.KindMutex, "orders", "/a") },
		"Telemetry.Acquire":        func() { tel.Acquire(ctx, lock, true) },
		"Telemetry.NodeData":       func() { tel.NodeData(a) },
		"Telemetry.StateChanged":   func() { tel.StateChanged(state.Suspended) },
		"Acquisition.Recording":    func() { a.Recording() },
		"Acquisition.Enqueued":     func() { a.Enqueued(1, 2, 3) },
		"Acquisition.Waiting":      func() { a.Waiting(false, data) },
		"Acquisition.Granted":      func() { a.Granted(1, false) },
		"Acquisition.Failed":       func() { a.Failed(failed) },
		"Acquisition.Watch":        func() { a.Watch(ctx, conn, "/a/lock-1", false) },
		"Acquisition.Release":      func() { a.Release(ctx, 1) },
		"Acquisition.Lost":         func() { a.Lost(ctx, 1, time.Second, "revoked") },
		"Release.End":              func() { _, r := a.Release(ctx, 1); r.End(tracing.OutcomeReleased, time.Second) },
		"Telemetry.Opened":         func() { tel.Opened(ctx, lock) },
		"Telemetry.Closed":         func() { tel.Closed(ctx, lock, false, time.Second, "revoked") },
		"Telemetry.Dropped":        func() { tel.Dropped(lock) },
		"Telemetry.Do":             func() { _, end := tel.Do(ctx, lock); end(zkconn.ErrNoNode, false) },
		"Telemetry.Candidate":      func() { tel.Candidate(tracing.RecipeLatch, "jobs", "/d") },
		"Candidate.Standing":       func() { candidate.Standing(ctx) },
		"Candidate.Elected":        func() { candidate.Elected(ctx, 1, at) },
		"Term.End":                 func() { term.End(ctx, at, "revoked") },
		"Telemetry.Queue":          func() { tel.Queue("queue", "mail", "/b") },
		"Telemetry.Put":            func() { _, w := tel.Put(ctx, queue, 1); w.End(zkconn.ErrNoNode) },
		"Telemetry.Process":        func() { tel.Process(ctx, queue) },
		"Processing.End":           func() { processing.End(tracing.OutcomePutBack, zkconn.ErrNoNode) },
		"Telemetry.Cache":          func() { tel.Cache("config", "/c", noCache{}) },
		"Cache.Load":               func() { _, end := cache.Load(ctx); end(1, nil) },
		"Cache.Counts":             func() { cache.Counts() },
		"Cache.Changed":            func() { cache.Changed(1) },
		"Cache.Follow":             func() { cache.Follow()() },
		"Telemetry.AtomicUpdate":   func() { tel.AtomicUpdate(ctx, "sum", "/e") },
		"AtomicUpdate.End":         func() { update.End(1, 1, zkconn.ErrNoNode) },
		"Telemetry.BarrierWait":    func() { tel.BarrierWait(ctx, tracing.BarrierOpen, "/f") },
		"Work.End":                 func() { _, w := tel.BarrierWait(ctx, tracing.BarrierOpen, "/f"); w.End(zkconn.ErrNoNode) },
		"Telemetry.Recreated":      func() { tel.Recreated(ctx, "workers") },
		"Telemetry.Follow":         func() { tel.Follow(connection{})() },
		"Telemetry.Transition":     func() { tel.Transition(state.Lost, 1) },
		"Telemetry.Expired":        func() { tel.Expired(1, true) },
		"Telemetry.ServersChanged": func() { tel.ServersChanged(1) },
		"Telemetry.Attempted":      func() { tel.Attempted("host:1", nil, time.Second) },
		"Telemetry.Disconnected":   func() { tel.Disconnected("host:1", zkconn.ErrConnectionLoss) },
		"Telemetry.Proved":         func() { tel.Proved("host:1", nil, time.Second) },
	}
}

// What is turned off allocates nothing.
func TestOffAllocatesNothing(t *testing.T) {
	for name, hook := range hooks(nil) {
		if n := testing.AllocsPerRun(100, hook); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// Without an SDK the hooks of work allocate nothing. What is made once for a recipe or a connection may.
func TestWithoutSDKAllocatesNothing(t *testing.T) {
	if otel.GetTracerProvider() != noProvider {
		t.Fatal("somebody has set a tracer provider")
	}
	once := []string{"Telemetry.Lock", "Telemetry.Queue", "Telemetry.Cache", "Telemetry.Candidate", "Telemetry.Follow", "Cache.Follow"}
	for name, hook := range hooks(New(Config{})) {
		if n := testing.AllocsPerRun(100, hook); n != 0 && !slices.Contains(once, name) {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// hooks has every method but those that return a text.
func TestHooksAreComplete(t *testing.T) {
	texts := []string{"Telemetry.OwnerText"}
	known := hooks(nil)
	for _, f := range parsed(t, ".") {
		for _, decl := range f.Decls {
			method, ok := decl.(*ast.FuncDecl)
			if !ok || method.Recv == nil || !method.Name.IsExported() {
				continue
			}
			receiver := method.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			name := receiver.(*ast.Ident).Name + "." + method.Name.Name
			if known[name] == nil && !slices.Contains(texts, name) {
				t.Errorf("no test measures %s", name)
			}
		}
	}
}
