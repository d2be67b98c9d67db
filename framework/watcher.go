package framework

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/background"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// WatchedEvent is one event of a watch.
type WatchedEvent struct {
	Type EventType
	Path string // relative to the namespace of the view that set the watch; that of GetConfig's is always /zookeeper/config
	Zxid int64  // of the change, zero when the server does not tell
}

// EventType is the kind of a WatchedEvent.
type EventType int

// The events of a watch.
const (
	// NodeCreated says that the node was created.
	NodeCreated EventType = iota + 1
	// NodeDeleted says that the node was deleted.
	NodeDeleted
	// NodeDataChanged says that the node's data was set.
	NodeDataChanged
	// NodeChildrenChanged says that a child was created or deleted.
	NodeChildrenChanged
	// WatchReset comes after a reconnect, because changes may have been missed, and when a function
	// was so slow that events of this watch were dropped: see Watcher. Read the node again. Path is
	// that of the watch, also if the watch is recursive.
	WatchReset
	// DataWatchRemoved says that the watch of CheckExists, GetData or GetConfig was removed, by
	// Watches().Remove or RemoveWatchers. It gets no more events. The node has not changed.
	DataWatchRemoved
	// ChildWatchRemoved says the same of a watch of GetChildren.
	ChildWatchRemoved
	// PersistentWatchRemoved says the same of a watch of Watches().Add.
	PersistentWatchRemoved
)

// IsRemoval reports whether the event is about the watch and not about the node:
// DataWatchRemoved, ChildWatchRemoved or PersistentWatchRemoved. A function that sets its watch
// again after every event must check this first, or it undoes the removal.
//
// Java has no counterpart.
func (t EventType) IsRemoval() bool { return t >= DataWatchRemoved && t <= PersistentWatchRemoved }

// AddWatchMode is the kind of a persistent watch.
//
// Java: AddWatchMode.
type AddWatchMode int

// The modes. The zero value is PersistentRecursive, as in Curator.
const (
	// PersistentRecursive watches fire when the node or a node below it is created or deleted,
	// or when its data changes.
	PersistentRecursive AddWatchMode = iota
	// PersistentWatch watches fire when the node is created or deleted, or when its data or its
	// children change.
	PersistentWatch
)

// WatcherType is a type of one-shot watches.
//
// Java: Watcher.WatcherType.
type WatcherType int

// The types.
const (
	// AnyWatcher stands for all watches.
	AnyWatcher WatcherType = iota
	// DataWatcher stands for the watches of CheckExists and GetData.
	DataWatcher
	// ChildrenWatcher stands for the watches of GetChildren.
	ChildrenWatcher
)

// Watcher receives watch events through the function it was made with. Its pointer is its
// identity: it gets each event once, however often it was set.
//
// Events come in order, one at a time, on the Watcher's own goroutine. The function may block
// and may call the client; up to 65,536 events wait for it. When more come, they are dropped, until
// the function has got those that wait. Then it gets one WatchReset for each watch that has lost
// events, which also says that a one-shot watch has fired, and later events come behind that. The
// removal of a watch is never dropped. The function's context ends with the client.
//
// Java: CuratorWatcher; there the queue has no limit.
type Watcher struct {
	_ noCopy

	fn    func(ctx context.Context, event WatchedEvent)
	queue background.Queue // has callNext, once, while there are events

	mu      sync.Mutex
	set     map[watchID]map[*registration]struct{}
	events  background.Bounded[*delivery]
	calling bool      // callNext is in the queue, or runs
	last    *delivery // the newest event, if it waits or was told
}

// NewWatcher returns a Watcher that calls fn. A Watcher without a function receives
// nothing.
func NewWatcher(fn func(ctx context.Context, event WatchedEvent)) *Watcher {
	return &Watcher{fn: fn, events: background.NewBounded(listen.MaxEvents, newLostEvents)}
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

// watchHub is what the watches of a client share.
type watchHub struct {
	client *zkclient.Client
	set    registry // the watchers that have watches
	// inbox has the events from the session layer. Each watcher's function has a goroutine of its own.
	inbox *background.Inbox[watchMessage]
}

// watchMessage is an event for a registration, or the removal of the registration.
type watchMessage struct {
	registration *registration
	event        zkconn.WatchEvent
	removal      bool
}

// path returns the path that the function gets for a path of the server's.
func (s *registration) path(full string) string {
	if s.config {
		return full
	}
	return zkclient.WithoutPrefix(full, s.prefix)
}

// delivery is an event on its way to a Watcher's function. It may be for several registrations, because
// one message of the server concerns them all.
type delivery struct {
	hub       *watchHub
	event     zkconn.WatchEvent
	told      WatchedEvent // as the function gets it
	by        []*registration
	removal   bool // which is told in any case
	cancelled bool // all of by were removed in time
}

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

// lostEvents has what a Watcher gets instead of events for which its queue has no room: one WatchReset for
// each watch, and all removals.
type lostEvents struct {
	all    []*delivery
	resets map[watchID]*delivery // of all: of watches that were not removed since
}

func newLostEvents() background.Backlog[*delivery] {
	return &lostEvents{resets: map[watchID]*delivery{}}
}

// Add takes an event of one registration.
func (l *lostEvents) Add(d *delivery) {
	s := d.by[0]
	if d.removal {
		l.all = append(l.all, d)
		delete(l.resets, s.id)
		return
	}
	reset := l.resets[s.id]
	if reset == nil {
		reset = &delivery{hub: d.hub, told: WatchedEvent{Type: WatchReset, Path: s.path(s.id.full)}}
		l.resets[s.id] = reset
		l.all = append(l.all, reset)
	}
	switch {
	case s.sub == nil: // it has fired, so it cannot be removed any more: one of these is enough
		reset.by = []*registration{s}
	case !slices.Contains(reset.by, s):
		reset.by = append(reset.by, s)
	}
}

func (l *lostEvents) Take() []*delivery { return l.all }
