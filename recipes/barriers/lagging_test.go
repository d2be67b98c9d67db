package barriers_test

import (
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// The reply to the create is lost, and the next server does not know the node yet.
func TestCreateLostLagging(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		suite.Got(e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.path)).OK(e.t)
		p := e.party(2)
		p.network.Lag()
		hit := p.network.On(jute.OpCreate2, suite.CutAfter, nil)
		entering := p.enter()
		<-hit
		p.waiting()
		synctest.Wait()
		if names := e.nodes(); len(names) != 1 {
			e.t.Errorf("nodes %q", names)
		}
		entering.waits()
		other := e.party(2)
		suite.OK(e.t, other.Enter(e.t.Context()))
		entering.ok()
	})
}

// The same, and the server refuses syncs at first.
func TestCreateLostLaggingRefused(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		suite.Got(e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.path)).OK(e.t)
		p := e.party(2)
		p.network.Lag()
		hit := p.network.On(jute.OpCreate2, suite.CutAfter, nil)
		e.b.Server().Inject(curatortest.Rule{Op: "sync", SessionID: p.client.SessionID(), Times: 2, Do: curatortest.Fail(zkconn.ErrThrottled)})
		entering := p.enter()
		<-hit
		p.waiting()
		synctest.Wait()
		if names := e.nodes(); len(names) != 1 {
			e.t.Fatalf("nodes %q", names)
		}
		entering.waits()
		other := e.party(2)
		suite.OK(e.t, other.Enter(e.t.Context()))
		entering.ok()
	})
}
