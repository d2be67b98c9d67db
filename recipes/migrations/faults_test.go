package migrations_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// state is a moment of a Migrate: before the nth request of an operation, counted from the one
// before it.
type state []struct {
	op  jute.Op
	nth int
}

// The states of a Migrate when the first of its migrations has been applied.
var (
	acquiring  = state{{jute.OpCreate2, 1}}      // the lock's first node is about to be created
	listing    = state{{jute.OpGetChildren2, 4}} // the metadata is about to be listed
	reading    = append(listing[:1:1], state{{jute.OpGetData, 1}}...)
	committing = append(listing[:1:1], state{{jute.OpMulti, 1}}...)
)

// cell is a fault in a state.
type cell struct {
	name  string
	state state
	fate  suite.Fate
	fault func(r *run)
	want  error // nil if everything is applied
	maybe bool  // the error says that it may have been applied
	none  bool  // everything is applied by somebody else
	// later is how many migrations are left to the next Migrate.
	later int
}

// run is one Migrate that meets a fault.
type run struct {
	*fixture
	client  *framework.Client
	network *suite.Network
	cancel  context.CancelFunc
}

// Faults.
func expire(r *run) { r.network.Expire(r.t) }
func lag(r *run)    { r.network.Lag() }
func endCtx(r *run) { r.cancel() }

func deleteLock(r *run) {
	for _, name := range r.children(r.locks + "/set/leases") {
		r.delete(r.locks + "/set/leases/" + name)
	}
}

// anotherMigrates has an operator delete the lock's node, and another process migrate.
func anotherMigrates(r *run) {
	deleteLock(r)
	r.applies(2, "a", "b", "c")
}

func deleteLockPath(r *run) { r.delete(r.locks) }
func deleteMetadata(r *run) { r.delete(r.metadata) }

func closeClient(r *run) { suite.StartClose(r.t, r.client) }

// requestCells are what may happen to the request of a state before the commit, which name names.
func requestCells(name string, state state) []cell {
	return []cell{
		{name: name + " not sent", state: state, fate: suite.CutBefore},
		{name: name + "'s reply lost", state: state, fate: suite.CutAfter},
		{name: name + ", session lost", state: state, fate: suite.CutAfter, fault: expire},
		{name: name + ", lagging server", state: state, fate: suite.CutAfter, fault: lag},
		{name: name + ", ctx ends", state: state, fate: suite.CutAfter, fault: endCtx, want: context.Canceled, later: 2},
		{name: name + ", client closed", state: state, fate: suite.CutBefore, fault: closeClient, want: framework.ErrClosed, later: 2},
	}
}

// cells is the fault table.
var cells = append(slices.Concat(requestCells("acquire", acquiring), requestCells("list", listing), requestCells("read", reading)), []cell{
	{name: "acquire, lock path deleted", state: acquiring, fate: suite.Late, fault: deleteLockPath},
	{name: "list, lock deleted", state: listing, fate: suite.Late, fault: deleteLock},
	{name: "list, lock path deleted", state: listing, fate: suite.Late, fault: deleteLockPath},
	{name: "read, lock deleted", state: reading, fate: suite.Late, fault: deleteLock},
	{name: "read, metadata deleted", state: reading, fate: suite.Late, fault: deleteMetadata, want: framework.ErrNoNode, later: -1},

	{name: "commit not sent", state: committing, fate: suite.CutBefore},
	{name: "commit's reply lost", state: committing, fate: suite.CutAfter},
	{name: "commit not sent, session lost", state: committing, fate: suite.CutBefore, fault: expire},
	{name: "commit's reply and session lost", state: committing, fate: suite.CutAfter, fault: expire},
	{name: "commit not sent, lagging server", state: committing, fate: suite.CutBefore, fault: lag},
	{name: "commit's reply lost, lagging server", state: committing, fate: suite.CutAfter, fault: lag},
	{name: "commit, lock deleted", state: committing, fate: suite.Late, fault: deleteLock},
	{name: "commit, lock deleted, another is faster", state: committing, fate: suite.Late, fault: anotherMigrates, none: true},
	{name: "commit, lock path deleted", state: committing, fate: suite.Late, fault: deleteLockPath},
	{name: "commit, metadata deleted", state: committing, fate: suite.Late, fault: deleteMetadata, want: framework.ErrNoNode, later: -1},
	{name: "commit not sent, ctx ends", state: committing, fate: suite.CutBefore, fault: endCtx, want: context.Canceled, later: 2, maybe: true},
	{name: "commit's reply lost, ctx ends", state: committing, fate: suite.CutAfter, fault: endCtx, want: context.Canceled, maybe: true},
	{name: "commit not sent, client closed", state: committing, fate: suite.CutBefore, fault: closeClient, want: framework.ErrClosed, later: 2, maybe: true},
	{name: "commit's reply lost, client closed", state: committing, fate: suite.CutAfter, fault: closeClient, want: framework.ErrClosed, maybe: true},
}...)

// cheap are the cells that run on a real server, too.
var cheap = map[string]bool{
	"list's reply lost": true, "commit not sent": true, "commit's reply lost": true, "commit's reply and session lost": true,
	"commit, lock deleted": true, "commit's reply lost, ctx ends": true,
}

func TestFaults(t *testing.T) {
	for _, c := range cells {
		on := suite.InVirtualTime
		if cheap[c.name] {
			on = suite.InVirtualTime | suite.OnRealServer
		}
		t.Run(c.name, func(t *testing.T) {
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) { c.test(newFixture(t, b)) })
		})
	}
}

// test has a Migrate of three migrations meet the fault, when the first has been applied. Then the
// next Migrate, of another client, does what is left.
func (c cell) test(f *fixture) {
	f.applies(1, "a")
	r := &run{fixture: f}
	r.client, r.network = f.b.Client(f.t)
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	r.cancel = cancel
	hit := make(chan struct{})
	r.arm(c.state, c.fate, func() {
		defer close(hit)
		if c.fault != nil {
			c.fault(r)
		}
	})
	n, err := f.migrate(ctx, r.client, f.set(r.client, "a", "b", "c"))
	<-hit
	switch {
	case c.none && (err != nil || n != 0), c.want == nil && !c.none && (err != nil || n != 2):
		f.t.Errorf("applied %d, %v", n, err)
	case c.want != nil:
		suite.WantErr(f.t, err, c.want)
		if n != 0 || framework.MaybeApplied(err) != c.maybe {
			f.t.Errorf("%d applied, maybe: %v, of %v", n, framework.MaybeApplied(err), err)
		}
	}
	if c.later < 0 { // the metadata is gone, and with it the knowledge of the first
		f.refuses(f.set(f.observer, "a"), framework.ErrNodeExists)
	} else {
		f.applies(c.later, "a", "b", "c")
		f.has("a", "b", "c")
	}
	f.unlocked()
	if n := f.b.WatchesLeft(); n != 0 {
		f.t.Errorf("%d watches are left", n)
	}
}

// arm has then happen to the request that the state is about.
func (r *run) arm(s state, fate suite.Fate, then func()) {
	rest := s[1:]
	if s[0].nth > 1 {
		rest = append(state{{s[0].op, s[0].nth - 1}}, rest...)
	}
	if len(rest) == 0 {
		r.network.On(s[0].op, fate, then)
		return
	}
	r.network.On(s[0].op, suite.Late, func() { r.arm(rest, fate, then) })
}
