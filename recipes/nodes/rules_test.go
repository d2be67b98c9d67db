package nodes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// rule runs test for an ephemeral node, as a subtest on each backend.
func rule(t *testing.T, name string, on suite.Backends, test func(t *testing.T, e *env), opts ...framework.Option) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b, opts...)
			e.keep(framework.Ephemeral)
			test(t, e)
		})
	})
}

// K1: create, and a read with the watch, in one write. The read decides, and compares with what
// is wanted now.
func TestRuleK1(t *testing.T) {
	rule(t, "one write", withRealServer, func(t *testing.T, e *env) {
		e.directory()
		before := e.traffic()
		e.start()
		if n := e.traffic().minus(before); n != (traffic{writes: 1, reads: 1}) {
			t.Errorf("Start took %+v", n)
		}
		if n := e.watches(e.client); n != 1 {
			t.Errorf("%d watches", n)
		}
		e.closed()
	})
	rule(t, "deleted between create and read", withRealServer, func(t *testing.T, e *env) {
		e.directory()
		hit := e.network.On(jute.OpGetData, suite.Late, func() {
			suite.Eventually(t, "the node to delete", func() bool {
				return e.operator.Delete().ForPath(t.Context(), e.path) == nil
			})
		})
		e.start()
		<-hit
		e.untilOwned(ours)
		e.closed()
	})
	rule(t, "the data of now", withRealServer, func(t *testing.T, e *env) {
		e.start()
		written := make(chan error, 1)
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() {
			go func() { written <- e.node.SetData(t.Context(), []byte(changed)) }()
		})
		e.delete()
		<-hit
		e.operate(<-written)
		e.untilOwned(changed)
		e.closed()
	})
}

// early has the client take a session for over when the server still has it.
var early = framework.WithSimulatedSessionExpirationPercent(50)

// K2: the node of this session is ours; that of an earlier session of this client is replaced in
// one transaction; anybody else's is adopted, and never replaced.
func TestRuleK2(t *testing.T) {
	t.Parallel()
	rule(t, "earlier session", withRealServer, func(t *testing.T, e *env) {
		e.start()
		before := e.untilOwned(ours)
		session := e.client.SessionID()
		heal := e.network.Isolate()
		multis := e.network.Requests(jute.OpMulti)
		suite.Eventually(t, "the end of the session", func() bool { return e.client.SessionID() != session })
		heal()
		if e.b.Virtual { // else the machine may be too slow
			elapse(suite.SessionTimeout / 4)
			if after := e.untilOwned(ours); after.Czxid == before.Czxid || after.EphemeralOwner == session {
				t.Fatal("the node was not replaced at once")
			}
			if n := e.network.Requests(jute.OpMulti) - multis; n != 1 {
				t.Errorf("%d transactions, want 1", n)
			}
		}
		e.untilOwned(ours)
		e.closed()
	}, early)
	rule(t, "earlier session of another keeper", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		session := e.client.SessionID()
		heal := e.network.Isolate()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		former := e.node
		suite.WantErr(t, former.Close(ctx), context.DeadlineExceeded)
		suite.Eventually(t, "the end of the session", func() bool { return e.client.SessionID() != session })
		e.keep(framework.Ephemeral)
		heal()
		e.start()
		if err := former.Close(t.Context()); err != nil { // until then it may delete the new node, see K7
			t.Fatal(err)
		}
		e.untilOwned(ours)
		e.closed()
	}, early)
	rule(t, "this session", withRealServer, func(t *testing.T, e *env) {
		e.occupy(e.client, framework.Ephemeral)
		before := e.traffic()
		e.start()
		e.untilOwned(ours)
		if n := e.traffic().minus(before); n.writes != 2 { // the create that is refused, and the data
			t.Errorf("%+v", n)
		}
		if lines := e.log.all(); len(lines) > 0 {
			t.Errorf("logged %q", lines)
		}
		e.creations(0)
		e.closed()
	})
	rule(t, "another client", withRealServer, func(t *testing.T, e *env) {
		e.occupy(e.operator, framework.Ephemeral)
		e.start()
		if stat := e.until(ours); stat.EphemeralOwner != e.operator.SessionID() {
			t.Fatalf("the node is of session %x", stat.EphemeralOwner)
		}
		e.logged("WARN the kept node is an ephemeral node of another client")
		e.creations(0)
		e.delete()
		e.untilOwned(ours)
		e.creations(1)
		e.closed()
	})
}

