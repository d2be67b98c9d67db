package main

import (
	"sync"
	"time"
)

// stall is a time in which a goroutine that was due did not run.
type stall struct{ from, to time.Duration }

// stalls are those of a round, the first one first.
type stalls []stall

const (
	// interval is how often a goroutine is due that measures stalls.
	interval = time.Millisecond
	// grace is how long after a stall other goroutines may still wait for a processor.
	grace = 10 * time.Millisecond
)

// measureStalls begins to measure how late a goroutine of this process wakes up. The function
// that it returns ends that. Its instants are now's.
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

// at returns how late an instant may have been noted: the length of the stalls in which it falls,
// or just after which. That of an instant that never came is 0.
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
