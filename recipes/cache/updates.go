package cache

import (
	"context"
	"iter"
)

// states yields the state of the cache once it is loaded and whenever it has changed, the newest
// each time, until ctx ends or the cache or its client is closed.
func (c *CuratorCache) states(ctx context.Context) iter.Seq[*state] {
	return func(yield func(*state) bool) {
		if c.current() == nil || ctx == nil {
			return
		}
		done, closed := c.life.Done(), c.client.Done()
		for {
			now := c.state.Load()
			select {
			case <-done:
				return
			case <-closed:
				return
			case <-ctx.Done():
				return
			default:
			}
			if now.loaded && !yield(now) {
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
// are all NodeCreated, then over changes, until ctx ends or the cache or its client is closed. Before Start
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
		for now := range c.states(ctx) {
			var before Snapshot
			if last != nil {
				before = last.Snapshot
			}
			events := now.since(before)
			if last != nil && len(events) == 0 {
				continue
			}
			last = now
			if !yield(Update{now.Snapshot, events}) {
				return
			}
		}
	}
}
