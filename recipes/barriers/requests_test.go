package barriers_test

import (
	"maps"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/tracing"
)

// counted are the requests that a barrier may send.
var counted = []jute.Op{
	jute.OpCreate2, jute.OpDelete, jute.OpMulti, jute.OpGetData, jute.OpExists, jute.OpGetChildren2, jute.OpRemoveWatches, jute.OpSync,
}

// sent returns how many requests the parties have sent.
func sent(parties ...*party) map[jute.Op]int {
	n := map[jute.Op]int{}
	for _, p := range parties {
		for _, op := range counted {
			if sent := p.network.Requests(op); sent > 0 {
				n[op] += sent
			}
		}
	}
	return n
}

// since returns what was sent after before.
func since(before map[jute.Op]int, parties ...*party) map[jute.Op]int {
	n := sent(parties...)
	maps.DeleteFunc(n, func(op jute.Op, sent int) bool { n[op] -= before[op]; return sent == before[op] })
	return n
}

func (e *env) wantSent(what string, got, want map[jute.Op]int) {
	e.t.Helper()
	if !maps.Equal(got, want) {
		named := map[string]int{}
		for op, n := range got {
			named[jute.OpName(op)] = n
		}
		e.t.Errorf("%s: sent %v", what, named)
	}
}

// Enter is a create and three reads, the last member's with a transaction; the release costs
// nothing. Leave is two reads and the delete, with one read for each watch and one list for each
// wake-up.
func TestRequests(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		e.create("zzz") // so that the path is there
		e.delete("zzz")
		lowest, highest := e.sorted()
		e.wantSent("entering", sent(lowest, highest), map[jute.Op]int{
			jute.OpCreate2: 2, jute.OpGetData: 2, jute.OpExists: 2, jute.OpGetChildren2: 2, jute.OpMulti: 1,
		})
		before := sent(lowest)
		a := lowest.leave()
		lowest.watching(2)
		others := sent(highest)
		suite.OK(e.t, highest.Leave(e.t.Context()))
		a.ok()
		e.wantSent("the first one's Leave", since(before, lowest), map[jute.Op]int{
			jute.OpExists: 1, jute.OpGetChildren2: 2, jute.OpGetData: 1, jute.OpMulti: 1,
		})
		e.wantSent("the other one's Leave", since(others, highest), map[jute.Op]int{
			jute.OpExists: 1, jute.OpGetChildren2: 2, jute.OpGetData: 1, jute.OpDelete: 1,
		})
		e.wantNothing(lowest, highest)
	})
}

// Each wait is a span above its requests, with what it waits for.
func TestTelemetry(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.create("zzz")
		e.delete("zzz")
		spans := suite.NewSpans()
		p := e.party(1, framework.WithTracing(spans.Option(), tracing.WithoutOperationSpans()))
		suite.OK(e.t, p.Enter(t.Context()))
		suite.OK(e.t, p.Leave(t.Context()))
		g := e.gate(framework.WithTracing(spans.Option()))
		suite.OK(e.t, e.operator.Delete().ForPath(t.Context(), e.path))
		suite.OK(e.t, g.Wait(t.Context()))
		suite.OK(e.t, g.client.Close(t.Context()))
		e.wantErr(p.Leave(t.Context()), barriers.ErrEntered)
		spans.WantTree(t, `
			curator.barrier.wait kind=enter path=/barrier
			curator.barrier.wait kind=leave path=/barrier
			curator.barrier.wait kind=open path=/barrier
				exists client path=/barrier
			`)
	})
}
