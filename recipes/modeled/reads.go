package modeled

import (
	"context"
	"sync"

	"github.com/go-curator/curator/framework"
)

// reads are goroutines that read for callers, and do not end with one of them. The zero value is
// ready.
type reads struct {
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	last    int
	cancels map[int]context.CancelCauseFunc // of those that run
}

// begin runs read on a goroutine of its own. Its context has the values of ctx, and ends with
// close. After close begin returns framework.ErrClosed.
func (r *reads) begin(ctx context.Context, read func(ctx context.Context)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return framework.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	if r.cancels == nil {
		r.cancels = map[int]context.CancelCauseFunc{}
	}
	r.last++
	id := r.last
	r.cancels[id] = cancel
	r.running.Go(func() {
		defer r.ended(id)
		read(ctx)
	})
	return nil
}

func (r *reads) ended(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancels[id](nil)
	delete(r.cancels, id)
}

// close ends what runs, and joins it.
func (r *reads) close() {
	r.mu.Lock()
	r.closed = true
	for _, cancel := range r.cancels {
		cancel(framework.ErrClosed)
	}
	r.mu.Unlock()
	r.running.Wait()
}
