package locks

import (
	"context"
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

// localLines has the lines of one client.
type localLines struct {
	mu    sync.Mutex
	lines map[identity]*localLine // there is one while somebody has its turn
}

// localLine is the line of the goroutines that want one mutex.
type localLine struct {
	lines   *localLines
	key     identity
	waiting []chan *ephemeral.Node // gets the node that is handed over; nil means: contend
	busy    bool                   // the one with the turn holds the mutex, or has seen others hold it
	passed  int                    // how often in a row the node was handed over
}

// take waits for the turn, if it may wait. The turn must be passed on. node is the node that
// comes with it; nil means that the caller contends. When take fails and returns a node, no
// goroutine takes that node: the caller deletes it. busy reports, with an error, that the mutex
// was seen to be held.
func (l *localLines) take(ctx context.Context, key identity, wait bool) (turn *localLine, node *ephemeral.Node, busy bool, err error) {
	l.mu.Lock()
	line := l.lines[key]
	if line == nil {
		line = &localLine{lines: l, key: key}
		if l.lines == nil {
			l.lines = map[identity]*localLine{}
		}
		l.lines[key] = line
		l.mu.Unlock()
		return line, nil, false, nil
	}
	if !wait {
		l.mu.Unlock()
		return nil, nil, true, ErrNotAcquired
	}
	mine := make(chan *ephemeral.Node, 1)
	line.waiting = append(line.waiting, mine)
	l.mu.Unlock()
	select {
	case node := <-mine:
		return line, node, false, nil
	case <-ctx.Done():
		left, busy := line.leave(mine)
		return nil, left, busy, zkclient.ContextError(ctx)
	}
}

// leave takes a goroutine out of the line. If the goroutine has the turn by now, leave passes the
// turn on. It returns the node that came with the turn if no other goroutine takes it.
func (line *localLine) leave(mine chan *ephemeral.Node) (left *ephemeral.Node, busy bool) {
	line.lines.mu.Lock()
	defer line.lines.mu.Unlock()
	busy = line.busy
	if i := slices.Index(line.waiting, mine); i >= 0 {
		line.waiting = slices.Delete(line.waiting, i, i+1)
		return nil, busy
	}
	node := <-mine // it was sent with the mutex held
	if line.passLocked(node) {
		node = nil
	}
	return node, busy
}

// pass gives the turn to the next goroutine. It hands the node over, too, unless node is nil or
// was handed over most times already. It reports whether the node was handed over.
func (line *localLine) pass(node *ephemeral.Node, most int) (handed bool) {
	line.lines.mu.Lock()
	defer line.lines.mu.Unlock()
	if node != nil && line.passed >= most {
		node = nil
	}
	if line.passed++; node == nil {
		line.passed = 0
	}
	return line.passLocked(node) && node != nil
}

// passLocked gives the turn to the next goroutine. It returns false if there is none. The mutex of
// the lines is held.
func (line *localLine) passLocked(node *ephemeral.Node) bool {
	line.busy = node != nil
	if len(line.waiting) == 0 {
		delete(line.lines.lines, line.key)
		return false
	}
	line.waiting[0] <- node
	line.waiting = line.waiting[1:]
	return true
}

// setBusy notes, for the one with the turn, that the mutex is held.
func (line *localLine) setBusy() {
	line.lines.mu.Lock()
	defer line.lines.mu.Unlock()
	line.busy = true
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
