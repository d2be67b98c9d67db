package worker

import (
	"runtime"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// remainsTimeout is how long goroutines may take to end that have no more to do.
const remainsTimeout = 5 * time.Second

// noteRemains notes what is left when everything is closed: goroutines beyond those that there
// were before, with their stacks, and the size of the heap.
func (w *worker) noteRemains(before int) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	end := time.Now().Add(remainsTimeout)
	for runtime.NumGoroutine() > before && time.Now().Before(end) {
		<-ticker.C
	}
	left := history.Event{Kind: history.Remains, Value: int64(max(0, runtime.NumGoroutine()-before))}
	if left.Value > 0 {
		stacks := make([]byte, 1<<20)
		left.Text = string(stacks[:runtime.Stack(stacks, true)])
	}
	w.note(left)
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	w.note(history.Event{Kind: history.Memory, Value: int64(memory.HeapAlloc)})
}
