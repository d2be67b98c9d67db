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
	ended chan struct{}
	plain bool // a server was asked for the session that will be asked for reads alone in the next round
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

// notForReads notes that another round may have a connection for reads where this one has none.
func (h *hostProvider) notForReads() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.round.plain = true
}

// endRound notes that all servers have been tried in vain.
func (h *hostProvider) endRound() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.round.ended != nil && !h.round.plain {
		close(h.round.ended)
		h.round.ended = nil
	}
	h.round.plain = false
}

// beginOrdered is begin with an Order. Of its servers those are known that it has named last. When ctx ends it does not
// wait for the Order.
func (h *hostProvider) beginOrdered(ctx context.Context) (context.Context, *attempt) {
	attemptCtx, cancel := context.WithCancelCause(ctx)
	a := &attempt{cancel: cancel}
	type answer struct {
		server string
		again  bool
		size   int
	}
	got, err := callUserUntil(ctx.Done(), "WithHostProvider", func() (answer, error) {
		server, again := h.order.Next()
		return answer{server, again, h.order.Len()}, nil
	})
	a.target = target{server: got.server, address: got.server, err: err}
	if got.again {
		h.endRound()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.ordered = a, got.size
	h.targets = slices.DeleteFunc(h.targets, a.target.is)
	h.targets = append(h.targets[max(0, len(h.targets)+1-max(got.size, 1)):], a.target)
	return attemptCtx, a
}

// orderConnected tells the Order that a server has accepted the session.
func (h *hostProvider) orderConnected(ctx context.Context) {
	_, _ = callUserUntil(ctx.Done(), "WithHostProvider", func() (struct{}, error) { // nothing depends on it
		h.order.Connected()
		return struct{}{}, nil
	})
}
