package barriers_test

import (
	"context"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// The table of faults of the double barrier. A member enters (it creates its node, looks, waits,
// opens or passes by), is in, and leaves (it looks, watches, deletes its node, waits, or is the
// last one). Faults of a member that waits in Enter, and of one that is in, are in the rules'
// tests, too.

// round takes two members through a round, with faults before Enter and before Leave.
func (e *env) round(entering func(first, second *party), leaving func(lowest, highest *party)) {
	e.t.Helper()
	first, second := e.party(2), e.party(2)
	entering(first, second)
	a := first.enter()
	name := e.untilNodes(1)[0]
	b := second.enter()
	a.ok()
	b.ok()
	lowest, highest := first, second
	if e.nodes()[0] != name && slices.Contains(e.nodes(), name) {
		lowest, highest = second, first
	}
	leaving(lowest, highest)
	apart(lowest, highest)
	e.wantChildren(0)
}

func none(_, _ *party) {}

// A request that is lost, or whose reply is, is made again where that is right, and the round
// goes on.
func TestLostRequests(t *testing.T) {
	t.Parallel()
	type faulty func(p *party, fate suite.Fate)
	on := func(op jute.Op) faulty {
		return func(p *party, fate suite.Fate) { p.network.On(op, fate, nil) }
	}
	fates := map[string]suite.Fate{"before send": suite.CutBefore, "reply lost": suite.CutAfter}
	for name, fault := range map[string]faulty{
		"creates": on(jute.OpCreate2), "looks": on(jute.OpGetChildren2), "opens": on(jute.OpMulti),
	} {
		for fateName, fate := range fates {
			t.Run("entering/"+name+"/"+fateName, func(t *testing.T) {
				onServers(t, func(e *env) {
					_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.path)
					suite.OK(e.t, err)
					e.round(func(first, second *party) { fault(first, fate); fault(second, fate) }, none)
				})
			})
		}
	}
	for name, fault := range map[string]faulty{
		"looks": on(jute.OpGetChildren2), "watches": on(jute.OpGetData), "deletes": on(jute.OpDelete), "last": on(jute.OpMulti),
	} {
		for fateName, fate := range fates {
			t.Run("leaving/"+name+"/"+fateName, func(t *testing.T) {
				onServers(t, func(e *env) {
					e.round(none, func(lowest, highest *party) { fault(lowest, fate); fault(highest, fate) })
				})
			})
		}
	}
}

// The reply to the create is lost, and the session after it: the old node is not counted.
func TestCreateLostWithSession(t *testing.T) {
	onServers(t, func(e *env) {
		_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.path)
		suite.OK(e.t, err)
		p := e.party(2)
		hit := p.network.On(jute.OpCreate2, suite.CutAfter, func() { p.network.Expire(e.t) })
		entering := p.enter()
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

// waits are calls that wait: the members that are waiting, the call, and what ends the wait.
var waits = map[string]func(e *env) (p *party, waiting *call, end func()){
	"entering": func(e *env) (*party, *call, func()) {
		p := e.party(2)
		entering := p.enter()
		p.waiting()
		return p, entering, func() { e.create("ready") }
	},
	"leaving, the first one": func(e *env) (*party, *call, func()) {
		lowest, highest := e.sorted()
		leaving := lowest.leave()
		lowest.watching(2)
		return lowest, leaving, func() { suite.OK(e.t, highest.Leave(e.t.Context())) }
	},
	"leaving, another one": func(e *env) (*party, *call, func()) {
		lowest, highest := e.sorted()
		leaving := highest.leave()
		e.untilNodes(1)
		suite.Answered(e.t, highest.client)
		return highest, leaving, func() { suite.OK(e.t, lowest.Leave(e.t.Context())) }
	},
}

// onWaits runs test for each of them.
func onWaits(t *testing.T, on suite.Backends, test func(e *env, p *party, waiting *call, end func())) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				p, waiting, end := wait(e)
				test(e, p, waiting, end)
			})
		})
	}
}

