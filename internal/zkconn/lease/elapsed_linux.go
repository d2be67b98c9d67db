package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// quick is how long the readings of the clocks take, if nothing comes between them: less than the shortest sleep.
const quick = 5 * time.Millisecond

// systemAsleep returns how long the machine has slept since it was started. The two clocks differ only by that.
func systemAsleep() time.Duration {
	for {
		before, all, after := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_MONOTONIC)
		if after-before < quick { // else we were stopped between the readings
			return all - before
		}
	}
}

func read(id int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0 // a kernel before 2.6.39, which Go does not run on
	}
	return time.Duration(t.Nano())
}