// K3: the data of others are put right by the first look after Start, by that after a reconnect,
// and by SetData, and never as an answer to the change.
func TestRuleK3(t *testing.T) {
	rule(t, "not at once", withRealServer, func(t *testing.T, e *env) {
		e.start()
		before := e.traffic()
		e.overwrite(theirs)
		suite.Eventually(t, "the read that sets the watch", func() bool { return e.traffic().minus(before).reads == 1 })
		e.quiet()
		if data, _, _ := e.read(); data != theirs {
			t.Fatalf("the data is %q", data)
		}
		if n := e.traffic().minus(before); n != (traffic{reads: 1}) {
			t.Errorf("%+v", n)
		}
		e.network.Cut()
		e.untilOwned(ours)
		e.closed()
	})
	rule(t, "not behind the event of the create", withRealServer, func(t *testing.T, e *env) {
		e.start()
		ignore := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
		e.operate(e.client.Watches().Add().WithMode(framework.PersistentWatch).ForPath(t.Context(), e.path, ignore))
		e.network.On(jute.OpGetData, suite.Late, nil) // by which the keeper sees its new node
		hit := e.network.On(jute.OpGetData, suite.Late, func() { e.overwrite(theirs) })
		e.delete()
		<-hit
		suite.Eventually(t, "the watches", func() bool { return e.watches(e.client) == 2 })
		if e.b.Virtual {
			elapse(suite.SessionTimeout)
		}
		e.until(theirs)
		e.operate(e.client.Watches().Remove().ForPath(t.Context(), e.path, ignore)) // has the keeper look again
		e.closed()
	})
	rule(t, "not behind the create", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpGetData, suite.Late, func() {
			suite.Eventually(t, "the create", func() bool { return len(e.names()) == 1 })
			e.overwrite(theirs)
		})
		e.delete()
		<-hit
		e.until(theirs)
		e.quiet()
		e.until(theirs)
		e.network.Cut()
		e.untilOwned(ours)
		e.closed()
	})
	rule(t, "by SetData", withRealServer, func(t *testing.T, e *env) {
		e.start()
		e.overwrite(theirs)
		e.operate(e.node.SetData(t.Context(), []byte(ours))) // the same as before
		e.untilOwned(ours)
		e.closed()
	})
	rule(t, "by Start", withRealServer, func(t *testing.T, e *env) {
		e.occupy(e.operator, framework.Persistent)
		e.start()
		e.until(ours)
		e.closed()
	})
	rule(t, "two keepers of different data", suite.InVirtualTime, func(t *testing.T, e *env) {
		other, err := nodes.NewPersistentNode(e.operator, e.path, framework.Ephemeral, []byte(theirs))
		e.operate(err)
		e.operate(other.Start(t.Context()))
		e.start()
		before, _, _ := e.read()
		elapse(time.Minute)
		stat := e.until(before)
		elapse(time.Minute)
		if after := e.until(before); after.Mzxid != stat.Mzxid {
			t.Error("the keepers write by turns")
		}
		e.operate(other.Close(t.Context()))
		e.untilOwned(ours)
		e.closed()
	})
}

// K4: every change of the data and every adoption ends with the watch set.
func TestRuleK4(t *testing.T) {
	rule(t, "after changes", withRealServer, func(t *testing.T, e *env) {
		e.start()
		for range 3 {
			e.overwrite(theirs)
			e.quiet()
		}
		e.delete()
		e.untilOwned(ours)
		e.closed()
	})
	rule(t, "adopted", withRealServer, func(t *testing.T, e *env) {
		e.occupy(e.operator, framework.Persistent)
		e.start()
		e.delete()
		e.untilOwned(ours)
		e.closed()
	})
	rule(t, "foreign session ends", withRealServer, func(t *testing.T, e *env) { // N2
		other, network := e.b.Client(t)
		e.connected(other)
		e.occupy(other, framework.Ephemeral)
		e.start()
		e.until(ours)
		network.Expire(t)
		e.untilOwned(ours)
		e.closed()
	})
}

