package barriers_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// The rules of the double barrier have been found by model checking. Each has a test here, but
// for B12, which is about members in Java: see package interop.

// Every node that is created has a fresh name.
func TestRuleB1(t *testing.T) {
	onServers(t, func(e *env) {
		p := e.party(2)
		entering := p.enter()
		var names []string
		for range 3 {
			var name string
			suite.Eventually(e.t, "another node", func() bool {
				now := e.nodes()
				if len(now) != 1 || slices.Contains(names, now[0]) {
					return false
				}
				name = now[0]
				return true
			})
			names = append(names, name)
			e.delete(name)
		}
		e.untilNodes(1)
		e.create("zz")
		other := e.party(2)
		suite.OK(e.t, other.Enter(e.t.Context()))
		entering.ok()
		e.delete("zz")
		apart(p, other)
	})
}

// Enter creates its node, and looks behind that, in one write.
func TestRuleB2(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		e.create("other")
		p := e.party(3)
		seen := 0
		hit := p.network.On(jute.OpExists, suite.Late, func() { // of "ready"
			suite.Eventually(e.t, "the node, ahead of the look", func() bool { seen = len(e.nodes()); return seen == 2 })
		})
		entering := p.enter()
		<-hit
		suite.Eventually(e.t, "the list", func() bool { return p.network.Requests(jute.OpGetChildren2) == 1 })
		if seen != 2 {
			e.t.Errorf("%d nodes", seen)
		}
		for op, want := range map[jute.Op]int{jute.OpCreate2: 1, jute.OpGetData: 1, jute.OpExists: 1, jute.OpGetChildren2: 1, jute.OpMulti: 0} {
			if n := p.network.Requests(op); n != want {
				e.t.Errorf("%d requests %s, want %d", n, jute.OpName(op), want)
			}
		}
		entering.waits()
	})
}

// A "ready" that is left of members who have died lets nobody in.
func TestRuleB3(t *testing.T) {
	onServers(t, func(e *env) {
		old := e.create("ready")
		p := e.party(2)
		entering := p.enter()
		p.waiting()
		entering.waits()
		other := e.party(2)
		suite.OK(e.t, other.Enter(e.t.Context()))
		entering.ok()
		var stat framework.Stat
		_, err := e.operator.CheckExists().StoringStatIn(&stat).ForPath(e.t.Context(), e.path+"/ready")
		if err != nil || stat.Czxid <= old {
			e.t.Errorf("the dead ready was not replaced: %x, %x, %v", stat.Czxid, old, err)
		}
		apart(p, other)
		e.wantChildren(0)
	})
}

// A barrier opens only while all whom it counts are there.
func TestRuleB4(t *testing.T) {
	onServers(t, func(e *env) {
		first, second := e.party(2), e.party(2)
		a := first.enter()
		name := first.waiting()
		hit := second.network.On(jute.OpMulti, suite.Late, func() { e.deleteMeanwhile(name) })
		b := second.enter()
		<-hit
		a.ok() // comes again
		b.ok()
		if names := e.nodes(); slices.Contains(names, name) {
			e.t.Errorf("nodes %q", names)
		}
		apart(first, second)
	})
	t.Run("counted, and gone for a while", func(t *testing.T) {
		inVirtualTime(t, func(e *env) {
			first, second := e.party(2), e.party(2)
			a := first.enter()
			name := first.waiting()
			var heal func()
			hit := second.network.On(jute.OpMulti, suite.Late, func() {
				heal = first.network.Isolate()
				e.deleteMeanwhile(name)
			})
			b := second.enter()
			<-hit
			synctest.Wait()
			b.waits()
			heal()
			a.ok()
			b.ok()
			apart(first, second)
		})
	})
	t.Run("reply lost", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.party(2), e.party(2)
			a := first.enter()
			first.waiting()
			second.network.On(jute.OpMulti, suite.CutAfter, nil)
			suite.OK(e.t, second.Enter(e.t.Context()))
			a.ok()
			apart(first, second)
		})
	})
}

