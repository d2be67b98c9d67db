package framework

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/internal/background"
	"github.com/go-curator/curator/internal/zkconn"
)

// Watcher receives watch events through the function it was made with. Its pointer is its
// identity: it gets each event once, however often it was set.
//
// Events come in order, one at a time, on the Watcher's own goroutine. The function may block
// and may call the client; events wait for it and none is lost. Its context ends with the
// client.
//
// Java: CuratorWatcher.
type Watcher struct {
	_ noCopy

	fn    func(ctx context.Context, event WatchedEvent)
	queue background.Queue

	mu   sync.Mutex
	set  map[watchID]map[*registration]struct{}
	last *delivery // the newest event
}

// NewWatcher returns a Watcher that calls fn. A Watcher without a function receives
// nothing.
func NewWatcher(fn func(ctx context.Context, event WatchedEvent)) *Watcher {
	return &Watcher{fn: fn}
}

// watchID is what makes two registrations of a Watcher the same watch.
type watchID struct {
	hub  *watchHub
	full string
	kind watchKind
}

// watchKind is the kind of a watch.
type watchKind int

// The kinds; the one-shot ones have the session layer's numbers.
const (
	kindData       = watchKind(zkconn.WatchData)
	kindChildren   = watchKind(zkconn.WatchChildren)
	kindPersistent = iota + 10
	kindRecursive
)

// removal returns the event that says that a watch of this kind was removed.
func (k watchKind) removal() EventType {
	switch k {
	case kindData:
		return DataWatchRemoved
	case kindChildren:
		return ChildWatchRemoved
	default:
		return PersistentWatchRemoved
	}
}

// registration is one call that has set a watch: a one-shot one or a subscription.
type registration struct {
	watcher *Watcher
	id      watchID
	view    *registry // of watchScope
	prefix  string    // of watchScope
	config  bool      // of GetConfig, whose node is in no namespace
	watch   *zkconn.Watch
	sub     *zkconn.Subscription

	fired atomic.Bool // a one-shot watch that has had its event counts as dropped

	// guarded by watcher.mu
	settled bool // its call has succeeded
	taken   bool // it was removed, and gets no more events
	untold  bool // and the watcher does not know, because its call was under way
}

// delivery is an event on its way to a Watcher's function. It may be for several registrations, because
// one message of the server concerns them all.
type delivery struct {
	hub       *watchHub
	event     zkconn.WatchEvent
	by        []*registration
	cancelled bool // all of by were removed in time
}

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

// unset forgets a registration whose call has failed.
func (s *registration) unset() {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	s.watcher.drop(s)
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

// path returns the path that the function gets for a path of the server's.
func (s *registration) path(full string) string {
	if s.config {
		return full
	}
	return withoutPrefix(full, s.prefix)
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

// deliverRemoval sends the watcher's function the removal of the watch.
func (s *registration) deliverRemoval() {
	w, workers := s.watcher, s.id.hub.workers
	event := WatchedEvent{Type: s.id.kind.removal(), Path: s.path(s.id.full)}
	w.queue.Add(&workers.users, func() { w.fn(workers.life, event) })
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
	hub := s.id.hub
	if t := w.last; t != nil && !t.cancelled && t.hub == hub && e.EventID != 0 && t.event == e {
		t.by = append(t.by, s)
		return
	}
	t := &delivery{hub: hub, event: e, by: []*registration{s}}
	w.last = t
	event := s.event(e)
	w.queue.Add(&hub.workers.users, func() {
		if w.wants(t) {
			w.fn(hub.workers.life, event)
		}
	})
}

// wants tells whether one of an event's registrations was not removed.
func (w *Watcher) wants(t *delivery) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.cancelled = !slices.ContainsFunc(t.by, func(s *registration) bool { return !s.taken })
	return !t.cancelled
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

// watchHub is what the watches of a client share.
type watchHub struct {
	workers *workers
	set     registry // the watchers that have watches
	// inbox has the events from the session layer. Each watcher's function has a goroutine of its own.
	inbox *background.Inbox[watchMessage]
}

// watchMessage is an event for a registration, or the removal of the registration.
type watchMessage struct {
	registration *registration
	event        zkconn.WatchEvent
	removal      bool
}

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

// watchScope is the client or view that sets a watch.
type watchScope struct {
	hub    *watchHub
	view   *registry // of a view that removes its watches; nil for none
	prefix string    // of the paths that only the server knows
}

// registry counts the registrations of watchers.
type registry struct {
	mu            sync.Mutex
	registrations map[*Watcher]int
}

func (r *registry) add(w *Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.registrations == nil {
		r.registrations = map[*Watcher]int{}
	}
	r.registrations[w]++
}

func (r *registry) remove(w *Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.registrations[w]--; r.registrations[w] == 0 {
		delete(r.registrations, w)
	}
}

func (r *registry) watchers() []*Watcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Watcher, 0, len(r.registrations))
	for w := range r.registrations {
		all = append(all, w)
	}
	return all
}
