//go:build !linux

package history

import "time"

// Now returns the time on the clock of the history, in nanoseconds.
func Now() int64 { return time.Now().UnixNano() }