// The creation of "ready" releases without a look; everything else is a reason to look.
func TestRuleB5(t *testing.T) {
	onServers(t, func(e *env) {
		p := e.party(2)
		entering := p.enter()
		name := p.waiting()
		looks := p.network.Requests(jute.OpGetChildren2)
		_, err := e.operator.SetData().ForPath(e.t.Context(), e.path+"/"+name, []byte("hello"))
		suite.OK(e.t, err)
		suite.Eventually(e.t, "a look", func() bool { return p.network.Requests(jute.OpGetChildren2) == looks+1 })
		p.waiting()
		p.network.Cut()
		suite.Eventually(e.t, "another look", func() bool { return p.network.Requests(jute.OpGetChildren2) >= looks+2 })
		p.waiting()
		entering.waits()
		looks = p.network.Requests(jute.OpGetChildren2) // the cut may have hit the first look, which is sent again
		e.create("ready")
		entering.ok()
		if n := p.network.Requests(jute.OpGetChildren2); n != looks {
			e.t.Errorf("%d looks behind ready", n-looks)
		}
		apart(p)
	})
}

// A round that was open between two nodes of a member lets the second one not in.
func TestRuleB5BetweenNodes(t *testing.T) {
	onServers(t, func(e *env) {
		p := e.party(2)
		entering := p.enter()
		name := p.waiting()
		hit := p.network.On(jute.OpCreate2, suite.Late, func() {
			e.createMeanwhile("ready")
			e.deleteMeanwhile("ready")
		})
		e.delete(name)
		<-hit
		e.untilNodes(1)
		p.waiting()
		entering.waits()
		other := e.party(2)
		suite.OK(e.t, other.Enter(e.t.Context()))
		entering.ok()
		apart(p, other)
	})
}

// A member that comes late to an open round passes, and is not counted in the next one.
func TestRuleB6(t *testing.T) {
	late := func(t *testing.T, prepare func(e *env, guest *party)) {
		onServers(t, func(e *env) {
			first, second := e.together()
			guest := e.party(2)
			prepare(e, guest)
			suite.OK(e.t, guest.Enter(e.t.Context()))
			e.untilNodes(2)
			leaving := guest.leave()
			apart(first, second)
			leaving.ok()
			e.wantNothing(guest)
		})
	}
	t.Run("passes", func(t *testing.T) { late(t, func(*env, *party) {}) })
	t.Run("reply lost", func(t *testing.T) {
		late(t, func(_ *env, guest *party) { guest.network.On(jute.OpMulti, suite.CutAfter, nil) })
	})
	t.Run("before send", func(t *testing.T) {
		late(t, func(_ *env, guest *party) { guest.network.On(jute.OpMulti, suite.CutBefore, nil) })
	})
	t.Run("the round is over", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.together()
			guest := e.party(2)
			guest.network.On(jute.OpMulti, suite.Late, func() { // they do not wait for the guest's node
				a, b := first.leave(), second.leave()
				a.ok()
				b.ok()
			})
			entering := guest.enter()
			e.untilNodes(1)
			guest.waiting()
			entering.waits()
			suite.OK(e.t, first.Enter(e.t.Context()))
			entering.ok()
			apart(first, guest)
		})
	})
}

// A member that gives up is in if it was counted, and leaves nothing if not.
func TestRuleB7(t *testing.T) {
	giveUp := func(t *testing.T, op jute.Op, node int, check func(e *env, p *party, err error)) {
		onServers(t, func(e *env) {
			p := e.party(2)
			ctx, cancel := context.WithCancel(e.t.Context())
			defer cancel()
			entering := p.start(ctx, p.Enter)
			p.waiting()
			if op != 0 {
				p.network.On(op, suite.Late, func() {
					e.createMeanwhile("ready")
					// Another member sees the node, or has counted it.
					e.untilNodes(1)
				})
			}
			cancel()
			check(e, p, entering.ended())
			e.untilNodes(node)
		})
	}
	t.Run("counted before the first look", func(t *testing.T) {
		giveUp(t, jute.OpExists, 1, func(e *env, p *party, err error) { suite.OK(e.t, err) })
	})
	t.Run("counted before the delete", func(t *testing.T) {
		giveUp(t, jute.OpDelete, 0, func(e *env, p *party, err error) { suite.OK(e.t, err); suite.OK(e.t, p.Leave(e.t.Context())) })
	})
	t.Run("not counted", func(t *testing.T) {
		giveUp(t, 0, 0, func(e *env, p *party, err error) {
			e.wantErr(err, barriers.ErrNotPassed)
			e.wantErr(err, context.Canceled)
			e.wantNothing(p)
			e.wantErr(p.Leave(e.t.Context()), barriers.ErrEntered)
		})
	})
	t.Run("opened behind the delete", func(t *testing.T) {
		onServers(t, func(e *env) {
			p := e.party(2)
			ctx, cancel := context.WithCancel(e.t.Context())
			defer cancel()
			entering := p.start(ctx, p.Enter)
			p.waiting()
			first := true
			p.network.On(jute.OpExists, suite.Late, func() { first = false })
			p.network.On(jute.OpExists, suite.Late, func() {
				e.untilNodes(0)
				e.createMeanwhile("ready")
			})
			cancel()
			if err := entering.ended(); !first {
				e.wantErr(err, barriers.ErrNotPassed)
			}
			e.wantNothing(p)
		})
	})
}

