package framework_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/buildergen/spec"
)

// A fault is one column of the matrix, whose rows are all builders, see rows. A cell is left
// out by the fault's rule alone: applies says which rows it is about, all of them without it.
type fault struct {
	name    string
	on      suite.Backends // where the server has a part in it; without it in virtual time alone
	applies func(r row) bool
	// releases says that newer releases of ZooKeeper answer CheckExists with an error, see suite.EachRelease.
	releases bool
	bare     bool          // the row's prepare is left out
	place    func(x *cell) // chooses the node that the call is about; may be nil
	arm      func(x *cell) // makes the fault, when all else is ready; may be nil
	unsent   bool          // the operation must not get as far as the network
	want     func(r row) outcome
}

// outcome is what a cell expects: an error that matches err, or none; whether by what the
// error says the operation may have been applied; and what the node is afterwards, "" as
// before.
type outcome struct {
	err   error
	maybe bool
	state string
}

// cell is one call under one fault.
type cell struct {
	bench
	row   row
	admin *framework.Client // not concerned by the fault
	ctx   context.Context
	call  func(ctx context.Context, c *framework.Client, path string) error
}

// TestMatrix makes every fault befall every builder, on a real server those that it has a part in.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			each := suite.EachOf
			if f.releases {
				each = suite.EachRelease
			}
			each(t, f.on|suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
				admin, _ := b.Client(t)
				if _, err := admin.Create().CreatingParentsIfNeeded().ForPath(t.Context(), b.Path("x")); err != nil {
					t.Fatal(err)
				}
				for i, r := range rows {
					if f.applies != nil && !f.applies(r) {
						continue
					}
					if f.releases && r.builder == "CheckExists" && b.ExistsNeedsRead(t) {
						r.noAuth = framework.ErrNoAuth
					}
					c, network := b.Client(t, framework.WithoutEnsembleTracker()) // which sends requests of its own
					x := &cell{
						bench: bench{t, b, c, network, b.Path(fmt.Sprint(i))}, row: r,
						admin: admin, ctx: t.Context(), call: r.call,
					}
					x.run(f)
				}
			})
		})
	}
}

// Every builder of the specification is a row.
func TestMatrixIsComplete(t *testing.T) {
	has := map[string]bool{}
	for _, r := range rows {
		has[r.builder] = true
	}
	for _, op := range spec.Ops {
		if !has[op.Name] {
			t.Errorf("no row for %s", op.Name)
		}
	}
}

func (x *cell) run(f fault) {
	x.Helper()
	if x.row.node {
		_, err := x.admin.Create().WithData([]byte("old")).ForPath(x.Context(), x.path)
		x.ok(err)
	}
	if f.place != nil {
		f.place(x)
	}
	if x.row.prepare != nil && !f.bare {
		x.call = x.row.prepare(x.bench)
	}
	if f.arm != nil {
		f.arm(x)
	}
	before, sent := x.state(), x.network.Requests(x.row.op)
	err := x.call(x.ctx, x.c, x.path)
	if n := x.network.Requests(x.row.op) - sent; f.unsent && n != 0 {
		x.Errorf("%s: %d requests were sent", x.row.name(), n)
	}
	want := f.want(x.row)
	if want.err == nil {
		want.err = x.row.usual
	}
	var op *framework.OpError
	switch {
	case !errors.Is(err, want.err):
		x.Errorf("%s: error %v, want %v", x.row.name(), err, want.err)
	case err != nil && !errors.As(err, &op):
		x.Errorf("%s: error %v is no *OpError", x.row.name(), err)
	}
	if maybe := framework.MaybeApplied(err); maybe != want.maybe {
		x.Errorf("%s: %v: may have been applied: %t", x.row.name(), err, maybe)
	}
	state := before
	if want.state != "" {
		state = want.state
	}
	if got := x.state(); got != state {
		x.Errorf("%s: %v: the node is %s, want %s", x.row.name(), err, got, state)
	}
}

// state says what the server has.
func (x *cell) state() string {
	x.Helper()
	var stat framework.Stat
	data, err := x.admin.GetData().StoringStatIn(&stat).ForPath(x.Context(), x.path)
	if errors.Is(err, framework.ErrNoNode) {
		return "none"
	}
	if errors.Is(err, framework.ErrInvalidPath) || errors.Is(err, framework.ErrNoAuth) || errors.Is(err, framework.ErrTooLarge) {
		return "hidden"
	}
	x.ok(err)
	return fmt.Sprintf("%s v%d a%d c%d", data, stat.Version, stat.Aversion, stat.NumChildren)
}
