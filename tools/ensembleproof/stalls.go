package main

import (
	"sync"
	"time"
)

// stall is a time in which a goroutine that was due did not run.
type stall struct{ from, to time.Duration }

// stalls are the stalls of a round in the order of time.
type stalls []stall

const (
	// interval is the period of the goroutine that measures stalls.
	interval = time.Millisecond
	// grace is how long other goroutines may still wait for a processor after a stall.
	grace = 10 * time.Millisecond
)

// measureStalls starts a goroutine that measures how late it wakes up. end stops it and returns the
// stalls. now returns the instants.
func measureStalls(now func() time.Duration) (end func() stalls) {
	var measured stalls
	done := make(chan struct{})
	var measuring sync.WaitGroup
	measuring.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		last := now()
		for {
			select {
			case <-ticker.C:
				woken := now()
				if woken-last > 2*interval {
					measured = append(measured, stall{last + interval, woken})
				}
				last = woken
			case <-done:
				return
			}
		}
	})
	return func() stalls {
		close(done)
		measuring.Wait()
		return measured
	}
}

// worst returns the longest stall.
func (s stalls) worst() time.Duration {
	var worst time.Duration
	for _, stall := range s {
		worst = max(worst, stall.to-stall.from)
	}
	return worst
}

// at returns how late an instant may have been recorded: the length of the stalls during which, or
// shortly after which, it was recorded. For an instant of 0, which means never, it is 0.
func (s stalls) at(instant time.Duration) time.Duration {
	late := 2 * interval // shorter stalls are not kept
	for _, stall := range s {
		if stall.from <= instant && instant <= stall.to+grace {
			late = max(late, instant-stall.from)
		}
	}
	if instant == 0 {
		return 0
	}
	return late
}