// Leave waits for the members of the round in its first list, and for nobody else.
func TestRuleB8(t *testing.T) {
	onServers(t, func(e *env) {
		e.create("0-member") // ahead of every UUID
		p := e.party(2)
		suite.OK(e.t, p.Enter(e.t.Context()))
		for _, late := range []string{"0-late", "zz-late"} {
			e.create(late)
		}
		leaving := p.leave()
		suite.Eventually(e.t, "a watch on the one member", func() bool {
			return p.watches() == 1 && len(e.nodes()) == 3 // and none on its own node, which is gone
		})
		leaving.waits()
		e.create("0-later")
		e.delete("0-member")
		leaving.ok()
		if names := e.children(); !slices.Equal(names, []string{"0-late", "0-later", "zz-late"}) {
			e.t.Errorf("the barrier has %q", names)
		}
	})
	t.Run("the first one waits for the last one", func(t *testing.T) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			a := lowest.leave()
			lowest.watching(2)
			a.waits()
			if names := e.nodes(); len(names) != 2 {
				e.t.Errorf("nodes %q", names)
			}
			b := highest.leave()
			a.ok()
			b.ok()
			e.wantChildren(0)
			e.wantNothing(lowest, highest)
		})
	})
}

// A guest waits for the members of the round, if it is not over.
func TestRuleB9(t *testing.T) {
	onServers(t, func(e *env) {
		first, second := e.together()
		guest := e.party(2)
		suite.OK(e.t, guest.Enter(e.t.Context()))
		leaving := guest.leave()
		guest.watching(1)
		e.create("zz-late")
		leaving.waits()
		apart2 := []*call{first.leave(), second.leave()}
		for _, c := range apart2 {
			c.ok()
		}
		leaving.ok()

		e.delete("zz-late")
		first, second = e.together()
		suite.OK(e.t, guest.Enter(e.t.Context()))
		apart(first, second)
		begin := time.Now()
		suite.OK(e.t, guest.Leave(e.t.Context()))
		if d := time.Since(begin); e.b.Virtual && d > time.Second {
			e.t.Errorf("it took %v", d)
		}
	})
}

// The end of the session: Enter comes again, a member that is in is lost, and one that has
// deleted its node goes on.
func TestRuleB11(t *testing.T) {
	t.Parallel()
	t.Run("entering", func(t *testing.T) {
		onServers(t, func(e *env) {
			p := e.party(2)
			entering := p.enter()
			name := p.waiting()
			p.network.Expire(e.t)
			suite.Eventually(e.t, "another node", func() bool {
				names := e.nodes()
				return len(names) == 1 && names[0] != name
			})
			entering.waits()
			other := e.party(2)
			suite.OK(e.t, other.Enter(e.t.Context()))
			entering.ok()
			apart(p, other)
		})
	})
	t.Run("in", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.together()
			first.network.Expire(e.t)
			e.untilNodes(1)
			e.wantErr(first.Leave(e.t.Context()), barriers.ErrMemberLost)
			suite.OK(e.t, second.Leave(e.t.Context()))
			e.wantNothing(first, second)
		})
	})
	t.Run("leaving, before the delete", func(t *testing.T) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			a := lowest.leave()
			lowest.watching(2)
			lowest.network.Expire(e.t)
			e.wantErr(a.ended(), barriers.ErrMemberLost)
			suite.OK(e.t, highest.Leave(e.t.Context()))
			e.wantNothing(lowest, highest)
		})
	})
	t.Run("leaving, behind the delete", func(t *testing.T) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			b := highest.leave()
			e.untilNodes(1)
			highest.network.Expire(e.t)
			highest.watching(1)
			b.waits()
			suite.OK(e.t, lowest.Leave(e.t.Context()))
			b.ok()
			e.wantNothing(lowest, highest)
		})
	})
}
