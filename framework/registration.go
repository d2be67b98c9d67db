package framework

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-curator/curator/internal/background"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// watch returns a new registration of a one-shot watch.
func (w *Watcher) watch(scope watchScope, full string, kind zkconn.WatchKind, config bool) *registration {
	s := &registration{watcher: w, id: watchID{scope.hub, full, watchKind(kind)}, view: scope.view, prefix: scope.prefix, config: config}
	s.watch = zkconn.NewWatch(full, kind, s.onEvent)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(s)
	return s
}

// subscribe returns a new registration, or nil if the watcher has the same already. A registration whose
// call is under way does not count, because the call may fail.
func (w *Watcher) subscribe(scope watchScope, full string, kind watchKind) *registration {
	s := &registration{watcher: w, id: watchID{scope.hub, full, kind}, view: scope.view, prefix: scope.prefix}
	s.sub = zkconn.NewSubscription(full, kind == kindRecursive, s.onEvent)
	w.mu.Lock()
	defer w.mu.Unlock()
	for o := range w.set[s.id] {
		if o.settled && o.view == s.view {
			return nil
		}
	}
	w.add(s)
	return s
}

// add takes a registration in; w.mu is held.
func (w *Watcher) add(s *registration) {
	if w.set == nil {
		w.set = map[watchID]map[*registration]struct{}{}
	}
	if w.set[s.id] == nil {
		w.set[s.id] = map[*registration]struct{}{}
	}
	w.set[s.id][s] = struct{}{}
	for _, r := range s.registries() {
		r.add(w)
	}
}

// drop forgets a registration, if it is there; w.mu is held.
func (w *Watcher) drop(s *registration) {
	same := w.set[s.id]
	if _, ok := same[s]; !ok {
		return
	}
	delete(same, s)
	if len(same) == 0 {
		delete(w.set, s.id)
	}
	for _, r := range s.registries() {
		r.remove(w)
	}
}

// registries returns where the watchers of a registration are counted.
func (s *registration) registries() []*registry {
	if s.view == nil {
		return []*registry{&s.id.hub.set}
	}
	return []*registry{&s.id.hub.set, s.view}
}

// unset forgets a registration whose call, or attempt, has failed. It reports whether it was removed before.
func (s *registration) unset() (removed bool) {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	s.watcher.drop(s)
	return s.taken
}

// settle notes that the call has succeeded, and gives back what is not needed: earlier one-shot watches
// that this one replaces, or this one if it was removed meanwhile.
func (s *registration) settle(conn *zkconn.Conn) {
	w := s.watcher
	w.mu.Lock()
	s.settled = true
	var spare []*registration
	if s.taken {
		spare = append(spare, s) // before the session layer had it
		if s.untold {
			w.tellRemoved([]*registration{s})
		}
	} else if _, live := w.set[s.id][s]; live && s.sub == nil && !s.fired.Load() {
		for o := range w.set[s.id] {
			if o != s && o.settled && o.view == s.view {
				spare = append(spare, o)
				w.drop(o)
			}
		}
	}
	w.mu.Unlock()
	for _, o := range spare {
		o.giveBack(conn)
	}
}

// take forgets the registrations that fit and returns them, to be given back. The watcher gets their
// removals after the events that it has been sent already.
func (w *Watcher) take(fits func(s *registration) bool) []*registration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var taken []*registration
	for _, same := range w.set {
		for s := range same {
			if !s.fired.Load() && fits(s) {
				taken = append(taken, s)
			}
		}
	}
	for _, s := range taken {
		s.taken, s.untold = true, !s.settled
		w.drop(s)
	}
	w.tellRemoved(slices.DeleteFunc(slices.Clone(taken), func(s *registration) bool { return s.untold }))
	return taken
}

// tellRemoved sends the function the removals of the watches in removed: one for each watch, and none
// for a watch that another registration still has. w.mu is held.
func (w *Watcher) tellRemoved(removed []*registration) {
	slices.SortFunc(removed, func(a, b *registration) int {
		return cmp.Or(cmp.Compare(a.id.full, b.id.full), cmp.Compare(a.id.kind.removal(), b.id.kind.removal()), cmp.Compare(a.id.kind, b.id.kind))
	})
	removed = slices.CompactFunc(removed, func(a, b *registration) bool { return a.id == b.id })
	for _, s := range removed {
		if w.has(s.id) || w.fn == nil {
			continue
		}
		s.id.hub.inbox.Add(watchMessage{registration: s, removal: true})
	}
}

