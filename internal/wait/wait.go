// Package wait waits for a time, for a signal, or for the end of a context.
package wait

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, or until ctx ends: then it returns ctx's error. If d is not positive it does not
// wait, and returns ctx's error if ctx has ended.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pace gives the pauses between tries. They grow from First to Most, and vary at random by a half. One
// goroutine uses a Pace.
type Pace struct {
	First, Most time.Duration
	Calm        time.Duration // after such a time without a pause the next one is First again; 0: never

	mean time.Duration // of the next pause; 0: First
	end  time.Time     // of the last pause
}

// Next returns the next pause, which begins now.
func (p *Pace) Next() time.Duration {
	if p.Calm > 0 && time.Since(p.end) > p.Calm {
		p.Reset()
	}
	mean := max(p.mean, p.First)
	p.mean = min(mean+mean/2, p.Most)
	pause := mean/2 + rand.N(mean+1)
	p.end = time.Now().Add(pause)
	return pause
}

// Reset makes the next pause First.
func (p *Pace) Reset() { p.mean = 0 }

// Signal is a channel with room for one signal: Sets before a receive are one.
type Signal chan struct{}

// NewSignal returns a signal that is not set.
func NewSignal() Signal { return make(Signal, 1) }

// Set makes one receive succeed. It does not wait, and may be called with locks held.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
