package measure

import "runtime"

// Spent returns what this process has spent until now.
func Spent() Cost {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Cost{int64(m.Mallocs), int64(m.TotalAlloc), cpuTime()}
}

// Live returns what this process has in memory. It collects garbage first, four times: what has
// a finalizer or a cleanup goes with the second time, and a stack that was needed once becomes
// half as large each time.
func Live() Memory {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{float64(m.HeapAlloc), float64(m.StackInuse)}
}
