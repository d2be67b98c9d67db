// Package valve stops goroutines for a while, as a network does that is down.
package valve

import "sync"

// Valve lets goroutines pass unless somebody holds it shut. The zero Valve is open.
type Valve struct {
	mu     sync.Mutex
	held   int
	opened chan struct{} // closed when held falls to 0
}

// Hold shuts the valve until release is called, which may be called more than once.
func (v *Valve) Hold() (release func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held == 0 {
		v.opened = make(chan struct{})
	}
	v.held++
	return sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.held--; v.held == 0 {
			close(v.opened)
		}
	})
}

// Pass returns true as soon as the valve is open, or false if done is closed first.
func (v *Valve) Pass(done <-chan struct{}) bool {
	for {
		v.mu.Lock()
		held, opened := v.held, v.opened
		v.mu.Unlock()
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
