package framework

import (
	"context"
	"slices"

	"github.com/go-curator/curator/internal/background"
	"github.com/go-curator/curator/internal/zkconn"
)

func newWatchHub(w *workers) *watchHub {
	return &watchHub{workers: w, inbox: background.NewInbox(watchMessage.deliver)}
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
		w.calling = w.queue.Add(&d.hub.workers.users, w.callNext)
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
	workers := d.hub.workers
	defer w.queue.Add(&workers.users, w.callNext)
	w.fn(workers.life, d.told)
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
