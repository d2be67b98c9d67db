package cache

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// held has what is known of the changes that are not shown yet.
type held struct {
	changed bool      // the tree is not what was shown
	since   time.Time // when changes began to be held back; zero if there are none
	maxLag  time.Duration
	lag     *time.Timer
}

// touch takes note that something may have changed, which is held back for a while.
func (h *held) touch() {
	if h.since.IsZero() {
		h.since = time.Now()
		h.lag.Reset(h.maxLag)
	}
}

// change takes note that something has changed.
func (h *held) change() {
	h.changed = true
	h.touch()
}

// overdue tells whether changes have been held back for the maximal lag.
func (h *held) overdue() bool { return !h.since.IsZero() && time.Since(h.since) >= h.maxLag }

// minHold is how soon a load is looked at again.
const minHold = 10 * time.Millisecond

// again holds the changes back for as long again.
func (h *held) again() {
	h.since = time.Now()
	h.lag.Reset(max(h.maxLag, minHold))
}

// release takes note that the changes are shown.
func (h *held) release() {
	h.changed, h.since = false, time.Time{}
	h.lag.Stop()
}

// version is the tree at one moment.
type version struct {
	root   *pathtree.Node[content]
	epoch  int64 // of the servers' data, which zxid is of
	zxid   int64
	exact  bool
	fresh  map[string][]byte
	told   deletions        // since the version before, by events
	unread map[string]error // the nodes whose last known content it has, because they cannot be read
	heard  bool             // somebody is told of its changes
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

// output takes what a follower has to tell. Its functions are called by the follower's goroutine.
type output struct {
	show       func(v version)
	stale      func(since time.Time) // zero when it is over
	asked      func() (zxid int64)   // returns the highest zxid that was asked for since the last call; 0 for none
	heard      func() bool           // reports whether anybody is told of changes, and so uses fresh data
	warn, info func(text string, args ...any)
}

// state is a version of the contents.
type state struct {
	Snapshot
	epoch  int64 // of the servers' data, which the snapshot's zxid is of
	loaded bool
	next   chan struct{} // closed when there is another
}

// publisher has the present version of the contents, and those who are told of versions.
type publisher struct {
	telemetry *telemetry.Cache
	listeners listen.Set[Event]
	state     atomic.Pointer[state]

	mu    sync.Mutex
	views []view // that are told of every version
	fixed bool   // no view may be added
	loops map[*loop]struct{}
}

// view is told of every version of the contents, by one goroutine.
type view interface {
	// change gets one change. hidden says that the node does not belong to the contents.
	change(c pathtree.Change[content], data []byte, hidden bool)
	// show makes the changes since the last call visible.
	show()
	// reset forgets all changes. Nothing was shown yet.
	reset()
}

// begin makes empty contents the first version.
func (p *publisher) begin(t *telemetry.Cache, empty Snapshot) {
	p.telemetry = t
	p.listeners.Limit(listen.MaxEvents, newLostEvents)
	p.state.Store(&state{Snapshot: empty, next: make(chan struct{})})
}

// add adds a view, unless the cache was started.
func (p *publisher) add(v view) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fixed {
		return framework.ErrAlreadyStarted
	}
	p.views = append(p.views, v)
	return nil
}

// fix sets whether views are refused from now on.
func (p *publisher) fix(fixed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fixed = fixed
}

// reset undoes what views were told of a load that has failed: if a decoder has panicked, they have a part of its
// nodes.
func (p *publisher) reset() {
	for _, view := range p.views { // nobody adds one
		view.reset()
	}
}

// heard reports whether anybody is told of changes, and so uses their data, with WithoutData.
func (p *publisher) heard() bool { return len(p.views) > 0 || p.listeners.Len() > 0 }

// show makes a version the present contents.
func (p *publisher) show(v version) {
	before := p.state.Load()
	now := &state{
		Snapshot: Snapshot{root: v.root, zxid: v.zxid, exact: v.exact, topless: before.topless, unread: v.unread},
		epoch:    v.epoch, loaded: true, next: make(chan struct{}),
	}
	var events []Event
	changed := 0
	switch {
	case v.heard:
		events, changed = p.tell(v, now, before)
	case p.telemetry.Counts():
		pathtree.Diff(before.root, now.root, compare, func(ch pathtree.Change[content]) bool {
			if !now.hidden(ch, before.Snapshot) {
				changed++
			}
			return true
		})
	}
	p.publish(now, v.told)
	close(before.next)
	p.telemetry.Changed(changed)
	for _, event := range events {
		p.listeners.Notify(event)
	}
	if !before.loaded {
		p.listeners.Notify(Event{Type: Initialized})
	}
}

// tell tells the views of the changes of a version. It returns what is to be told to listeners, and
// how many changes there are.
func (p *publisher) tell(v version, now, before *state) (events []Event, changed int) {
	listening := p.listeners.Len() > 0
	if listening {
		events = now.readableSince(before.Snapshot)
	}
	for _, ch := range now.ordered(before.Snapshot, v.told) {
		hidden := now.hidden(ch.Change, before.Snapshot)
		data := v.dataOf(ch.Change)
		for _, view := range p.views {
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
func (p *publisher) publish(now *state, told deletions) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, view := range p.views {
		view.show()
	}
	for l := range p.loops {
		if now.epoch != p.state.Load().epoch {
			l.told = nil // their zxids are of data that is lost
		}
		l.note(told)
	}
	p.state.Store(now)
}

// loop is a loop over updates, which has seen a version.
type loop struct {
	before Snapshot
	told   deletions // since then, of nodes of that version
}

// note takes note of the deletions in a new version: the first one of a node.
func (l *loop) note(told deletions) {
	for path, d := range told {
		if n := l.before.root.Find(path); n == nil || n.Value.stat.Czxid != d.czxid {
			continue
		}
		if l.told == nil {
			l.told = deletions{}
		}
		l.told[path] = d
	}
}

// enter adds a loop, which leave ends.
func (p *publisher) enter() (l *loop, leave func()) {
	l = &loop{}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loops == nil {
		p.loops = map[*loop]struct{}{}
	}
	p.loops[l] = struct{}{}
	return l, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.loops, l)
	}
}

// next returns the present state for a loop, and the deletions since the state before. peek is called
// at the same moment, and may look at a view.
func (p *publisher) next(l *loop, peek func()) (now *state, told deletions) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, told = p.state.Load(), l.told
	l.before, l.told = now.Snapshot, nil
	peek()
	return now, told
}

// states yields the state of the cache once it is loaded and whenever it has changed, the newest
// each time, with the deletions since the one before, until ctx ends or one of the channels is closed.
// See next for peek.
func (p *publisher) states(ctx context.Context, done, closed <-chan struct{}, peek func()) iter.Seq2[*state, deletions] {
	return func(yield func(*state, deletions) bool) {
		l, leave := p.enter()
		defer leave()
		for {
			now, told := p.next(l, peek)
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
