package nodes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/tools/curatortest"
)

const ttl = 4 * suite.Tick

func (e *env) keepTTL(opts ...nodes.Option) *nodes.PersistentNode {
	e.t.Helper()
	life := ttl
	if !e.b.Virtual { // a busy machine does not end the node
		life *= 4
	}
	return e.kept(nodes.NewPersistentTTLNode(e.client, e.path, life, []byte(ours), opts...))
}

func newTTLEnv(t *testing.T, b *suite.Backend) *env {
	t.Helper()
	e := newEnv(t, b)
	// A sibling keeps the directory, which is else removed with the last node in it.
	_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.dir+"/stays")
	e.operate(err)
	return e
}

// wantThere fails unless the node is there, with the data.
func (e *env) wantThere() framework.Stat {
	e.t.Helper()
	data, stat, there := e.read()
	if !there || data != ours {
		e.t.Fatalf("the node is there: %t, with %q", there, data)
	}
	return stat
}

func (e *env) untilGone() {
	e.t.Helper()
	suite.Eventually(e.t, "the end of the node", func() bool {
		_, _, there := e.read()
		return !there
	})
}

// outlive waits until the child has been set so often that the node would be gone without it.
func (e *env) outlive() {
	e.t.Helper()
	version := func() int32 {
		var stat framework.Stat
		_, err := e.operator.CheckExists().StoringStatIn(&stat).ForPath(e.t.Context(), e.path+"/touch")
		e.operate(err)
		return stat.Version
	}
	before := version()
	suite.Eventually(e.t, "touches", func() bool { return version() >= before+3 })
}

// N4: the node stays while it is kept, without a word to those who watch it, and goes a while
// after Close, or with its client.
func TestTTL(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		on  suite.Backends
		end func(e *env)
	}{
		"closed":         {withRealServer, func(e *env) { e.close() }},
		"client closed":  {suite.InVirtualTime, func(e *env) { e.operate(e.client.Close(e.t.Context())) }},
		"client cut off": {suite.InVirtualTime, func(e *env) { e.t.Cleanup(e.network.Isolate()) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.EachReaping(t, tt.on, func(t *testing.T, b *suite.Backend) {
				e := newTTLEnv(t, b)
				e.keepTTL()
				e.start()
				before := e.wantThere()
				e.outlive()
				if after := e.wantThere(); after.Mzxid != before.Mzxid || after.NumChildren != 1 {
					t.Errorf("the node was %+v and is %+v", before, after)
				}
				tt.end(e)
				e.wantThere()
				e.untilGone()
			})
		})
	}
}

// Node and child are made in one transaction, in one write with the read; from then on there is
// one write for each touch. The child has the default data.
func TestTTLTraffic(t *testing.T) {
	suite.EachReaping(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newTTLEnv(t, b)
		e.keepTTL(nodes.WithTouch("alive", 4))
		before := e.traffic()
		e.start()
		if n := e.traffic().minus(before); n != (traffic{writes: 1, reads: 1}) {
			t.Errorf("Start took %+v", n)
		}
		data, err := e.operator.GetData().ForPath(t.Context(), e.path+"/alive")
		if err != nil || string(data) != string(e.client.DefaultData()) {
			t.Errorf("the child has %q, %v", data, err)
		}
		if b.Virtual {
			before = e.traffic()
			elapse(10*ttl + ttl/8)
			if n := e.traffic().minus(before); n != (traffic{writes: 40}) {
				t.Errorf("40 touches took %+v", n)
			}
		}
		e.close()
		e.wantThere()
	})
}

// What is deleted comes back: the child, the node, the directory.
func TestTTLDeleted(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]func(e *env) string{
		"the child":     func(e *env) string { return e.path + "/touch" },
		"the node":      func(e *env) string { return e.path },
		"the directory": func(e *env) string { return e.dir },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.EachReaping(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
				e := newTTLEnv(t, b)
				e.keepTTL()
				e.start()
				e.operate(e.operator.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), what(e)))
				suite.Eventually(t, "node and child", func() bool {
					names, err := e.operator.GetChildren().ForPath(t.Context(), e.path)
					return err == nil && slices.Equal(names, []string{"touch"})
				})
				e.outlive()
				e.wantThere()
				e.close()
			})
		})
	}
}

// A node that was there is adopted, given the data and kept; two keepers keep one node.
func TestTTLAdopted(t *testing.T) {
	t.Parallel()
	suite.EachReaping(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		e := newTTLEnv(t, b)
		e.occupy(e.operator, framework.Container)
		e.keepTTL()
		e.start()
		e.wantThere()
		other, err := nodes.NewPersistentTTLNode(e.operator, e.path, ttl, []byte(ours))
		e.operate(err)
		e.operate(other.Start(t.Context()))
		e.close()
		e.outlive()
		e.wantThere()
		e.operate(other.Close(t.Context()))
		e.untilGone()
	})
}

// A touch that fails for want of a connection is made up for when that is back.
func TestTTLReconnect(t *testing.T) {
	suite.EachReaping(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		e := newTTLEnv(t, b)
		e.keepTTL()
		e.start()
		hit := e.network.On(jute.OpSetData, suite.CutAfter, nil)
		<-hit
		e.outlive()
		e.wantThere()
		heal := e.network.Isolate() // for so long that the server removes both
		e.untilGone()
		heal()
		suite.Eventually(t, "the node", func() bool {
			data, _, there := e.read()
			return there && data == ours
		})
		e.close()
	})
}

// Servers without extended types refuse such nodes, and Start says so.
func TestTTLUnimplemented(t *testing.T) {
	t.Parallel()
	t.Run("injected", func(t *testing.T) {
		server := curatortest.Start(t)
		server.Inject(curatortest.Rule{Op: "multi", Do: curatortest.Fail(framework.ErrUnimplemented)})
		wantUnimplemented(t, server.Client(t), "")
	})
	t.Run("real", func(t *testing.T) {
		ensemble := curatortest.Real(t, curatortest.WithoutExtendedTypes(), curatortest.WithTickTime(suite.Tick))
		wantUnimplemented(t, ensemble.Client(t), "nodes with a time to live need ZooKeeper 3.5.4")
	})
}

// wantUnimplemented wants a Start that fails, with a part of the error's text, and leaves no node.
func wantUnimplemented(t *testing.T, client *framework.Client, part string) {
	t.Helper()
	node := suite.Got(nodes.NewPersistentTTLNode(client, "/ttl", time.Minute, nil)).OK(t)
	err := node.Start(t.Context())
	suite.WantErr(t, err, framework.ErrUnimplemented)
	if err != nil && !strings.Contains(err.Error(), part) {
		t.Errorf("the error %q has no %q", err, part)
	}
	there, err := client.CheckExists().ForPath(t.Context(), "/ttl")
	if err != nil || there {
		t.Errorf("there: %t, %v", there, err)
	}
	if err := node.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
