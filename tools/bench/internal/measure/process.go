package measure

import "runtime"

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
