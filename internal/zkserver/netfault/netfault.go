// Package netfault makes network faults of a connection: a Gate stops it for a while, a DelayLine makes
// it slow, and a Proxy does both to the connections between clients and a server, and ends them.
package netfault

import (
	"bytes"
	"io"
	"sync"
	"time"
)

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

// DelayLine is one direction of a slow network: what is filled in at one end can be read at the
// other one, some time later, in the same pieces or smaller ones. It holds a bounded amount.
type DelayLine struct {
	delay  func() time.Duration
	done   <-chan struct{}
	pieces chan piece

	rest []byte // of the piece that is being read
	err  error  // what Fill's reader ended with, when that has arrived
}

// piece is something on its way.
type piece struct {
	bytes []byte
	err   error
	due   time.Time
}

// Bounds of what is on its way.
const (
	maxPieces = 64
	pieceSize = 1 << 14
)

// NewDelayLine returns a DelayLine that takes delay. When done is closed, both ends give up.
func NewDelayLine(delay time.Duration, done <-chan struct{}) *DelayLine {
	return NewVariableDelayLine(func() time.Duration { return delay }, done)
}

// NewVariableDelayLine returns a DelayLine that asks for the delay of each piece when it is filled in. A
// piece with a shorter delay than the one before it arrives behind that.
func NewVariableDelayLine(delay func() time.Duration, done <-chan struct{}) *DelayLine {
	return &DelayLine{delay: delay, done: done, pieces: make(chan piece, maxPieces)}
}

// Fill sends what r has, until it fails. Its error, or end, arrives as late.
func (l *DelayLine) Fill(r io.Reader) {
	buf := make([]byte, pieceSize)
	for {
		n, err := r.Read(buf)
		select {
		case l.pieces <- piece{bytes.Clone(buf[:n]), err, time.Now().Add(l.delay())}:
		case <-l.done:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read reads what has arrived. It is called by one goroutine at a time.
func (l *DelayLine) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		if err := l.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next waits until the next piece has arrived.
func (l *DelayLine) next() error {
	select {
	case p := <-l.pieces:
		timer := time.NewTimer(time.Until(p.due))
		defer timer.Stop()
		select {
		case <-timer.C:
			l.rest, l.err = p.bytes, p.err
			return nil
		case <-l.done:
			return io.ErrClosedPipe
		}
	case <-l.done:
		return io.ErrClosedPipe
	}
}
