package measure

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Spent returns the cost of this process until now.
func Spent() Cost {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Cost{int64(m.Mallocs), int64(m.TotalAlloc), cpuTime()}
}

// Live returns the live memory of this process. It first collects garbage four times: objects with a
// finalizer or a cleanup are freed by the second collection, and each collection halves a stack that
// is larger than needed.
func Live() Memory {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{float64(m.HeapAlloc), float64(m.StackInuse)}
}

// Others measures for the time d which share of the machine's processors other processes use, from 0
// to 1. ok is false if the share is not known, or if ctx ends.
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

// tick is the unit of times in /proc/stat.
const tick = time.Second / 100

// ticks is the total time of all processors since the start of the system.
type ticks struct{ busy, idle int64 }

// others returns the share of other processes since before. own is the processor time of this process
// since then.
func (t ticks) others(before ticks, own time.Duration) (share float64, ok bool) {
	busy, idle := t.busy-before.busy, t.idle-before.idle
	if busy < 0 || idle < 0 || busy+idle == 0 {
		return 0, false
	}
	return max(0, float64(busy)-own.Seconds()/tick.Seconds()) / float64(busy+idle), true
}

// readTicks reads /proc/stat.
func readTicks() (ticks, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}, false
	}
	return parseTicks(string(text))
}

// parseTicks parses the first line of /proc/stat. The time of guests is included in that of users.
// Stolen time was used by other virtual machines, so it counts as busy.
func parseTicks(stat string) (ticks, bool) {
	var user, nice, system, idle, ioWait, irq, softIRQ, stolen int64
	if _, err := fmt.Sscanf(stat, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &ioWait, &irq, &softIRQ, &stolen); err != nil {
		return ticks{}, false
	}
	return ticks{busy: user + nice + system + irq + softIRQ + stolen, idle: idle + ioWait}, true
}
