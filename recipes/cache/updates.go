package cache

import (
	"context"
	"iter"
)

// next returns the present state for a loop, and the deletions since the state before. peek is called
// at the same moment, and may look at a view.
func (c *CuratorCache) next(l *loop, peek func()) (now *state, told deletions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, told = c.state.Load(), l.told
	l.before, l.told = now.Snapshot, nil
	peek()
	return now, told
}

// states yields the state of the cache once it is loaded and whenever it has changed, the newest
// each time, with the deletions since the one before, until ctx ends or the cache or its client is closed.
// See next for peek.
func (c *CuratorCache) states(ctx context.Context, peek func()) iter.Seq2[*state, deletions] {
	return func(yield func(*state, deletions) bool) {
		if c.current() == nil || ctx == nil {
			return
		}
		done, closed := c.life.Done(), c.client.Done()
		l, leave := c.enter()
		defer leave()
		for {
			now, told := c.next(l, peek)
			select {
			case <-done:
				return
			case <-closed:
				return
			case <-ctx.Done():
				return
			default:
			}
			if now.loaded && !yield(now, told) {
				return
			}
			select {
			case <-now.next:
			case <-done:
				return
			case <-closed:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// Updates iterates over the contents: first over the present nodes, as an Update whose events
// are NodeCreated, and NodeUnreadable for nodes that cannot be read, then over changes, until ctx ends or
// the cache or its client is closed. Before Start
// has loaded the cache the first Update comes with the load.
//
// No change is missed between one Update and the next, and no Updates are queued. After a slow
// loop body all changes come as one Update, with one event for a node that changed often. A
// slow loop never delays the cache or another loop. A node that was created and deleted
// meanwhile gives no event. The first Update may have no events; later ones have.
//
// Java: none.
func (c *CuratorCache) Updates(ctx context.Context) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		var last *state
		for now, told := range c.states(ctx, func() {}) {
			var before Snapshot
			first := last == nil
			if !first {
				before = last.Snapshot
			}
			events := now.since(before, told)
			last = now
			if (first || len(events) > 0) && !yield(Update{now.Snapshot, events}) {
				return
			}
		}
	}
}
