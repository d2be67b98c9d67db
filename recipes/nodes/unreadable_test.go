package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// hidden permits a keeper to write the node, and only the operator to read it.
var hidden = []framework.ACL{
	framework.WorldACL(framework.PermWrite), framework.DigestACL("operator", "password", framework.PermRead),
}

// newHiddenEnv is newEnv with an operator that may read hidden nodes.
func newHiddenEnv(t *testing.T, b *suite.Backend) *env {
	t.Helper()
	e := newEnv(t, b)
	e.operator, _ = b.Client(t, framework.WithAuthorization("digest", []byte("operator:password")))
	e.directory() // else it would have the ACL, too
	return e
}

// onReleases runs a test in virtual time, with servers that show the Stat of a node which may not be read, and with
// those that do not.
func onReleases(t *testing.T, test func(e *env, shown bool)) {
	suite.EachRelease(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		test(newHiddenEnv(t, b), !b.ExistsNeedsRead(t))
	})
}

// A node that may not be read is kept across the end of a session.
func TestUnreadableInAnotherSession(t *testing.T) {
	onReleases(t, func(e *env, _ bool) {
		e.keep(framework.Ephemeral, nodes.WithACL(hidden...))
		e.start()
		before := e.untilOwned(ours)
		for range 3 {
			e.network.Expire(e.t)
			elapse(11 * time.Second)
			after := e.untilOwned(ours)
			if after.Czxid == before.Czxid || after.Version != 0 {
				e.t.Errorf("the Stat was %+v and is %+v", before, after)
			}
			before = after
		}
		e.creations(4)
		e.closed()
	})
}

// A node of an earlier session that is still there is replaced, if the keeper may write to it: the answer shows whose
// it is.
func TestUnreadableOfAnEarlierSession(t *testing.T) {
	onReleases(t, func(e *env, _ bool) {
		e.keep(framework.Ephemeral, nodes.WithACL(hidden...))
		e.start()
		before := e.untilOwned(ours)
		heal := e.network.Isolate()
		elapse(suite.SessionTimeout) // the client gives its session up
		heal()
		elapse(30 * time.Second)
		if after := e.untilOwned(ours); after.Czxid == before.Czxid {
			e.t.Errorf("it is the same node: %+v", after)
		}
		e.closed()
	})
}

// A lost reply leaves no doubt behind: the node of the create is this client's, also where nodes are taken over.
func TestUnreadableAfterLostReplies(t *testing.T) {
	for name, fate := range map[string]suite.Fate{"not sent": suite.CutBefore, "reply lost": suite.CutAfter} {
		for kind, opts := range map[string][]nodes.Option{"": nil, ", takeover": {nodes.WithTakeover()}} {
			t.Run(name+kind, func(t *testing.T) {
				suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
					e := newHiddenEnv(t, b)
					e.network.On(jute.OpCreate2, fate, nil)
					e.keep(framework.Ephemeral, append(opts, nodes.WithACL(hidden...))...)
					e.start()
					e.untilOwned(ours)
					e.creations(1)
					e.operate(e.node.SetData(e.t.Context(), []byte(changed)))
					e.untilOwned(changed)
					e.closed()
				})
			})
		}
	}
}

// A Start that fails behind a lost reply deletes what its create has made, by the session alone.
func TestUnreadableOfAFailedStart(t *testing.T) {
	onReleases(t, func(e *env, _ bool) {
		e.keep(framework.Ephemeral, nodes.WithACL(hidden...))
		ctx, cancel := context.WithCancel(e.t.Context())
		e.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		suite.WantErr(e.t, e.node.Start(ctx), context.Canceled)
		e.untilNone()
	})
}

// A persistent node that is there is adopted, as one that may be read.
func TestUnreadableIsAdopted(t *testing.T) {
	onReleases(t, func(e *env, shown bool) {
		e.hide(framework.Persistent)
		e.keepHidden(framework.Persistent)
		e.start()
		e.until(ours)
		e.operate(e.node.SetData(e.t.Context(), []byte(changed)))
		e.until(changed)
		e.closedIf(shown)
	})
}

// Another client's ephemeral node is written once, when it is adopted, and made anew when it is gone.
func TestUnreadableOfAnotherClient(t *testing.T) {
	onReleases(t, func(e *env, _ bool) {
		e.hide(framework.Ephemeral)
		e.keep(framework.Ephemeral)
		e.start()
		for range 3 {
			elapse(time.Minute)
			if data, stat, _ := e.read(); data != ours || stat.Version != 1 || stat.EphemeralOwner != e.operator.SessionID() {
				e.t.Fatalf("the node has %q, %+v", data, stat)
			}
			e.network.Expire(e.t)
		}
		e.logged("WARN the kept node is an ephemeral node of another client")
		e.delete()
		elapse(11 * time.Second)
		e.untilOwned(ours)
		e.closed()
	})
}

