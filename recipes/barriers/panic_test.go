package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// After a panic in the retry policy the member is out: it is not counted, and nobody waits for it.
func TestPanic(t *testing.T) {
	for name, tt := range map[string]struct {
		op    jute.Op
		leave bool
	}{
		"entering, creates": {jute.OpCreate2, false},
		"entering, looks":   {jute.OpGetChildren2, false},
		"leaving":           {jute.OpGetChildren2, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(e *env) {
				suite.Got(e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.path)).OK(e.t)
				p := e.panicking()
				call := p.Enter
				if tt.leave {
					other := e.party(2)
					entering := other.enter()
					suite.OK(e.t, p.Enter(e.t.Context()))
					entering.ok()
					defer func() {
						ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
						defer cancel()
						suite.OK(e.t, other.Leave(ctx))
						e.wantNothing(p, other)
					}()
					call = p.Leave
				}
				p.network.On(tt.op, suite.CutAfter, nil)
				suite.WantPanic(e.t, func() { e.t.Errorf("the call has returned: %v", call(e.t.Context())) })
				if !tt.leave {
					e.wantNothing(p)
				}
			})
		})
	}
}

// panicking is party of two members, with a retry policy that panics.
func (e *env) panicking() *party {
	e.t.Helper()
	_, network := e.b.Client(e.t)
	client := e.b.PanickingClient(e.t, network)
	suite.OK(e.t, client.BlockUntilConnected(e.t.Context()))
	barrier := suite.Got(barriers.NewDistributedDoubleBarrier(client, e.path, 2)).OK(e.t)
	return &party{e, client, network, barrier}
}
