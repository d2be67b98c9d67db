package barriers_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// What a round leaves behind whose last member dies, or does not wait for the others.

// dies lets the first one of two members die while the other one waits for it to leave.
func (e *env) dies(lowest, highest *party) {
	e.t.Helper()
	leaving := highest.leave()
	e.untilNodes(1)
	suite.Answered(e.t, highest.client)
	lowest.network.Expire(e.t)
	leaving.ok()
}

// wantAnotherRound fails unless two others come together and go.
func (e *env) wantAnotherRound() {
	e.t.Helper()
	e.wantRound(e.party(2), e.party(2))
}

// wantRound fails unless two members come together and go, and leave nothing.
func (e *env) wantRound(first, second *party) {
	e.t.Helper()
	entering := first.enter()
	first.waiting()
	entering.waits()
	suite.OK(e.t, second.Enter(e.t.Context()))
	entering.ok()
	apart(first, second)
	e.wantChildren(0)
}

// A "ready" whose last member has died is removed by the others: a member in Java would pass it alone.
func TestRuleB10(t *testing.T) {
	onServers(t, func(e *env) {
		lowest, highest := e.sorted()
		e.dies(lowest, highest)
		e.wantChildren(0)
		e.wantErr(lowest.Leave(e.t.Context()), barriers.ErrMemberLost)
		e.wantAnotherRound()
		e.wantNothing(lowest, highest)
	})
	t.Run("all are lost", func(t *testing.T) {
		inVirtualTime(t, func(e *env) {
			first, second := e.together()
			first.network.Expire(e.t)
			second.network.Expire(e.t)
			e.untilNodes(0)
			e.wantErr(first.Leave(e.t.Context()), barriers.ErrMemberLost)
			e.wantErr(second.Leave(e.t.Context()), barriers.ErrMemberLost)
			e.wantChildren(0)
		})
	})
	t.Run("all have died", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.together()
			suite.OK(e.t, first.client.Close(e.t.Context()))
			suite.OK(e.t, second.client.Close(e.t.Context()))
			e.wantChildren(1)
			e.wantAnotherRound()
		})
	})
	t.Run("a member who comes removes it", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.together()
			suite.OK(e.t, first.client.Close(e.t.Context()))
			suite.OK(e.t, second.client.Close(e.t.Context()))
			p := e.party(2)
			entering := p.enter()
			suite.Eventually(e.t, "no ready", func() bool { return !e.isOpen() })
			p.waiting()
			entering.waits()
			other := e.party(2)
			suite.OK(e.t, other.Enter(e.t.Context()))
			entering.ok()
			apart(p, other)
		})
	})
	t.Run("nobody waits", func(t *testing.T) {
		inVirtualTime(t, func(e *env) {
			ended, cancel := context.WithCancel(e.t.Context())
			cancel()
			lowest, highest := e.sorted()
			lowest.network.On(jute.OpDelete, suite.Late, func() { e.wantErr(highest.Leave(ended), context.Canceled) })
			a := lowest.start(ended, lowest.Leave)
			e.wantErr(a.ended(), context.Canceled)
			e.wantChildren(0)
			e.wantNothing(lowest, highest)
		})
	})
}

// The requests of the removal are lost, or their replies are.
func TestRemovalLost(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]jute.Op{"looks": jute.OpExists, "removes": jute.OpMulti} {
		for fateName, fate := range map[string]suite.Fate{"before send": suite.CutBefore, "reply lost": suite.CutAfter} {
			t.Run(name+"/"+fateName, func(t *testing.T) {
				onServers(t, func(e *env) {
					lowest, highest := e.sorted()
					leaving := highest.leave()
					e.untilNodes(1)
					suite.Answered(e.t, highest.client)
					highest.network.On(op, fate, nil)
					lowest.network.Expire(e.t)
					leaving.ok()
					e.wantChildren(0)
					e.wantAnotherRound()
				})
			})
		}
	}
}

