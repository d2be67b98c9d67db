package nodes_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// family is a kind of kept nodes.
type family struct {
	name string
	mode framework.CreateMode
	opts []nodes.Option
}

func (f family) ephemeral() bool {
	return f.mode == framework.Ephemeral || f.mode == framework.EphemeralSequential
}

func (f family) sequential() bool {
	return f.mode == framework.PersistentSequential || f.mode == framework.EphemeralSequential
}

// families are all mode families, with protection and without.
var families = []family{
	{"persistent", framework.Persistent, nil},
	{"persistent protected", framework.Persistent, []nodes.Option{nodes.WithProtection()}},
	{"ephemeral", framework.Ephemeral, nil},
	{"ephemeral protected", framework.Ephemeral, []nodes.Option{nodes.WithProtection()}},
	{"persistent sequential", framework.PersistentSequential, nil},
	{"persistent sequential protected", framework.PersistentSequential, []nodes.Option{nodes.WithProtection()}},
	{"ephemeral sequential", framework.EphemeralSequential, nil},
	{"ephemeral sequential protected", framework.EphemeralSequential, []nodes.Option{nodes.WithProtection()}},
}

// faults are what may happen to a kept node, each with what the operator sees in the end: one
// node with the data, and the listener's count of creations.
var faults = []struct {
	name string
	make func(e *env, f family) (creations int)
}{
	{"reply of the first create lost", func(e *env, f family) int {
		op := jute.OpCreate2
		hit := e.network.On(op, suite.CutAfter, nil)
		err := e.node.Start(e.t.Context())
		<-hit
		if f.sequential() && f.opts == nil { // nobody can know the name
			if err == nil || !framework.MaybeApplied(err) {
				e.t.Fatalf("Start returned %v, which does not say that a node may be left", err)
			}
			if names := e.names(); len(names) != 1 {
				e.t.Fatalf("the directory has %q", names)
			}
			e.operate(e.operator.Delete().ForPath(e.t.Context(), e.dir+"/"+e.names()[0]))
			e.start()
			return 1
		}
		e.operate(err)
		return 1
	}},
	{"session expired", func(e *env, f family) int {
		e.start()
		e.network.Expire(e.t)
		if f.ephemeral() {
			e.untilOwned(ours)
			return 2
		}
		return 1
	}},
	{"deleted by hand", func(e *env, f family) int {
		e.start()
		before := e.until(ours)
		e.delete()
		if after := e.until(ours); after.Czxid == before.Czxid {
			e.t.Fatal("the node was not deleted")
		}
		return 2
	}},
	{"deleted with the parent while cut off", func(e *env, f family) int {
		e.start()
		heal := e.network.Isolate()
		e.operate(e.operator.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), e.dir))
		heal()
		e.until(ours)
		return 2
	}},
	{"connection cut", func(e *env, f family) int {
		e.start()
		e.network.Cut()
		e.quiet()
		return 1
	}},
}

// Whatever happens, there is exactly one node in the end, with the data and under the same name.
func TestOneNode(t *testing.T) {
	for _, f := range families {
		for _, fault := range faults {
			t.Run(f.name+"/"+fault.name, func(t *testing.T) {
				t.Parallel()
				suite.EachOf(t, backendsOf(f), func(t *testing.T, b *suite.Backend) {
					e := newEnv(t, b)
					// The directory is there, so that the create is the first request.
					_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.dir)
					e.operate(err)
					e.keep(f.mode, f.opts...)
					n := fault.make(e, f)
					e.until(ours)
					e.quiet()
					e.wantOne()
					told := e.creations(n)
					if want := slices.Repeat([]string{e.node.ActualPath()}, n); !slices.Equal(told, want) {
						t.Errorf("the listener was told %q, want %q", told, want)
					}
					e.closed()
				})
			})
		}
	}
}

// A Start that is called again, while the node of the one before is still to be deleted, leaves only its own
// node: it gets another number.
func TestStartAgainWithAnotherNumber(t *testing.T) {
	for name, mode := range map[string]framework.CreateMode{
		"ephemeral": framework.EphemeralSequential, "persistent": framework.PersistentSequential,
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				e.keep(mode)
				ctx, cancel := context.WithCancel(t.Context())
				var heal func()
				e.network.On(jute.OpGetData, suite.CutBefore, func() { // the node is there by now
					heal = e.network.Isolate()
					cancel()
				})
				if err := e.node.Start(ctx); !errors.Is(err, nodes.ErrDeletePending) {
					t.Fatalf("Start returned %v", err)
				}
				heal()
				e.start()
				suite.Eventually(t, "the end of the first node", func() bool { return len(e.names()) == 1 })
				e.until(ours)
				e.close()
				e.wantNone()
			})
		})
	}
}

// backendsOf returns where a family is tested: real time is dear.
func backendsOf(f family) suite.Backends {
	if f.mode == framework.Ephemeral && f.opts == nil {
		return withRealServer
	}
	return suite.InVirtualTime
}
