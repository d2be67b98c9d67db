// Package netfault makes network faults of a connection: a Gate stops it for a while, a DelayLine makes
// it slow, and a Proxy does both to the connections between clients and a server, and ends them.
package netfault

import "sync"

// Gate lets goroutines pass unless somebody holds it shut. The zero Gate is open.
type Gate struct {
	mu     sync.Mutex
	held   int
	opened chan struct{} // closed when held falls to 0
}

// Hold shuts the gate until release is called, which may be called more than once.
func (g *Gate) Hold() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == 0 {
		g.opened = make(chan struct{})
	}
	g.held++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.held--; g.held == 0 {
			close(g.opened)
		}
	})
}

// Pass returns true as soon as the gate is open, or false if done is closed first.
func (g *Gate) Pass(done <-chan struct{}) bool {
	for {
		g.mu.Lock()
		held, opened := g.held, g.opened
		g.mu.Unlock()
		if held == 0 {
			return true
		}
		select {
		case <-opened:
		case <-done:
			return false
		}
	}
}
