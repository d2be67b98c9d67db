// Package background runs work on goroutines that are joined.
//
// A [Group] counts goroutines. A [Queue] runs functions one after the other, and an [Inbox]
// passes values on in order. Both use a goroutine of a group that exists only while there is
// work.
package background

import (
	"context"
	"sync"
)

// Group counts goroutines, and what else goes on in the background, so that its owner can wait for
// them. The zero value is an empty group. It is safe for concurrent use.
type Group struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when n falls to zero; nil while nobody waits
}

// Start runs fn on a goroutine of the group. It returns false, and does nothing, if the group is
// closed.
func (g *Group) Start(fn func()) bool {
	if !g.Enter() {
		return false
	}
	go func() {
		defer g.Leave()
		fn()
	}()
	return true
}

// succeed runs fn on another goroutine of the group, also if the group is closed. The caller is a
// goroutine of the group that is about to end.
func (g *Group) succeed(fn func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	go func() {
		defer g.Leave()
		fn()
	}()
}

// Enter counts something that ends with Leave. It returns false, and counts nothing, if the group
// is closed.
func (g *Group) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

// Leave ends what Enter has counted.
func (g *Group) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.n == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Wait waits until nothing runs or ctx ends, and returns how much still runs.
func (g *Group) Wait(ctx context.Context) int {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return 0
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.n
	}
}

// Close lets nothing more start. What runs goes on.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
