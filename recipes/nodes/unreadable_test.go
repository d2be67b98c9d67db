package nodes_test

import (
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

// A lost reply leaves no doubt behind.
func TestUnreadableAfterLostReplies(t *testing.T) {
	for name, fate := range map[string]suite.Fate{"not sent": suite.CutBefore, "reply lost": suite.CutAfter} {
		t.Run(name, func(t *testing.T) {
			onReleases(t, func(e *env, _ bool) {
				e.network.On(jute.OpCreate2, fate, nil)
				e.keep(framework.Ephemeral, nodes.WithACL(hidden...))
				e.start()
				e.untilOwned(ours)
				e.operate(e.node.SetData(e.t.Context(), []byte(changed)))
				e.untilOwned(changed)
				e.closed()
			})
		})
	}
}

// A persistent node that is there is adopted, as one that may be read.
func TestUnreadableIsAdopted(t *testing.T) {
	onReleases(t, func(e *env, _ bool) {
		e.occupy(e.operator, framework.Persistent)
		_, err := e.operator.SetACL().ForPath(e.t.Context(), e.path, hidden)
		e.operate(err)
		e.keep(framework.Persistent)
		e.start()
		e.until(ours)
		e.operate(e.node.SetData(e.t.Context(), []byte(changed)))
		e.until(changed)
		e.closed()
	})
}

// Whose a node is that is to be taken over cannot be found out on newer servers.
func TestUnreadableIsTakenOver(t *testing.T) {
	onReleases(t, func(e *env, shown bool) {
		e.occupy(e.operator, framework.Ephemeral)
		_, err := e.operator.SetACL().ForPath(e.t.Context(), e.path, hidden)
		e.operate(err)
		e.keep(framework.Ephemeral, nodes.WithTakeover())
		err = e.node.Start(e.t.Context())
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

// A keeper deletes its node when it is closed, also if it cannot see it, but no node that it does not know.
func TestUnreadableIsDeleted(t *testing.T) {
	onReleases(t, func(e *env, shown bool) {
		// Not by keep, which expects that the node can be deleted.
		e.node = suite.Got(nodes.NewPersistentNode(e.client, e.path, framework.Ephemeral, []byte(ours), nodes.WithACL(hidden...))).OK(e.t)
		e.start()
		e.untilOwned(ours)
		suite.Got(e.operator.SetData().ForPath(e.t.Context(), e.path, []byte(theirs))).OK(e.t)
		synctest.Wait()
		err := e.node.Close(e.t.Context())
		if _, _, there := e.read(); there == shown {
			e.t.Errorf("the node is there: %t", there)
		}
		if shown {
			e.operate(err)
		} else {
			suite.WantErr(e.t, err, framework.ErrNoAuth)
		}
	})
}
