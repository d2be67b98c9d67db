package cache

import (
	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// addView adds a view, unless the cache was started.
func (c *CuratorCache) addView(v view) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fixed {
		return framework.ErrAlreadyStarted
	}
	c.views = append(c.views, v)
	return nil
}

// keeps reports whether anybody uses the data of changes, with WithoutData.
func (c *CuratorCache) keeps() bool { return len(c.views) > 0 || c.listeners.Len() > 0 }

// show makes a version the present contents.
func (c *CuratorCache) show(v version) {
	before := c.state.Load()
	now := &state{
		Snapshot: Snapshot{root: v.root, zxid: v.zxid, exact: v.exact, topless: before.topless},
		loaded:   true, next: make(chan struct{}),
	}
	var events []Event
	changed := 0
	if listening := c.listeners.Len() > 0; listening || len(c.views) > 0 || c.telemetry.Counts() {
		pathtree.Diff(before.root, now.root, compare, func(ch pathtree.Change[content]) bool {
			hidden := now.hidden(ch, before.Snapshot)
			data := v.dataOf(ch)
			for _, view := range c.views {
				view.change(ch, data, hidden)
			}
			if !hidden {
				changed++
			}
			if listening && !hidden {
				event := eventOf(ch)
				event.New.Data = data
				events = append(events, event)
			}
			return true
		})
	}
	for _, view := range c.views {
		view.show()
	}
	c.state.Store(now)
	close(before.next)
	c.telemetry.Changed(changed)
	for _, event := range events {
		c.listeners.Notify(event)
	}
	if !before.loaded {
		c.listeners.Notify(Event{Type: Initialized})
	}
}

// dataOf returns the data of a node that was created or has changed.
func (v *version) dataOf(c pathtree.Change[content]) []byte {
	switch {
	case c.New == nil:
		return nil
	case v.fresh != nil:
		return v.fresh[c.New.Path()]
	default:
		return c.New.Value.data
	}
}
