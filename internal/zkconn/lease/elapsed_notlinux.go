//go:build !linux

package lease

import "time"

var processStart = time.Now()

// systemAsleep returns by how much the wall clock has gone ahead of the monotonic one. If
// that was not a sleep but somebody who set the clock, sessions are given up that need not
// have been. After the clock was set back a sleep is noticed only if it was longer.
func systemAsleep() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(processStart.Round(0)) - now.Sub(processStart)
}
