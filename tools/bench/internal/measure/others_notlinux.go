//go:build !linux

package measure

import (
	"context"
	"time"
)

// Others is not known here.
func Others(context.Context, time.Duration) (share float64, ok bool) { return 0, false }
