// Package wait waits for a time or for the end of a context.
package wait

import (
	"context"
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
