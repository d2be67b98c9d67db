package zkconn

import (
	"context"
	"errors"
	"slices"
)

// gate lets limit batches of a connection be under way at a time. The others wait in the order in which
// they came. It is for what users and recipes send: proofs, pings, credentials, restored watches, watches
// that are given back, and the end of the session do not pass it. A batch is under way until the server has
// answered it, or the connection ends: it never waits for another batch, so the gate cannot block for good.
// The lock of the connection guards it.
type gate struct {
	limit    int // zero for none
	underWay int
	shut     bool     // the end of the session is queued: nothing follows it
	waiting  []*batch // only while as many as the limit are under way
}

// enter reports whether a batch may be sent now. If not, next returns it when it may.
func (g *gate) enter(b *batch) bool {
	if g.limit == 0 {
		return true
	}
	b.gated = true
	if g.underWay == g.limit {
		b.waits = true
		g.waiting = append(g.waiting, b)
		return false
	}
	g.underWay++
	return true
}

// leave takes note that a batch that may have entered is no longer under way.
func (g *gate) leave(b *batch) {
	if b.gated {
		g.underWay--
	}
}

// next returns a batch that has waited and may be sent now, nil if there is none.
func (g *gate) next() *batch {
	for !g.shut && g.underWay < g.limit && len(g.waiting) > 0 {
		b := g.waiting[0]
		g.waiting[0] = nil
		if g.waiting = g.waiting[1:]; len(g.waiting) == 0 {
			g.waiting = nil
		}
		if !b.isWithdrawn() {
			b.waits = false
			g.underWay++
			return b
		}
	}
	return nil
}

// forget drops the batches whose callers have given up.
func (g *gate) forget() { g.waiting = slices.DeleteFunc(g.waiting, (*batch).isWithdrawn) }

var errTurn = errors.New("as many operations as the client's limit permits were in flight")

// withdrawnError is the error of a batch that was withdrawn when ctx ended.
func (b *batch) withdrawnError(ctx context.Context) error {
	err := ctxError(ctx, false)
	if b.waits {
		err.Detail = join(err.Detail, errTurn)
	}
	return err
}
