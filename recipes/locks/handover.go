package locks

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// Local hand-over: the goroutines of one client that want the same mutex wait in a line. The
// one that has the turn contends, or holds the mutex. When it releases, the next in the line
// gets its node. The node stays first in the queue of all processes, and no server is asked.
// After a bounded number of hand-overs the node is deleted, and the next goroutine contends at
// the end of the queue.
//
// The node itself is handed over, with its watch and its token (rules H1 to H7 of
// docs/lock-model.md). Each holder looks at the clock and at the session as after any grant. A
// hold that was lost, or that somebody has asked for, passes on the turn but not the node.

// WithLocalHandover lets goroutines of this client hand the mutex over to each other without
// the server, at most n times in a row. This is faster, but other processes wait longer. Zero,
// the default, means no hand-over.
//
// Leases that were handed over have the same Token. A Release that hands the mutex over returns
// nil without asking the server. All mutexes of one client with the same path and this option,
// with any n, take part. TryAcquire returns ErrNotAcquired while another goroutine of this
// client holds the mutex or is acquiring it. When ctx ends while Acquire waits in the local
// queue, Acquire leaves the queue and returns the same errors as without the option.
//
// WithPlainProtocol switches the option off. With WithLockDelay the constructor returns
// framework.ErrInvalidOption. Java Curator has no such option.
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
// comes with it; nil means that the caller contends. When take fails and returns a node, no
// goroutine takes that node: the caller deletes it. busy reports, with an error, that the mutex
// was seen to be held.
func (l *localLines) take(ctx context.Context, key identity, wait bool) (node *ephemeral.Node, busy bool, err error) {
	l.mu.Lock()
	line := l.lines[key]
	if line == nil {
		if l.lines == nil {
			l.lines = map[identity]*localLine{}
		}
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
		return left, busy, zkclient.ContextError(ctx)
	}
}

// leave takes a goroutine out of the line. If the goroutine has the turn by now, leave passes the
// turn on. It returns the node that came with the turn if no other goroutine takes it.
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

// pass gives the turn to the next goroutine. It hands the node over, too, unless node is nil or
// was handed over most times already. It reports whether the node was handed over.
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
