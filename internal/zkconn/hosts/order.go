package hosts

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

// named is what an Order has answered: the server that is to be tried next.
type named struct {
	target Target
	again  bool // all were tried in vain
	size   int  // of the Order
}

// roundEnd tells when all servers have been tried in vain. The lock of the List guards it.
type roundEnd struct {
	ended   chan struct{}
	hopeful bool // a server has answered that may have a connection in the next round
}

// RoundInVain returns a channel that is closed when all servers have been tried in vain.
func (l *List) RoundInVain() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.round.ended == nil {
		l.round.ended = make(chan struct{})
	}
	return l.round.ended
}

// Hope notes that a server may have a connection in the next round: it has answered that the session is over, or will
// be asked for reads alone. So this round is not in vain.
func (l *List) Hope() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.round.hopeful = true
}

// endRound notes that all servers have been tried in vain.
func (l *List) endRound() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.round.ended != nil && !l.round.hopeful {
		close(l.round.ended)
		l.round.ended = nil
	}
	l.round.hopeful = false
}

// ask asks the Order for the next server. That is ahead of the pause before the attempt, because the answer may be that
// all servers were tried in vain: calls that have waited so far then end at once, and calls that begin in the pause
// wait for the attempt. When life ends it does not wait for the Order.
func (l *List) ask(life context.Context) {
	l.mu.Lock()
	idle := l.order == nil || l.stopped
	l.mu.Unlock()
	if idle {
		return
	}
	got, err := callUserUntil(life.Done(), "WithHostProvider", func() (n named, err error) {
		n.target.Server, n.again = l.order.Next()
		n.target.Address = n.target.Server
		n.size = l.order.Len()
		return n, nil
	})
	got.target.Err = err
	if got.again {
		l.endRound()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.named = got
}

// goesOn tells whether the next attempt belongs to a round that has begun: there is one pause for each round of an
// Order, and one for so many attempts as it has servers if it tells of no rounds. l.mu is held.
func (l *List) goesOn() bool {
	if l.order == nil || l.named.again || l.unpaused >= l.named.size-1 {
		l.unpaused = 0
		return false
	}
	l.unpaused++
	return true
}

// beginOrdered is begin with an Order. Of its servers those are known that it has named last.
func (l *List) beginOrdered(ctx context.Context) (context.Context, *Attempt) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &Attempt{cancel: cancel, Target: l.named.target}
	l.current = a
	l.targets = slices.DeleteFunc(l.targets, a.Target.is)
	l.targets = append(l.targets[max(0, len(l.targets)+1-max(l.named.size, 1)):], a.Target)
	return ctx, a
}

// orderConnected tells the Order that a server has accepted the session.
func (l *List) orderConnected(life context.Context) {
	_, _ = callUserUntil(life.Done(), "WithHostProvider", func() (struct{}, error) { // nothing depends on it
		l.order.Connected()
		return struct{}{}, nil
	})
}
