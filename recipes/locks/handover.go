package locks

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// Local hand-over: the goroutines of one client that want the same mutex wait in a line. The
// one that has the turn contends, or holds the mutex. When it releases, the next in the line
// gets its node. The node stays first in the queue of all processes, and no server is asked.
// After a bounded number of hand-overs the node is deleted, and the next goroutine contends at
// the end of the queue.
//
// What is handed over is the node itself, with its watch, its deadline, its token and a request
// to revoke it (rules H1 to H7 of docs/algorithms.md). Each holder looks at the clock and at the
// session as after any grant. A hold that was lost hands nothing over.

// WithLocalHandover lets at most n goroutines of this client in a row take the mutex over from
// each other without the server, for speed at other processes' cost. Zero, the default, means
// none. Leases that were handed over have the same Token. A Release that hands over a lease
// which is still believed returns nil without the server's word. All mutexes of a client and
// path that have the option, with any n, take part. TryAcquire returns ErrNotAcquired while
// another goroutine of this client holds the mutex or is acquiring it. WithPlainProtocol
// switches the option off. It cannot be combined with WithLockDelay.
func WithLocalHandover(n int) MutexOption {
	return mutexOption(func(c *config) error {
		if n < 0 {
			return fmt.Errorf("WithLocalHandover(%d) is negative", n)
		}
		c.handover = n
		return nil
	})
}

// localLines has the lines of one client.
type localLines struct {
	mu    sync.Mutex
	lines map[identity]*localLine // there is one while somebody has its turn
}

// localLine is the line of the goroutines that want one mutex.
type localLine struct {
	waiting []chan *ephemeral.Node // gets the node that is handed over; nil means: contend
	busy    bool                   // the one with the turn holds the mutex, or has seen others hold it
	passed  int                    // how often in a row the node was handed over
}

// take waits for the turn, if it may wait. The turn must be passed on. node is the node that
// comes with it; nil means that the caller contends. When take fails with a node, nobody wants
// that node any more. busy reports, with an error, that the mutex was seen to be held.
func (l *localLines) take(ctx context.Context, key identity, wait bool) (node *ephemeral.Node, busy bool, err error) {
	l.mu.Lock()
	line := l.lines[key]
	if line == nil {
		l.lines[key] = &localLine{}
		l.mu.Unlock()
		return nil, false, nil
	}
	if !wait {
		l.mu.Unlock()
		return nil, true, ErrNotAcquired
	}
	mine := make(chan *ephemeral.Node, 1)
	line.waiting = append(line.waiting, mine)
	l.mu.Unlock()
	select {
	case node := <-mine:
		return node, false, nil
	case <-ctx.Done():
		left, busy := l.leave(key, line, mine)
		return left, busy, lockqueue.ContextError(ctx)
	}
}

// leave takes a goroutine out of the line. If it has the turn by now, leave passes the turn on
// and returns the node that came with it, if nobody takes that.
func (l *localLines) leave(key identity, line *localLine, mine chan *ephemeral.Node) (left *ephemeral.Node, busy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	busy = line.busy
	if i := slices.Index(line.waiting, mine); i >= 0 {
		line.waiting = slices.Delete(line.waiting, i, i+1)
		return nil, busy
	}
	node := <-mine // it was sent with l.mu held
	if l.passLocked(key, node) {
		node = nil
	}
	return node, busy
}

// pass gives the turn to the next goroutine, with the node unless that has been handed over most
// times already. It reports whether the node was handed over.
func (l *localLines) pass(key identity, node *ephemeral.Node, most int) (handed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lines[key]
	if node != nil && line.passed >= most {
		node = nil
	}
	if line.passed++; node == nil {
		line.passed = 0
	}
	return l.passLocked(key, node) && node != nil
}

// passLocked gives the turn to the next goroutine. It returns false if there is none. l.mu is
// held.
func (l *localLines) passLocked(key identity, node *ephemeral.Node) bool {
	line := l.lines[key]
	line.busy = node != nil
	if len(line.waiting) == 0 {
		delete(l.lines, key)
		return false
	}
	line.waiting[0] <- node
	line.waiting = line.waiting[1:]
	return true
}

// setBusy notes, for the one with the turn, that the mutex is held.
func (l *localLines) setBusy(key identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := l.lines[key]; line != nil {
		line.busy = true
	}
}

// waiting returns how many goroutines wait for the turn, -1 if nobody has it.
func (l *localLines) waiting(key identity) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := l.lines[key]; line != nil {
		return len(line.waiting)
	}
	return -1
}