// A wait outlives what becomes of the connection.
func TestWaitsOutlive(t *testing.T) {
	for name, row := range map[string]struct {
		on    suite.Backends
		fault func(p *party)
	}{
		"suspended": {suite.InVirtualTime | suite.OnRealServer, func(p *party) { p.network.Cut() }},
		"lagging":   {suite.InVirtualTime, func(p *party) { p.network.Lag(); p.network.Cut() }},
		"half a session": {suite.InVirtualTime, func(p *party) {
			heal := p.network.Isolate()
			time.AfterFunc(suite.SessionTimeout/4, heal)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onWaits(t, row.on, func(e *env, p *party, waiting *call, end func()) {
				looks := p.network.Requests(jute.OpGetChildren2)
				row.fault(p)
				suite.Eventually(e.t, "another look", func() bool { return p.network.Requests(jute.OpGetChildren2) > looks })
				waiting.waits()
				end()
				waiting.ok()
			})
		})
	}
}

// A wait ends with ctx, and leaves nothing, at once or, when the server cannot be reached, later.
func TestWaitsEnd(t *testing.T) {
	t.Run("with the client", func(t *testing.T) {
		onWaits(t, suite.InVirtualTime, func(e *env, p *party, waiting *call, _ func()) {
			suite.OK(e.t, p.client.Close(e.t.Context()))
			e.wantErr(waiting.ended(), framework.ErrClosed)
			e.wantErr(p.Enter(e.t.Context()), framework.ErrClosed)
			e.wantErr(p.Leave(e.t.Context()), framework.ErrClosed)
		})
	})
	t.Run("with the context of Leave", func(t *testing.T) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			ctx, cancel := context.WithCancel(e.t.Context())
			defer cancel()
			leaving := highest.start(ctx, highest.Leave)
			e.untilNodes(1)
			suite.Answered(e.t, highest.client)
			cancel()
			err := leaving.ended()
			e.wantErr(err, barriers.ErrNotPassed)
			e.wantErr(err, context.Canceled)
			suite.OK(e.t, lowest.Leave(e.t.Context())) // it is the last one, and waits for nobody
			e.wantNothing(lowest, highest)
			e.wantChildren(0)
		})
	})
	t.Run("when Leave begins", func(t *testing.T) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			ctx, cancel := context.WithCancel(e.t.Context())
			cancel()
			err := highest.Leave(ctx)
			e.wantErr(err, barriers.ErrNotPassed)
			e.wantErr(err, context.Canceled)
			suite.OK(e.t, lowest.Leave(ctx))
			e.wantNothing(lowest, highest)
			e.wantChildren(0)
		})
	})
	t.Run("the first one's", func(t *testing.T) {
		onServers(t, func(e *env) {
			lowest, highest := e.sorted()
			ctx, cancel := context.WithCancel(e.t.Context())
			defer cancel()
			leaving := lowest.start(ctx, lowest.Leave)
			lowest.watching(2) // its own node and the last one
			cancel()
			e.wantErr(leaving.ended(), barriers.ErrNotPassed)
			e.untilNodes(1)
			suite.OK(e.t, highest.Leave(e.t.Context()))
			e.wantNothing(lowest, highest)
		})
	})
	t.Run("cut off", func(t *testing.T) {
		inVirtualTime(t, func(e *env) {
			p := e.party(2)
			ctx, cancel := context.WithCancel(e.t.Context())
			entering := p.start(ctx, p.Enter)
			p.waiting()
			heal := p.network.Isolate()
			begin := time.Now()
			cancel()
			e.wantErr(entering.ended(), context.Canceled)
			if d := time.Since(begin); d > 2*time.Second {
				e.t.Errorf("it took %v", d)
			}
			heal()
			e.wantNothing(p)
			suite.OK(e.t, p.client.BlockUntilConnected(e.t.Context()))
		})
	})
}