// K5: a deleted node is made again after a pause that grows; a deletion while the client is cut
// off is noticed, too.
func TestRuleK5(t *testing.T) {
	rule(t, "pauses grow", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		gone := func() time.Duration {
			e.delete()
			began := time.Now()
			for {
				if _, _, there := e.read(); there {
					return time.Since(began)
				}
				elapse(10 * time.Millisecond)
			}
		}
		first := gone()
		if first > 100*time.Millisecond {
			t.Errorf("it took %v to make the node again", first)
		}
		var last time.Duration
		for range 18 {
			last = max(last, gone())
		}
		if last < 4*time.Second || last > 16*time.Second {
			t.Errorf("after 18 deletions in a row it took %v", last)
		}
		elapse(time.Minute)
		if again := gone(); again > 100*time.Millisecond {
			t.Errorf("after a minute of peace it took %v", again)
		}
		e.closed()
	})
	rule(t, "while cut off", withRealServer, func(t *testing.T, e *env) {
		e.start()
		heal := e.network.Isolate()
		e.delete()
		heal()
		e.untilOwned(ours)
		e.closed()
	})
}

// K6: Close deletes what a create whose answer is lost may have made, and leaves the ephemeral
// node of another client alone.
func TestRuleK6(t *testing.T) {
	rule(t, "behind a create", withRealServer, func(t *testing.T, e *env) {
		e.start()
		closed := make(chan error, 1)
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() {
			heal := e.network.Isolate()
			go func() {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				closed <- e.node.Close(ctx)
				heal()
			}()
		})
		e.delete()
		<-hit
		if err := <-closed; err != nil {
			suite.WantErr(t, err, context.DeadlineExceeded)
		}
		e.untilNone()
	})
	rule(t, "another client's", withRealServer, func(t *testing.T, e *env) {
		e.occupy(e.operator, framework.Ephemeral)
		e.start()
		e.close()
		if stat := e.until(ours); stat.EphemeralOwner != e.operator.SessionID() {
			t.Fatalf("the node is of session %x", stat.EphemeralOwner)
		}
	})
	t.Run("persistent", func(t *testing.T) {
		suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.directory()
			e.keep(framework.Persistent)
			closed := make(chan error, 1)
			hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() {
				heal := e.network.Isolate()
				go func() {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					time.AfterFunc(100*time.Millisecond, heal)
					closed <- e.node.Close(ctx)
				}()
			})
			suite.WantErr(t, e.node.Start(t.Context()), framework.ErrClosed)
			<-hit
			e.operate(<-closed)
			e.untilNone()
		})
	})
}

// K7: between a look and a write another keeper's node may stand there. There is a gap at most,
// and no fight: in the end there is one node.
func TestRuleK7(t *testing.T) {
	rule(t, "Close does not take a later node", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpDelete, suite.CutBefore, func() {
			e.delete()
			e.occupy(e.operator, framework.Ephemeral)
		})
		e.close()
		<-hit
		e.until(theirs)
	})
	rule(t, "the replacement meets another node", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		session := e.client.SessionID()
		heal := e.network.Isolate()
		suite.Eventually(t, "the end of the session", func() bool { return e.client.SessionID() != session })
		hit := e.network.On(jute.OpMulti, suite.Late, func() {
			e.delete()
			e.occupy(e.operator, framework.Ephemeral)
			e.overwrite(changed) // another version
		})
		heal()
		<-hit
		stat := e.until(ours) // adopted, and given the data
		if stat.EphemeralOwner != e.operator.SessionID() {
			t.Fatalf("the node is of session %x", stat.EphemeralOwner)
		}
		e.delete()
		e.untilOwned(ours)
		e.closed()
	}, early)
	rule(t, "two keepers", suite.InVirtualTime, func(t *testing.T, e *env) {
		other, err := nodes.NewPersistentNode(e.operator, e.path, framework.Ephemeral, []byte(ours))
		e.operate(err)
		e.operate(other.Start(t.Context()))
		e.start()
		for range 5 {
			e.network.Expire(t)
			elapse(suite.SessionTimeout)
			e.delete()
			e.until(ours)
		}
		e.operate(other.Close(t.Context()))
		e.untilOwned(ours)
		e.closed()
		if err := other.Close(t.Context()); err != nil && !errors.Is(err, framework.ErrClosed) {
			t.Error(err)
		}
	})
}