// The client that has taken the node over keeps it and its data.
func TestUnreadableWasTakenOver(t *testing.T) {
	for name, takeOver := range map[string]func(e *env){
		"after the end of the session": func(e *env) {
			heal := e.network.Isolate()
			elapse(2 * suite.SessionTimeout)
			e.hide(framework.Ephemeral)
			heal()
		},
		"in one transaction": func(e *env) { e.replaceHidden(framework.Ephemeral) },
	} {
		t.Run(name, func(t *testing.T) {
			onReleases(t, func(e *env, _ bool) {
				e.keep(framework.Ephemeral, nodes.WithTakeover(), nodes.WithACL(hidden...))
				e.start()
				e.untilOwned(ours)
				takeOver(e)
				elapse(time.Minute)
				suite.WantErr(e.t, e.node.SetData(e.t.Context(), []byte(changed)), nodes.ErrPending)
				elapse(time.Minute)
				if data, stat, _ := e.read(); data != theirs || stat.Version != 0 {
					e.t.Errorf("the node that was taken over has %q, %+v", data, stat)
				}
				e.delete()
				elapse(11 * time.Second)
				e.untilOwned(changed)
				e.closed()
			})
		})
	}
}

// Whose a node is that is to be taken over cannot be found out on newer servers.
func TestUnreadableIsTakenOver(t *testing.T) {
	onReleases(t, func(e *env, shown bool) {
		e.hide(framework.Ephemeral)
		e.keep(framework.Ephemeral, nodes.WithTakeover())
		err := e.node.Start(e.t.Context())
		if shown {
			e.operate(err)
			e.untilOwned(ours)
			e.closed()
			return
		}
		suite.WantErr(e.t, err, framework.ErrNoAuth)
		if data, stat, _ := e.read(); data != theirs || stat.Version != 0 {
			e.t.Errorf("the node has %q, %+v", data, stat)
		}
	})
}

// Close deletes an ephemeral node of the client's session, also one that it cannot see and that others have written to.
// Of a persistent one that it cannot see nothing tells whose it is.
func TestUnreadableIsDeleted(t *testing.T) {
	eachHidden(t, func(e *env, mode framework.CreateMode, shown bool) {
		suite.Got(e.operator.SetData().ForPath(e.t.Context(), e.path, []byte(theirs))).OK(e.t)
		synctest.Wait()
		e.closedIf(shown || mode == framework.Ephemeral)
	})
}

// Close leaves the node that another client has created in place of the kept one, whose version is the same.
func TestUnreadableOfAnotherClientStays(t *testing.T) {
	eachHidden(t, func(e *env, mode framework.CreateMode, shown bool) {
		e.replaceHidden(mode)
		synctest.Wait()
		if err := e.node.Close(e.t.Context()); shown {
			e.operate(err)
		} else {
			suite.WantErr(e.t, err, framework.ErrNoAuth)
		}
		if data, _, there := e.read(); !there || data != theirs {
			e.t.Errorf("the node is there: %t, with %q", there, data)
		}
	})
}

// eachHidden runs test with a kept node of either mode that its client cannot see.
func eachHidden(t *testing.T, test func(e *env, mode framework.CreateMode, shown bool)) {
	t.Helper()
	for name, mode := range map[string]framework.CreateMode{"ephemeral": framework.Ephemeral, "persistent": framework.Persistent} {
		t.Run(name, func(t *testing.T) {
			onReleases(t, func(e *env, shown bool) {
				e.keepHidden(mode)
				e.start()
				e.until(ours)
				test(e, mode, shown)
			})
		})
	}
}

// hide has the operator make a node that only it may read.
func (e *env) hide(mode framework.CreateMode) {
	e.t.Helper()
	e.occupy(e.operator, mode)
	_, err := e.operator.SetACL().ForPath(e.t.Context(), e.path, hidden)
	e.operate(err)
}

// replaceHidden has the operator put its own hidden node in place of the kept one, in one transaction.
func (e *env) replaceHidden(mode framework.CreateMode) {
	e.t.Helper()
	op := e.operator.TransactionOp()
	create := op.Create().WithMode(mode).WithData([]byte(theirs)).WithACL(hidden...)
	_, err := e.operator.Transaction().ForOperations(e.t.Context(), op.Delete().ForPath(e.path), create.ForPath(e.path))
	e.operate(err)
}

// keepHidden is keep, which expects that the node can be deleted, for one that this client may not read.
func (e *env) keepHidden(mode framework.CreateMode) {
	e.t.Helper()
	e.node = suite.Got(nodes.NewPersistentNode(e.client, e.path, mode, []byte(ours), nodes.WithACL(hidden...))).OK(e.t)
}

// closedIf closes the keeper. If it cannot know the node, that stays.
func (e *env) closedIf(known bool) {
	e.t.Helper()
	if known {
		e.closed()
		return
	}
	suite.WantErr(e.t, e.node.Close(e.t.Context()), framework.ErrNoAuth)
	if _, _, there := e.read(); !there {
		e.t.Error("the node was deleted")
	}
}
