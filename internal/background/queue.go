package background

import "sync"

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
