package atomics_test

import (
	"context"
	"path"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
)

// The table of faults. An atomic value has no state of its own: each call stands alone, in one of
// these states.
var states = []struct {
	name  string
	op    jute.Op // that the fault meets
	there bool    // the node
	read  bool    // op reads, and may be repeated
	// call makes the number 8, out of 7 if there is a node.
	call func(ctx context.Context, n *atomics.DistributedAtomicLong) error
}{
	{"get", jute.OpGetData, true, true, func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		_, err := n.Get(ctx)
		return err
	}},
	{"update reads", jute.OpGetData, true, true, increment},
	{"update writes", jute.OpSetData, true, false, increment},
	{"update creates", jute.OpCreate2, false, false, func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		_, err := n.Add(ctx, 8)
		return err
	}},
	{"compareAndSet", jute.OpSetData, true, false, func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		_, err := n.CompareAndSet(ctx, 7, 8)
		return err
	}},
	{"forceSet", jute.OpSetData, true, false, func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		return n.ForceSet(ctx, 8)
	}},
	{"initialize", jute.OpCreate2, false, false, func(ctx context.Context, n *atomics.DistributedAtomicLong) error {
		_, err := n.Initialize(ctx, 8)
		return err
	}},
}

func increment(ctx context.Context, n *atomics.DistributedAtomicLong) error {
	_, err := n.Increment(ctx)
	return err
}

const seven = "\x00\x00\x00\x00\x00\x00\x00\x07"

// atCall is a call in one of the states.
type atCall struct {
	*env
	op   jute.Op
	read bool
	call func(ctx context.Context) error
}

// onCalls runs test in every state.
func onCalls(t *testing.T, on suite.Backends, test func(c *atCall)) {
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				if s.there {
					e.write(seven)
				} else { // so that the first create is the node's
					_, err := e.other.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), path.Dir(e.path))
					suite.OK(e.t, err)
				}
				test(&atCall{e, s.op, s.read, func(ctx context.Context) error { return s.call(ctx, e.number) }})
			})
		})
	}
}

// wantOnce fails unless the change was made once or, with maybe, not at all.
func (c *atCall) wantOnce(maybe bool) {
	c.t.Helper()
	there, err := c.other.CheckExists().ForPath(c.t.Context(), c.path)
	suite.OK(c.t, err)
	before := int64(7)
	if !there {
		before = 0
	}
	if n := c.onServer(); n != 8 && !(maybe && n == before) {
		c.t.Errorf("the server has %d", n)
	}
}

// A4: what was never answered is not sent again, and the error says so.
func TestLostRequest(t *testing.T) {
	t.Parallel()
	for name, fate := range map[string]suite.Fate{"before send": suite.CutBefore, "reply lost": suite.CutAfter} {
		t.Run(name, func(t *testing.T) {
			onCalls(t, suite.InVirtualTime|suite.OnRealServer, func(c *atCall) {
				sent := c.network.Requests(c.op)
				hit := c.network.On(c.op, fate, nil)
				err := c.call(c.t.Context())
				<-hit
				if c.read {
					suite.OK(c.t, err)
					return
				}
				if err == nil {
					c.t.Fatal("no error: the request was repeated")
				}
				c.wantErr(err, framework.ErrConnectionLoss, true)
				if n := c.network.Requests(c.op) - sent; n != 1 {
					c.t.Errorf("sent %d times", n)
				}
				c.wantOnce(fate == suite.CutBefore)
			})
		})
	}
}

// faults of the connection. Those that take time run in virtual time.
var faults = map[string]struct {
	on    suite.Backends
	fault func(c *atCall)
}{
	"suspended":  {suite.InVirtualTime | suite.OnRealServer, func(c *atCall) { c.network.Cut() }},
	"in between": {suite.InVirtualTime | suite.OnRealServer, func(c *atCall) { c.network.On(c.op, suite.Late, c.network.Cut) }},
	"lagging":    {suite.InVirtualTime, func(c *atCall) { c.network.Lag(); c.network.Cut() }},
	"lost":       {suite.InVirtualTime, func(c *atCall) { c.network.Expire(c.t) }},
	"cut off": {suite.InVirtualTime, func(c *atCall) {
		heal := c.network.Isolate()
		time.AfterFunc(100*time.Millisecond, heal)
	}},
}

func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			onCalls(t, f.on, func(c *atCall) {
				f.fault(c)
				err := c.call(c.t.Context())
				if err != nil {
					c.wantErr(err, framework.ErrConnectionLoss, true)
				}
				if c.op != jute.OpGetData {
					c.wantOnce(err != nil)
				}
			})
		})
	}
}

func TestOtherFaults(t *testing.T) {
	t.Run("ctx ended", func(t *testing.T) {
		onCalls(t, suite.InVirtualTime, func(c *atCall) {
			ended, cancel := context.WithCancel(c.t.Context())
			cancel()
			c.wantErr(c.call(ended), context.Canceled, false)
		})
	})
	t.Run("ctx ends", func(t *testing.T) {
		onCalls(t, suite.InVirtualTime, func(c *atCall) {
			ctx, cancel := context.WithCancel(c.t.Context())
			defer cancel()
			heal := func() {}
			c.network.On(c.op, suite.Late, func() { heal = c.network.Isolate(); cancel() })
			c.wantErr(c.call(ctx), context.Canceled, !c.read)
			heal()
			if c.op != jute.OpGetData {
				c.wantOnce(true)
			}
		})
	})
	t.Run("client closed", func(t *testing.T) {
		onCalls(t, suite.InVirtualTime, func(c *atCall) {
			suite.OK(c.t, c.client.Close(c.t.Context()))
			c.wantErr(c.call(c.t.Context()), framework.ErrClosed, false)
		})
	})
	t.Run("client closes", func(t *testing.T) {
		onCalls(t, suite.InVirtualTime, func(c *atCall) {
			closed := make(chan error, 1)
			c.network.On(c.op, suite.Late, func() {
				c.network.Isolate()
				go func() { closed <- c.client.Close(c.t.Context()) }()
			})
			c.wantErr(c.call(c.t.Context()), framework.ErrClosed, !c.read)
			<-closed // with an error: the server cannot be told
		})
	})
}

// What others do to the node between the read and the write: the change is made on what is
// there then.
func TestNodeFaults(t *testing.T) {
	t.Run("node deleted", func(t *testing.T) {
		onServers(t, func(e *env) {
			e.write(seven)
			e.network.On(jute.OpSetData, suite.Late, func() { suite.Check(e.t, e.other.Delete().ForPath(e.t.Context(), e.path)) })
			e.add(1, 1)
		})
	})
	t.Run("parent deleted", func(t *testing.T) {
		onServers(t, func(e *env) {
			e.add(7, 7)
			e.network.On(jute.OpSetData, suite.Late, func() {
				suite.Check(e.t, e.other.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), path.Dir(e.path)))
			})
			e.add(1, 1)
		})
	})
	t.Run("created meanwhile", func(t *testing.T) {
		onServers(t, func(e *env) {
			_, err := e.other.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), path.Dir(e.path))
			suite.OK(e.t, err)
			e.network.On(jute.OpCreate2, suite.Late, func() { e.write(seven) })
			e.add(1, 8)
		})
	})
}