// A removal that comes late does not remove the "ready" of the next round, be it of Go or of Java.
func TestRemovalLate(t *testing.T) {
	t.Parallel()
	late := func(t *testing.T, next func(e *env) func()) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			leaving := highest.leave()
			e.untilNodes(1)
			suite.Answered(e.t, highest.client)
			var end func()
			hit := highest.network.On(jute.OpMulti, suite.Late, func() { end = next(e) })
			lowest.network.Expire(e.t)
			<-hit
			leaving.ok()
			suite.Answered(e.t, highest.client)
			if !e.isOpen() {
				e.t.Fatal("the ready of the next round was removed")
			}
			end()
			e.wantChildren(0)
		})
	}
	t.Run("Go's", func(t *testing.T) {
		late(t, func(e *env) func() {
			first, second := e.together()
			return func() { apart(first, second) }
		})
	})
	t.Run("Java's", func(t *testing.T) {
		late(t, func(e *env) func() {
			e.delete("ready")
			e.create("ready")
			return func() { e.delete("ready") }
		})
	})
	t.Run("of one who comes, in a barrier that is made anew", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.together()
			suite.OK(e.t, first.client.Close(e.t.Context()))
			suite.OK(e.t, second.client.Close(e.t.Context()))
			p := e.party(2)
			var end func()
			hit := p.network.On(jute.OpMulti, suite.Late, func() {
				e.deleteMeanwhile("ready")
				e.deleteMeanwhile(e.untilNodes(1)[0])
				suite.Check(e.t, e.operator.Delete().ForPath(context.WithoutCancel(e.t.Context()), e.path))
				first, second := e.together()
				end = func() { apart(first, second) }
			})
			entering := p.enter()
			<-hit
			entering.ok() // as a guest
			if !e.isOpen() {
				e.t.Fatal("the ready of the next round was removed")
			}
			end()
			suite.OK(e.t, p.Leave(e.t.Context()))
			e.wantChildren(0)
		})
	})
	t.Run("a member of the round is there", func(t *testing.T) {
		onServers(t, func(e *env) {
			ended, cancel := context.WithCancel(e.t.Context())
			cancel()
			first, second := e.together()
			a := first.start(ended, first.Leave)
			e.wantErr(a.ended(), context.Canceled)
			if !e.isOpen() {
				e.t.Fatal("ready was removed, and the other member is in")
			}
			suite.OK(e.t, second.Leave(e.t.Context()))
			e.wantChildren(0)
		})
	})
}

// The data of the barrier's node stay as they are.
func TestBarrierKeepsData(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 11, 4096, 4097} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			onServers(t, func(e *env) {
				data := bytes.Repeat([]byte{0xfe}, size)
				suite.Got(e.operator.Create().CreatingParentsIfNeeded().WithData(data).ForPath(e.t.Context(), e.path)).OK(e.t)
				version := int32(0)
				for range 2 {
					lowest, highest := e.sorted()
					e.dies(lowest, highest)
					if size <= 4096 {
						version++
					}
					if open := e.isOpen(); open != (size > 4096) {
						e.t.Errorf("there is a ready: %v", open)
					}
					var stat framework.Stat
					now := suite.Got(e.operator.GetData().StoringStatIn(&stat).ForPath(e.t.Context(), e.path)).OK(e.t)
					if !bytes.Equal(now, data) || stat.Version != version {
						e.t.Errorf("version %d, want %d; data %x", stat.Version, version, now)
					}
				}
			})
		})
	}
}

// Data that somebody else writes at the same time are not lost, and do not keep the barrier closed.
func TestBarrierWritten(t *testing.T) {
	onServers(t, func(e *env) {
		suite.Got(e.operator.Create().CreatingParentsIfNeeded().WithData(nil).ForPath(e.t.Context(), e.path)).OK(e.t)
		first, second := e.party(2), e.party(2)
		entering := first.enter()
		first.waiting()
		want := ""
		for i := range 3 {
			second.network.On(jute.OpMulti, suite.Late, func() {
				want = fmt.Sprint("written ", i)
				_, err := e.operator.SetData().ForPath(context.WithoutCancel(e.t.Context()), e.path, []byte(want))
				suite.Check(e.t, err)
			})
		}
		suite.OK(e.t, second.Enter(e.t.Context()))
		entering.ok()
		data := suite.Got(e.operator.GetData().ForPath(e.t.Context(), e.path)).OK(e.t)
		if string(data) != want || want != "written 2" {
			e.t.Errorf("the data are %q, want %q", data, want)
		}
		apart(first, second)
	})
}

// Who may not write to the barrier's node opens the barrier without a mark. Then "ready" stays, and the next
// round replaces it.
func TestBarrierReadOnly(t *testing.T) {
	onServers(t, func(e *env) {
		acl := framework.ACL{Perms: framework.PermAll &^ framework.PermWrite, Scheme: "world", ID: "anyone"}
		suite.Got(e.operator.Create().CreatingParentsIfNeeded().WithACL(acl).WithData(nil).ForPath(e.t.Context(), e.path)).OK(e.t)
		lowest, highest := e.sorted()
		if n := lowest.network.Requests(jute.OpMulti) + highest.network.Requests(jute.OpMulti); n != 2 {
			e.t.Errorf("%d transactions, want one that is refused and another one", n)
		}
		e.dies(lowest, highest)
		if !e.isOpen() {
			e.t.Fatal("ready was removed, and nothing has marked it")
		}
		e.wantErr(lowest.Leave(e.t.Context()), barriers.ErrMemberLost)
		e.wantRound(lowest, highest)
	})
}

// What the removal costs: nothing where nobody has died, and two reads and a transaction where somebody has.
func TestRemovalRequests(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		e.create("zzz")
		e.delete("zzz")
		lowest, highest := e.sorted()
		before := sent(highest)
		e.dies(lowest, highest)
		e.wantSent("Leave", since(before, highest), map[jute.Op]int{
			jute.OpExists: 2, jute.OpGetChildren2: 3, jute.OpGetData: 1, jute.OpDelete: 1, jute.OpMulti: 1,
		})
	})
}
