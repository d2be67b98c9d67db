package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/recipeapi"
)

// Hand-over in the process: goroutines of one client that want the same mutex take turns. One
// of them contends or holds; when it releases, the one that has waited the longest gets its
// node, which stays the first in the queue of all processes, and no server is asked. After a
// bounded number of that the node goes, and the next one contends at the end of the queue.
//
// It is sound because the node stays. Each holder looks at the clock and the session as if
// the node had just been granted, and a hold that was lost hands nothing over.

// WithLocalHandover lets at most n goroutines of this client in a row take the mutex over from
// each other without the server, for speed at other processes' cost; zero, the default, is
// none. Leases that were handed over have the same Token, and Release returns nil, without
// the server's word, when it hands over a lease that is still believed. All mutexes of a client
// and path that have the option, with any n, take part. TryAcquire does not wait for any of
// them, be it that it just acquires. WithPlainProtocol switches it off.
func WithLocalHandover(n int) MutexOption {
	return mutexOption(func(c *config) error {
		if n < 0 {
			return fmt.Errorf("WithLocalHandover(%d) is negative", n)
		}
		c.handover = n
		return nil
	})
}

// seat is a node that is handed over; the zero value is the right to contend.
type seat struct {
	node   recipeapi.Created
	own    *nodeWatch // on the node; nil without one
	waited bool       // as of hold
	times  int        // how often it was handed over
}

// turns are those of all mutexes with hand-over.
var turns turnstile

// turnstile lets one goroutine at a time contend for a lock or hold it.
type turnstile struct {
	mu    sync.Mutex
	lines map[leaseKey]*line
}

// line is there while it is somebody's turn.
type line struct {
	waiting []chan seat
	busy    bool // whoever has the turn holds the lock, or has seen others who do
}

// take waits for a turn, if it may. The turn must be passed on. After a long wait warn is
// called. If it fails, busy tells whether the lock was seen to be.
func (t *turnstile) take(ctx context.Context, key leaseKey, wait bool, warn func()) (s seat, busy bool, err error) {
	t.mu.Lock()
	l := t.lines[key]
	if l == nil {
		if t.lines == nil {
			t.lines = map[leaseKey]*line{}
		}
		t.lines[key] = &line{}
		t.mu.Unlock()
		return seat{}, false, nil
	}
	if !wait {
		t.mu.Unlock()
		return seat{}, true, ErrNotAcquired
	}
	mine := make(chan seat, 1)
	l.waiting = append(l.waiting, mine)
	t.mu.Unlock()
	warning := time.NewTimer(selfWait)
	defer warning.Stop()
	for {
		select {
		case s := <-mine:
			return s, false, nil
		case <-warning.C:
			warn()
		case <-ctx.Done():
			left, busy := t.giveUp(key, mine)
			return left, busy, ended(ctx)
		}
	}
}

// giveUp leaves the line. If it is the leaver's turn by now it is passed on, and the node
// that nobody takes is returned.
func (t *turnstile) giveUp(key leaseKey, mine chan seat) (left seat, busy bool) {
	t.mu.Lock()
	l := t.lines[key]
	busy = l.busy
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		t.mu.Unlock()
		return seat{}, busy
	}
	t.mu.Unlock()
	s := <-mine
	if t.pass(key, s) {
		return seat{}, busy
	}
	return s, busy
}

// saw takes note, in its turn, of a lock that is busy.
func (t *turnstile) saw(key leaseKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lines[key]; l != nil {
		l.busy = true
	}
}

// pass gives the turn, and the seat, to the next. It reports false if there is none.
func (t *turnstile) pass(key leaseKey, s seat) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[key]
	if len(l.waiting) == 0 {
		delete(t.lines, key)
		return false
	}
	l.busy = s.node.Path != ""
	l.waiting[0] <- s
	l.waiting = l.waiting[1:]
	return true
}

// takeTurn is take for a mutex with hand-over.
func (c *contender) takeTurn(ctx, waitCtx context.Context) (*Lease, error) {
	key := c.in.key()
	s, busy, err := turns.take(waitCtx, key, c.wait, func() { c.warnOf(holds.of(key)) })
	if err != nil {
		c.busy = c.busy || busy
		c.vacate(waitCtx, s)
		return nil, c.explain(ctx, waitCtx, err)
	}
	mine := true
	defer func() { // also when a user's retry policy panics
		if mine {
			turns.pass(key, seat{})
		}
	}()
	for {
		hold, err := c.sit(waitCtx, s)
		if err != nil {
			return nil, c.explain(ctx, waitCtx, err)
		}
		turns.saw(key)
		mine = !hold.takeTurn()
		if lease := hold.newLease(ctx, c.span, nil); lease != nil {
			return lease, nil
		}
		hold.remove(ctx) // lost before anyone could use it
		c.settle(waitCtx, hold.leaving())
		if !mine {
			return c.takeTurn(ctx, waitCtx)
		}
		s = seat{}
	}
}

// sit makes a hold of a seat, or contends.
func (c *contender) sit(ctx context.Context, s seat) (*hold, error) {
	c.seat = s
	if s.node.Path != "" {
		hold, err := c.occupy(ctx, s)
		if err == nil {
			return hold, nil // the node is the hold's, whatever becomes of that
		}
		c.seat = seat{}
		if !errors.Is(err, errStartOver) && !errors.Is(err, errInDoubt) {
			return nil, err
		}
	}
	return c.contend(ctx)
}

// occupy makes a hold of the node of a seat. When that fails, or a user's error policy panics, the
// node is removed.
func (c *contender) occupy(ctx context.Context, s seat) (hold *hold, err error) {
	defer func() {
		if hold == nil {
			c.vacate(ctx, s)
		}
	}()
	return c.grant(s.node)
}

// vacate removes the node of a seat, and its trace: nobody was lost.
func (c *contender) vacate(ctx context.Context, s seat) {
	if s.node.Path != "" {
		c.settle(ctx, c.in.inside.Release(ctx, s.node.Path, s.node.Session, recipeapi.Release{HolderRecord: c.in.trace()}))
	}
}

// takeTurn makes the hold pass the turn on when it ends. It reports false if it has ended.
func (h *hold) takeTurn() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn = h.err == nil
	return h.turn
}

// passTurn passes the turn of a hold that has ended with err, and the node if it is free to
// go; h.mu is held.
func (h *hold) passTurn(err error) {
	if !h.turn {
		return
	}
	s := seat{node: h.node, own: h.own, waited: h.waited, times: h.times + 1}
	if err != ErrReleased || h.wanted || s.times > h.in.cfg.handover {
		turns.pass(h.in.key(), seat{})
		return
	}
	h.handed = turns.pass(h.in.key(), s)
}
