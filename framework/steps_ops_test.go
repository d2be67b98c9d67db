package framework_test

import (
	"errors"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

var opsSteps = map[string]check{
	"Transaction":            testTransaction,
	"Transaction/Idempotent": testTransactionIdempotent,
	"Batch":                  testBatch,
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
	results, err = t.c.Transaction().ForOperations(t.Context(),
		op.SetData().ForPath(t.path, []byte("z")),
		op.Check().WithVersion(9).ForPath(t.path),
		op.Create().ForPath(t.path+"/d"), op.Delete().ForPath(t.path+"/none"))
	t.want(err, framework.ErrBadVersion)
	var failed *framework.OpError
	if errors.As(err, &failed); failed.Op != "check" || failed.Path != t.path {
		t.Fatalf("failed %+v", failed)
	}
	t.failed(results, "setData check create delete", framework.ErrRolledBack, framework.ErrBadVersion, framework.ErrRolledBack, framework.ErrRolledBack)
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

// testTransactionIdempotent is the plain case; the others are in idempotent_test.go.
func testTransactionIdempotent(t bench) {
	t.create(t.path)
	op := t.c.TransactionOp()
	ops := []framework.Op{op.Create().ForPath(t.path + "/a"), op.SetData().WithVersion(0).ForPath(t.path, []byte("new"))}
	t.network.On(jute.OpMulti, suite.CutAfter, nil)
	results, err := t.c.Transaction().Idempotent().ForOperations(t.Context(), ops...)
	if t.ok(err); len(results) != 2 || results[0].Path != t.path+"/a" || results[1].Stat != t.stat(t.path) {
		t.Fatalf("results %+v", results)
	}
	// Without the step it is not repeated.
	t.network.On(jute.OpMulti, suite.CutAfter, nil)
	_, err = t.c.Transaction().ForOperations(t.Context(), op.Create().ForPath(t.path+"/b"))
	if t.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) || !t.exists(t.path+"/b") {
		t.Fatal(err)
	}
}

// failed checks the results of a transaction that has failed.
func (t bench) failed(results []framework.OpResult, ops string, wants ...error) {
	t.Helper()
	names := strings.Fields(ops)
	if len(results) != len(names) {
		t.Fatalf("%d results", len(results))
	}
	for i, r := range results {
		t.want(r.Err, wants[i])
		var failed *framework.OpError
		if errors.As(r.Err, &failed); failed.Op != names[i] || failed.Path != r.Path || r.Op != names[i] || r.Stat != (framework.Stat{}) {
			t.Errorf("result %d: %+v", i, r)
		}
		if framework.MaybeApplied(r.Err) || framework.Retryable(r.Err) {
			t.Errorf("result %d: %v", i, r.Err)
		}
	}
}

func testBatch(t bench) {
	t.create(t.path)
	t.create(t.path + "/full")
	t.create(t.path + "/full/a")
	op := t.c.TransactionOp()
	ops := []framework.Op{
		op.Create().WithMode(framework.EphemeralSequential).WithData([]byte("x")).ForPath(t.path + "/s-"),
		op.Create().WithMode(framework.Container).ForPath(t.path + "/c"),
		op.Check().WithVersion(0).ForPath(t.path),
		op.SetData().WithVersion(0).ForPath(t.path, []byte("y")),
		op.Check().WithVersion(0).ForPath(t.path),
		op.Create().ForPath(t.path + "/none/x"),
		op.Delete().ForPath(t.path + "/full"),
		op.Delete().WithVersion(3).ForPath(t.path + "/c"),
		op.Delete().ForPath(t.path + "/c"),
		op.Check().ForPath(t.path + "/c"),
		op.SetData().ForPath(t.path+"/none", nil),
	}
	wants := []error{nil, nil, nil, nil, framework.ErrBadVersion, framework.ErrNoNode, framework.ErrNotEmpty,
		framework.ErrBadVersion, nil, framework.ErrNoNode, framework.ErrNoNode}
	names := strings.Fields("create create check setData check create delete delete delete check setData")
	results, err := t.c.Batch().ForOperations(t.Context(), ops...)
	if err != nil || len(results) != len(ops) {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		var failed *framework.OpError
		if r.Op != names[i] || !errors.Is(r.Err, wants[i]) || (wants[i] != nil) != errors.As(r.Err, &failed) || framework.MaybeApplied(r.Err) {
			t.Errorf("result %d: %+v, want %s, %v", i, r, names[i], wants[i])
		}
		if failed != nil && (failed.Op != names[i] || failed.Path != r.Path || failed.Attempts != 1) {
			t.Errorf("error %d: %+v", i, failed)
		}
	}
	sequential := results[0]
	if !strings.HasPrefix(sequential.Path, t.path+"/s-0") || sequential.Stat != t.stat(sequential.Path) ||
		results[1].Stat.Czxid <= sequential.Stat.Czxid || results[3].Stat.Version != 1 || t.data(t.path) != "y" {
		t.Fatalf("%+v, %+v, %+v", results[0], results[1], results[3])
	}
	// What makes no sense is refused, all of it.
	writes := t.network.Requests(jute.OpDelete)
	other, _ := t.b.Client(t.T)
	good := op.Delete().ForPath(t.path + "/full/a")
	for name, bad := range map[string]framework.Op{
		"zero": {}, "path": op.Check().ForPath("relative"), "other": other.TransactionOp().Check().ForPath(t.path),
		"step": op.Create().WithACL().ForPath(t.path), "life": framework.TransactionOp{}.Check().ForPath(t.path),
		"size": op.SetData().ForPath(t.path, make([]byte, 2<<20)),
	} {
		results, err := t.c.Batch().ForOperations(t.Context(), good, bad)
		if err == nil || results != nil || framework.MaybeApplied(err) {
			t.Errorf("%s: %v, %v", name, results, err)
		}
	}
	if n := t.network.Requests(jute.OpDelete); n != writes || !t.exists(t.path+"/full/a") {
		t.Error("a good one was sent together with a bad one")
	}
	if results, err := t.c.Batch().ForOperations(t.Context()); err != nil || len(results) != 0 {
		t.Errorf("of nothing: %v, %v", results, err)
	}
	view := t.c.UsingNamespace(t.path[1:])
	results, err = t.c.Batch().ForOperations(t.Context(), view.TransactionOp().Create().ForPath("/full/b"))
	if err != nil || results[0].Err != nil || results[0].Path != "/full/b" || !t.exists(t.path+"/full/b") {
		t.Errorf("of a view: %+v, %v", results, err)
	}
}