// has tells whether a watch is set; w.mu is held.
func (w *Watcher) has(id watchID) bool {
	for s := range w.set[id] {
		if !s.fired.Load() {
			return true
		}
	}
	return false
}

// giveBack takes a watch from the session layer, without waiting for the server.
func (s *registration) giveBack(conn *zkconn.Conn) {
	if s.sub != nil {
		conn.UnsubscribeAsync(s.sub)
		return
	}
	conn.Unwatch(s.watch)
}

// onEvent is called by the session layer, with its locks held. After a reconnect it is called for every
// watch, and everything else waits. So it leaves all work to another goroutine.
func (s *registration) onEvent(e zkconn.WatchEvent) {
	if s.sub == nil {
		s.fired.Store(true)
	}
	s.id.hub.inbox.Add(watchMessage{registration: s, event: e})
}

// event returns e as the function gets it.
func (s *registration) event(e zkconn.WatchEvent) WatchedEvent {
	event := WatchedEvent{Type: WatchReset, Path: s.path(e.Path), Zxid: max(e.Zxid, 0)}
	switch e.Type {
	case zkconn.NodeCreated, zkconn.NodeDeleted, zkconn.NodeDataChanged, zkconn.NodeChildrenChanged:
		event.Type = EventType(e.Type)
	}
	return event
}

func newWatchHub(client *zkclient.Client) *watchHub {
	return &watchHub{client: client, inbox: background.NewInbox(watchMessage.deliver)}
}

// deliver passes the message on to the watcher.
func (m watchMessage) deliver() {
	if m.removal {
		m.registration.deliverRemoval()
	} else {
		m.registration.deliver(m.event)
	}
}

// close takes no more events, and returns when all have been passed on to the watchers.
func (h *watchHub) close(ctx context.Context) { h.inbox.Close(ctx) }

// deliverRemoval sends the watcher's function the removal of the watch.
func (s *registration) deliverRemoval() {
	w := s.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	told := WatchedEvent{Type: s.id.kind.removal(), Path: s.path(s.id.full)}
	w.enqueue(&delivery{hub: s.id.hub, told: told, by: []*registration{s}, removal: true})
}

// deliver passes an event on to the watcher's function.
func (s *registration) deliver(e zkconn.WatchEvent) {
	w := s.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.sub == nil || e.Type == zkconn.WatchClosed {
		w.drop(s)
	}
	if s.taken || w.fn == nil || e.Type == zkconn.WatchClosed {
		return // the end of fn's context says that the client is closed
	}
	if t := w.last; t != nil && !t.cancelled && t.hub == s.id.hub && e.EventID != 0 && t.event == e {
		t.by = append(t.by, s)
		return
	}
	t := &delivery{hub: s.id.hub, event: e, told: s.event(e), by: []*registration{s}}
	if w.last = t; !w.enqueue(t) {
		w.last = nil
	}
}

// enqueue has the function called with an event, and reports whether there was room for it. w.mu is held.
func (w *Watcher) enqueue(d *delivery) (kept bool) {
	kept = w.events.Add(d)
	if !w.calling {
		w.calling = w.queue.Add(d.hub.client.Users(), w.callNext)
	}
	if !w.calling { // the client is closed
		w.events.Clear()
	}
	return kept
}

// callNext calls the function with the next event, and then again, also if the function ends its goroutine, as
// t.FailNow does.
func (w *Watcher) callNext() {
	d := w.next()
	if d == nil {
		return
	}
	client := d.hub.client
	defer w.queue.Add(client.Users(), w.callNext)
	w.fn(client.Life(), d.told)
}

// next takes the next event that is wanted off the queue, nil if there is none.
func (w *Watcher) next() *delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		d, ok := w.events.Next()
		if !ok {
			w.calling = false
			return nil
		}
		if d.wanted() {
			return d
		}
	}
}

// wanted tells whether one of an event's registrations was not removed. The mutex of the watcher is held.
func (d *delivery) wanted() bool {
	d.cancelled = !d.removal && !slices.ContainsFunc(d.by, func(s *registration) bool { return !s.taken })
	return !d.cancelled
}
