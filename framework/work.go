package framework

import (
	"context"
	"sync"

	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/retry"
)

// group counts goroutines, and what else goes on in the background, so that Close can wait for them.
type group struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when n falls to zero; nil while nobody waits
}

// start runs fn on a goroutine of the group, unless the group is closed.
func (g *group) start(fn func()) bool {
	if !g.enter() {
		return false
	}
	go func() {
		defer g.leave()
		fn()
	}()
	return true
}

// enter counts something that ends with leave, unless the group is closed.
func (g *group) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.n == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// wait waits until nothing runs or ctx ends, and returns how much still runs.
func (g *group) wait(ctx context.Context) int {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return 0
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.n
	}
}

// close lets nothing more start.
func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// queue runs tasks one after the other, on a goroutine that lives while there are any.
type queue struct {
	mu      sync.Mutex
	tasks   []func()
	running bool
}

// add appends a task; the goroutine is of g. It reports false when g is closed.
func (q *queue) add(g *group, task func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running && !g.start(q.drain) {
		return false
	}
	q.running = true
	q.tasks = append(q.tasks, task)
	return true
}

func (q *queue) drain() {
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

// inBackground queues an operation behind those that were queued before. do returns what
// is to be told to the user's function; without one it returns nil, and has put the outcome
// into the event.
func (c *Client) inBackground(ctx context.Context, op, path string, do func(ctx context.Context, event *Event) (report func(ctx context.Context))) error {
	if _, err := c.started(ctx); err != nil {
		return &OpError{Op: op, Path: path, Err: err}
	}
	ctx = retry.Detach(context.WithoutCancel(ctx))
	event := Event{Op: op, Path: path, ctx: ctx}
	ctx = context.WithValue(ctx, acceptedBeforeClose{}, true)
	task := func() {
		opCtx, cancel := c.core.withClientLife(ctx)
		defer cancel(nil)
		report := do(opCtx, &event)
		if report == nil {
			c.core.outcomes.Notify(event)
			return
		}
		c.core.callbacks.add(&c.core.users, func() {
			ctx, cancel := c.core.withClientLife(ctx)
			defer cancel(nil)
			report(ctx)
		})
	}
	if !c.core.tasks.add(&c.core.work, task) {
		return &OpError{Op: op, Path: path, Err: ErrClosed}
	}
	return nil
}

// withClientLife returns a copy of ctx that ends with the client.
func (c *core) withClientLife(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(ErrClosed) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// hook is a recipe's interest in the session, which is in use as long as there is one.
type hook struct{ fn func(recipeapi.Loss) }

func (c *core) addHook(fn func(recipeapi.Loss)) (remove func()) {
	h, conn := &hook{fn}, c.conn.Load()
	if conn != nil {
		conn.Use()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks[h] = struct{}{}
	return func() {
		c.mu.Lock()
		_, known := c.hooks[h]
		delete(c.hooks, h)
		c.mu.Unlock()
		if known && conn != nil {
			conn.Unuse()
		}
	}
}

func (c *core) fireHooks(l recipeapi.Loss) {
	c.mu.Lock()
	hooks := make([]*hook, 0, len(c.hooks))
	for h := range c.hooks {
		hooks = append(hooks, h)
	}
	c.mu.Unlock()
	for _, h := range hooks {
		h.fn(l)
	}
}