// An Enter whose context ends while a request is on its way leaves nothing.
func TestEnterGivesUp(t *testing.T) {
	for name, op := range map[string]jute.Op{"creating": jute.OpCreate2, "looking": jute.OpExists} {
		for fateName, fate := range map[string]suite.Fate{"late": suite.Late, "before send": suite.CutBefore, "reply lost": suite.CutAfter} {
			t.Run(name+"/"+fateName, func(t *testing.T) {
				onServers(t, func(e *env) {
					_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.path)
					suite.OK(e.t, err)
					p := e.party(2)
					ctx, cancel := context.WithCancel(e.t.Context())
					defer cancel()
					p.network.On(op, fate, cancel)
					e.wantErr(p.Enter(ctx), context.Canceled)
					e.wantNothing(p)
					other := e.party(1)
					suite.OK(e.t, other.Enter(e.t.Context())) // counts itself alone
					suite.OK(e.t, other.Leave(e.t.Context()))
				})
			})
		}
	}
	t.Run("opening", func(t *testing.T) {
		onServers(t, func(e *env) {
			first, second := e.party(2), e.party(2)
			a := first.enter()
			first.waiting()
			ctx, cancel := context.WithCancel(e.t.Context())
			defer cancel()
			second.network.On(jute.OpMulti, suite.Late, cancel)
			if err := second.Enter(ctx); err == nil { // the transaction was sent before
				a.ok()
				apart(first, second)
				return
			}
			e.untilNodes(1)
			a.waits()
			suite.OK(e.t, second.Enter(e.t.Context()))
			a.ok()
			apart(first, second)
		})
	})
}

// A member that dies while others wait in Enter is not there, and one that dies while others
// wait in Leave has left.
func TestMemberDies(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		first, second, third := e.party(3), e.party(3), e.party(3)
		a := first.enter()
		e.untilNodes(1)
		dying := second.start(e.t.Context(), second.Enter)
		e.untilNodes(2)
		heal := second.network.Isolate()
		e.untilNodes(1)
		b := third.enter()
		e.untilNodes(2)
		a.waits()
		b.waits()
		heal()
		a.ok()
		b.ok()
		dying.ok()

		heal = second.network.Isolate()
		begin := time.Now()
		for _, c := range []*call{first.leave(), third.leave()} {
			c.ok()
		}
		if d := time.Since(begin); d < suite.SessionTimeout/2 {
			e.t.Errorf("they did not wait: %v", d)
		}
		heal()
		e.wantErr(second.Leave(e.t.Context()), barriers.ErrMemberLost)
		e.wantNothing(first, second, third)
	})
}

// A member whose node an operator deletes is lost, and the others go on.
func TestNodeDeleted(t *testing.T) {
	onServers(t, func(e *env) {
		lowest, highest := e.sorted()
		e.delete(e.nodes()[0])
		e.wantErr(lowest.Leave(e.t.Context()), barriers.ErrMemberLost)
		suite.OK(e.t, highest.Leave(e.t.Context()))
		lowest, highest = e.sorted()
		a := lowest.leave()
		lowest.watching(2)
		e.delete("ready") // nobody else does so
		suite.OK(e.t, highest.Leave(e.t.Context()))
		a.ok()
		e.wantNothing(lowest, highest)
	})
	t.Run("with everything above", func(t *testing.T) {
		onServers(t, func(e *env) {
			p, other := e.party(2), e.party(2)
			entering := p.enter()
			p.waiting()
			suite.OK(e.t, e.operator.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), path.Dir(e.path)))
			e.untilNodes(1)
			suite.OK(e.t, other.Enter(e.t.Context()))
			entering.ok()
			suite.OK(e.t, e.operator.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), path.Dir(e.path)))
			e.wantErr(p.Leave(e.t.Context()), barriers.ErrMemberLost)
			e.wantErr(other.Leave(e.t.Context()), barriers.ErrMemberLost)
			e.wantNothing(p, other)
		})
	})
}

// More than enough members all pass.
func TestOverSubscribed(t *testing.T) {
	onServers(t, func(e *env) {
		var all []*party
		var entering sync.WaitGroup
		for range 5 {
			p := e.party(3)
			all = append(all, p)
			entering.Go(func() {
				if err := p.Enter(e.t.Context()); err != nil {
					e.t.Error(err)
				}
			})
		}
		entering.Wait()
		apart(all...)
	})
}
