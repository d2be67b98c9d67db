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

// heard reports whether anybody is told of changes, and so uses their data, with WithoutData.
func (c *CuratorCache) heard() bool { return len(c.views) > 0 || c.listeners.Len() > 0 }

// show makes a version the present contents.
func (c *CuratorCache) show(v version) {
	before := c.state.Load()
	now := &state{
		Snapshot: Snapshot{root: v.root, zxid: v.zxid, exact: v.exact, topless: before.topless, unread: v.unread},
		epoch:    v.epoch, loaded: true, next: make(chan struct{}),
	}
	var events []Event
	changed := 0
	switch {
	case v.heard:
		events, changed = c.tell(v, now, before)
	case c.telemetry.Counts():
		pathtree.Diff(before.root, now.root, compare, func(ch pathtree.Change[content]) bool {
			if !now.hidden(ch, before.Snapshot) {
				changed++
			}
			return true
		})
	}
	c.publish(now, v.told)
	close(before.next)
	c.telemetry.Changed(changed)
	for _, event := range events {
		c.listeners.Notify(event)
	}
	if !before.loaded {
		c.listeners.Notify(Event{Type: Initialized})
	}
}

// tell tells the views of the changes of a version. It returns what is to be told to listeners, and
// how many changes there are.
func (c *CuratorCache) tell(v version, now, before *state) (events []Event, changed int) {
	listening := c.listeners.Len() > 0
	if listening {
		events = now.readableSince(before.Snapshot)
	}
	for _, ch := range now.ordered(before.Snapshot, v.told) {
		hidden := now.hidden(ch.Change, before.Snapshot)
		data := v.dataOf(ch.Change)
		for _, view := range c.views {
			view.change(ch.Change, data, hidden)
		}
		if hidden {
			continue
		}
		changed++
		if listening {
			event := eventOf(ch.Change)
			event.New.Data = data
			events = append(events, event)
		}
	}
	if listening {
		events = append(events, now.unreadableSince(before.Snapshot)...)
	}
	return events, changed
}

// publish makes a state the present one, for all readers at the same moment.
func (c *CuratorCache) publish(now *state, told deletions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, view := range c.views {
		view.show()
	}
	for l := range c.loops {
		if now.epoch != c.state.Load().epoch {
			l.told = nil // their zxids are of data that is lost
		}
		l.note(told)
	}
	c.state.Store(now)
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
