//go:build !linux

package measure

import (
	"context"
	"time"
)

// Others returns false: the share of other processes is not known on this system.
func Others(context.Context, time.Duration) (share float64, ok bool) { return 0, false }
