package background

import (
	"context"
	"runtime"
	"sync"
)

// Inbox takes values from goroutines that must not wait, and gives them to a function in order. It can
// take hundreds of thousands at once, because an Add costs an append. It is safe for concurrent use.
type Inbox[T any] struct {
	handle func(T)
	group  Group

	mu      sync.Mutex
	values  []T
	running bool // there is a goroutine, or Hold keeps it from being there
}

// NewInbox returns an inbox whose values handle is given, one at a time.
func NewInbox[T any](handle func(T)) *Inbox[T] { return &Inbox[T]{handle: handle} }

// Add appends a value. After Close it does nothing.
func (i *Inbox[T]) Add(value T) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.running && !i.group.Start(i.drain) {
		return
	}
	i.running = true
	i.values = append(i.values, value)
}

// drain handles what there is. handle may start goroutines: so that very many of them do not delay all
// others, drain yields now and then.
func (i *Inbox[T]) drain() {
	const atOnce = 64
	for {
		i.mu.Lock()
		values := i.values
		i.values = nil
		i.running = len(values) > 0
		i.mu.Unlock()
		if len(values) == 0 {
			return
		}
		for n, value := range values {
			i.handle(value)
			if n%atOnce == atOnce-1 {
				runtime.Gosched()
			}
		}
	}
}

// Hold keeps values from being handled until release, for tests. Nothing may be under way.
func (i *Inbox[T]) Hold() (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running = true
	return func() { i.group.Start(i.drain) }
}

// Close takes no more values, and returns when those before have been handled. Their function must
// not block.
func (i *Inbox[T]) Close(ctx context.Context) {
	i.group.Close()
	i.group.Wait(context.WithoutCancel(ctx))
}
