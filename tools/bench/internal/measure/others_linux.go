package measure

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Others measures for a time how much of the machine's processors others than this process
// use: 0 is nothing, 1 is all. ok is false where the system does not tell, or if ctx ends.
func Others(ctx context.Context, d time.Duration) (share float64, ok bool) {
	before, ok := readTicks()
	if !ok {
		return 0, false
	}
	own := cpuTime()
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return 0, false
	}
	after, ok := readTicks()
	if !ok {
		return 0, false
	}
	return after.others(before, cpuTime()-own)
}

// tick is the unit of /proc/stat.
const tick = time.Second / 100

// ticks is the time of all processors together, since the start of the system.
type ticks struct{ busy, idle int64 }

// others returns the share of others since before, in which time this process took own.
func (t ticks) others(before ticks, own time.Duration) (share float64, ok bool) {
	busy, idle := t.busy-before.busy, t.idle-before.idle
	if busy < 0 || idle < 0 || busy+idle == 0 {
		return 0, false
	}
	return max(0, float64(busy)-own.Seconds()/tick.Seconds()) / float64(busy+idle), true
}

// readTicks asks the kernel.
func readTicks() (ticks, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}, false
	}
	return parseTicks(string(text))
}

// parseTicks reads the first line. What it says of guests is in the time of users already;
// what was stolen somebody else had.
func parseTicks(stat string) (ticks, bool) {
	var user, nice, system, idle, ioWait, irq, softIRQ, stolen int64
	if _, err := fmt.Sscanf(stat, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &ioWait, &irq, &softIRQ, &stolen); err != nil {
		return ticks{}, false
	}
	return ticks{busy: user + nice + system + irq + softIRQ + stolen, idle: idle + ioWait}, true
}
