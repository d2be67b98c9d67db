package zkconn

import (
	"context"
	"slices"
)

// Order decides which server is tried next, in place of lists of servers. Its methods are code of the user. They
// are called one after the other, without locks.
type Order interface {
	// Len returns the number of servers.
	Len() int
	// Next returns the server, host:port, to be tried next. again says that all of them were tried in vain since
	// Connected was called.
	Next() (server string, again bool)
	// Connected is called when a server has accepted the session.
	Connected()
}

// roundEnd tells when all servers have been tried in vain. The lock of the hostProvider guards it.
type roundEnd struct {
	ended   chan struct{}
	hopeful bool // a server has answered that may have a connection in the next round
}

// roundInVain returns a channel that is closed when all servers have been tried in vain.
func (h *hostProvider) roundInVain() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.round.ended == nil {
		h.round.ended = make(chan struct{})
	}
	return h.round.ended
}

// hope notes that a server may have a connection in the next round: it has answered that the session is over, or will
// be asked for reads alone. So this round is not in vain.
func (h *hostProvider) hope() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.round.hopeful = true
}

// endRound notes that all servers have been tried in vain.
func (h *hostProvider) endRound() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.round.ended != nil && !h.round.hopeful {
		close(h.round.ended)
		h.round.ended = nil
	}
	h.round.hopeful = false
}

// named is what an Order has answered: the server that is to be tried next.
type named struct {
	target target
	again  bool // all were tried in vain
	size   int  // of the Order
}

// ask asks the Order for the next server. That is ahead of the pause before the attempt, because the answer may be that
// all servers were tried in vain: calls that have waited so far then end at once, and calls that begin in the pause
// wait for the attempt. When life ends it does not wait for the Order.
func (h *hostProvider) ask(life context.Context) {
	h.mu.Lock()
	idle := h.order == nil || h.stopped
	h.mu.Unlock()
	if idle {
		return
	}
	got, err := callUserUntil(life.Done(), "WithHostProvider", func() (n named, err error) {
		n.target.server, n.again = h.order.Next()
		n.target.address = n.target.server
		n.size = h.order.Len()
		return n, nil
	})
	got.target.err = err
	if got.again {
		h.endRound()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.named = got
}

// goesOn tells whether the next attempt belongs to a round that has begun: there is one pause for each round of an
// Order, and one for so many attempts as it has servers if it tells of no rounds. h.mu is held.
func (h *hostProvider) goesOn() bool {
	if h.order == nil || h.named.again || h.unpaused >= h.named.size-1 {
		h.unpaused = 0
		return false
	}
	h.unpaused++
	return true
}

// beginOrdered is begin with an Order. Of its servers those are known that it has named last.
func (h *hostProvider) beginOrdered(ctx context.Context) (context.Context, *attempt) {
	ctx, cancel := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	a := &attempt{cancel: cancel, target: h.named.target}
	h.current = a
	h.targets = slices.DeleteFunc(h.targets, a.target.is)
	h.targets = append(h.targets[max(0, len(h.targets)+1-max(h.named.size, 1)):], a.target)
	return ctx, a
}

// orderConnected tells the Order that a server has accepted the session.
func (h *hostProvider) orderConnected(life context.Context) {
	_, _ = callUserUntil(life.Done(), "WithHostProvider", func() (struct{}, error) { // nothing depends on it
		h.order.Connected()
		return struct{}{}, nil
	})
}
