package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/internal/wait"
)

// worker is a process.
type worker struct {
	Settings
	log    *history.Log
	client *framework.Client
	store  *store.Client
	ops    atomic.Int64
}

// note adds an event of this process.
func (w *worker) note(e history.Event) {
	e.Process = w.Name
	w.log.Add(e)
}

// fail notes what must not happen.
func (w *worker) fail(workload string, op int64, format string, args ...any) {
	w.note(history.Event{Kind: history.Failed, Workload: workload, Op: op, Text: fmt.Sprintf(format, args...)})
}

// pause waits for a random time between two operations. It is false when ctx has ended.
func (w *worker) pause(ctx context.Context, random *rand.Rand) bool {
	return wait.For(ctx, time.Duration(random.Int64N(int64(2*w.Pause)+1))) == nil
}
