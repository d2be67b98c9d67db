package check

import (
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// Run is what is judged.
type Run struct {
	Events []history.Event // in the order of their times
	// Registers has the final texts by key, as Event.Key names it.
	Registers map[string]string
	// Effects has how many effects each item of the queue has had.
	Effects map[string]int
	// Items has those that are still in the queue.
	Items []string
	// Slack is how late an answer may be on the machine of the run.
	Slack time.Duration
	// MaxHeap bounds what a worker's heap has at its end, in bytes.
	MaxHeap int64
}
