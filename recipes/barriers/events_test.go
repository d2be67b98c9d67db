package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
)

// As apache/curator#1290: no event but the one that opens the barrier lets a member in. Java's Enter with a deadline
// returns true after any event.
func TestEventsLetNobodyIn(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
		defer cancel()
		p := e.party(3)
		entering := p.start(ctx, p.Enter)
		p.waiting()
		set := func(path string) { suite.Got(e.operator.SetData().ForPath(e.t.Context(), path, nil)).OK(e.t) }
		for _, event := range []func(){
			func() { p.network.Cut() },
			func() { p.network.Expire(e.t) },
			func() { e.create("another") }, // two of three
			func() { e.delete("another") },
			func() { set(e.path + "/" + e.nodes()[0]) },
			func() { e.delete(e.nodes()[0]) },
			func() { set(e.path) },
		} {
			event()
			<-time.After(2 * suite.SessionTimeout)
			entering.waits()
		}
		e.untilNodes(1)
		suite.WantErr(e.t, entering.ended(), context.DeadlineExceeded)
		e.wantNothing(p)
	})
}
