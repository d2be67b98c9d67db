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
	if !q.running && !g.Start(q.drain) {
		return false
	}
	q.running = true
	q.tasks = append(q.tasks, task)
	return true
}

func (q *Queue) drain() {
	for {
		q.mu.Lock()
		if len(q.tasks) == 0 {
			q.tasks, q.running = nil, false
			q.mu.Unlock()
			return
		}
		task := q.tasks[0]
		q.tasks = q.tasks[1:]
		q.mu.Unlock()
		task()
	}
}
