//go:build !unix

package measure

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
