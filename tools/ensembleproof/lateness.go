package main

import (
	"sync"
	"time"
)

// measureLateness begins to measure how late a goroutine of this process wakes up. The function
// that it returns ends that, and returns the largest lateness.
func measureLateness() (end func() time.Duration) {
	const interval = time.Millisecond
	var worst time.Duration
	done := make(chan struct{})
	var measuring sync.WaitGroup
	measuring.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		last := time.Now()
		for {
			select {
			case <-ticker.C:
				now := time.Now()
				worst = max(worst, now.Sub(last)-interval)
				last = now
			case <-done:
				return
			}
		}
	})
	return func() time.Duration {
		close(done)
		measuring.Wait()
		return worst
	}
}
