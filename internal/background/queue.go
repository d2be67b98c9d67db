package background

import (
	"context"
	"runtime"
	"sync"
)

// Queue runs functions one after the other, on a goroutine that lives while there are any. The zero
// value is an empty queue. It is safe for concurrent use.
type Queue struct {
	mu      sync.Mutex
	tasks   []func()
	running bool
}

// Add appends a function; the goroutine is of g, which must be the same in every call. It returns
// false when g is closed and the queue is empty: the function is not called then.
func (q *Queue) Add(g *Group, task func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running && !g.Start(func() { q.drain(g) }) {
		return false
	}
	q.running = true
	q.tasks = append(q.tasks, task)
	return true
}

// drain calls the functions. If one of them ends the goroutine, as t.FailNow does, another goroutine
// calls the rest.
func (q *Queue) drain(g *Group) {
	task := q.next()
	defer func() {
		if task != nil {
			g.succeed(func() { q.drain(g) })
		}
	}()
	for ; task != nil; task = q.next() {
		task()
	}
}

// next takes the first function off the queue, nil if there is none.
func (q *Queue) next() (task func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.tasks) == 0 {
		q.tasks, q.running = nil, false
		return nil
	}
	task = q.tasks[0]
	q.tasks = q.tasks[1:]
	return task
}

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

// Backlog has what is to be told instead of the values for which a [Bounded] queue has no room. The owner of
// the queue guards it.
type Backlog[T any] interface {
	// Add takes a value for which there is no room. Values come in order.
	Add(value T)
	// Take returns what is to be told instead of the values that were added, in order. There may be nothing. It
	// is called once, and ends the backlog.
	Take() []T
}

// Bounded is a queue with a limit, for a function that may be slow or blocked. When it is full, values go to
// a backlog until the queue is empty: what the backlog has made of them comes then, behind the values that
// were kept and ahead of later ones. The zero value has no limit. It is not safe for concurrent use.
type Bounded[T any] struct {
	most    int
	backlog func() Backlog[T] // nil for no limit
	values  []T
	over    Backlog[T] // has the values since the queue was full; nil if it was not
}

// NewBounded returns a queue for most values, with a new backlog each time that it is full.
func NewBounded[T any](most int, backlog func() Backlog[T]) Bounded[T] {
	return Bounded[T]{most: most, backlog: backlog}
}

// Add appends a value, and reports whether there was room for it.
func (q *Bounded[T]) Add(value T) (kept bool) {
	if q.over == nil && (q.backlog == nil || len(q.values) < q.most) {
		q.values = append(q.values, value)
		return true
	}
	if q.over == nil {
		q.over = q.backlog()
	}
	q.over.Add(value)
	return false
}

// Next takes the first value off the queue.
func (q *Bounded[T]) Next() (value T, ok bool) {
	if len(q.values) == 0 {
		q.values = nil // also its array
		if q.over == nil {
			return value, false
		}
		q.values, q.over = q.over.Take(), nil
		if len(q.values) == 0 {
			return value, false
		}
	}
	value = q.values[0]
	clear(q.values[:1]) // or the array would keep the value alive
	q.values = q.values[1:]
	return value, true
}

// Empty reports whether there is nothing to take. What a backlog has made of its values may be nothing.
func (q *Bounded[T]) Empty() bool { return len(q.values) == 0 && q.over == nil }

// Clear drops everything.
func (q *Bounded[T]) Clear() { q.values, q.over = nil, nil }
