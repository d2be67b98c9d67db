package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// listing is what one consumer knows of a queue: its items, in order, and which of them are
// locked. Persistent watches keep it up to date, so that the queue is listed once for each
// connection. On a server without them it is listed after each change: see watched.
//
// The methods that take lists, and the events of persistent watches, run on the connection's
// goroutine, in the order in which the server sent them. So a list replaces what was known before,
// and the events that follow it are about later changes.
type listing struct {
	kind        layout.ItemKind
	dir, locks  string      // the server's paths; locks is "" for at most once
	wake        wait.Signal // the consumer is to look
	skipForeign func(name string)

	mu         sync.Mutex
	items      []*item // in order
	locked     map[string]bool
	foreign    map[string]bool // names that are no items
	staleItems bool            // the items are to be listed
	staleLocks bool            // the locks are to be listed
	closed     bool            // the client is closed
	failed     int             // functions and settlements that failed in a row
	rest       time.Time       // nothing is tried before; zero for no limit
}

// item is one node of the queue.
type item struct {
	name     string
	order    layout.ItemOrder
	busy     bool      // this consumer works on it
	not      time.Time // the item is not tried before; zero for no limit
	failures int       // how often in a row this consumer could not take it
	claimed  bool      // the next end of its lock node is that of this consumer's
	refused  bool      // it could not be read, which was logged
}

func newListing(kind layout.ItemKind, dir, locks string, skipForeign func(name string)) *listing {
	return &listing{
		kind: kind, dir: dir, locks: locks, wake: wait.NewSignal(), skipForeign: skipForeign,
		locked: map[string]bool{}, foreign: map[string]bool{}, staleItems: true, staleLocks: locks != "",
	}
}

// onItem takes an event of the queue's node, or of one below it.
func (l *listing) onItem(e zkconn.WatchEvent) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.onReset(e, &l.staleItems) {
		for _, i := range l.items {
			if i.refused && e.Type != zkconn.NodeChildrenChanged {
				i.not = time.Time{} // another connection may have other permissions
			}
		}
		return
	}
	name, child := childName(l.dir, e.Path)
	switch {
	case !child:
	case e.Type == zkconn.NodeCreated:
		l.insert(name)
	case e.Type == zkconn.NodeDeleted:
		l.remove(name)
	}
}

// onLock takes an event of the lock path, or of a node below it.
func (l *listing) onLock(e zkconn.WatchEvent) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.onReset(e, &l.staleLocks) {
		return
	}
	name, child := childName(l.locks, e.Path)
	switch {
	case !child:
	case e.Type == zkconn.NodeCreated:
		l.locked[name] = true
	case e.Type == zkconn.NodeDeleted:
		delete(l.locked, name)
		if at, known := l.find(name); known {
			l.items[at].unlocked()
		}
	}
}

// unlocked takes the news that the item's lock node is gone. If it was another consumer's, the item is
// tried at once. If it was our own, that says nothing new, nor does the end of any lock node about an item
// that cannot be read.
func (i *item) unlocked() {
	if !i.claimed && !i.refused {
		i.not, i.failures = time.Time{}, 0
	}
	i.claimed = false
}

// onReset takes the events that are about the watch. l.mu is held.
func (l *listing) onReset(e zkconn.WatchEvent, stale *bool) bool {
	switch e.Type {
	case zkconn.WatchClosed:
		l.closed = true
	case zkconn.WatchReset, zkconn.WatchSessionLost, zkconn.NodeChildrenChanged:
		*stale = true
	default:
		return false
	}
	return true
}

// childName returns the last part of a path, if that is the path of a child of dir.
func childName(dir, path string) (name string, ok bool) {
	name, below := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	return name, below && name != "" && !strings.Contains(name, "/")
}

// setItems replaces the items by a list. The events that came after the list must be handled after
// this call. So each of the two lists is set when its own answer comes.
func (l *listing) setItems(items []string) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	before := make(map[string]*item, len(l.items))
	for _, i := range l.items {
		before[i.name] = i
	}
	l.items = make([]*item, 0, len(items))
	foreign := l.foreign
	l.foreign = map[string]bool{}
	for _, name := range items {
		switch known := before[name]; {
		case known != nil:
			l.items = append(l.items, known)
		case l.kind.IsItem(name):
			l.items = append(l.items, &item{name: name, order: l.kind.Order(name)})
		default:
			l.noteForeign(name, foreign[name])
		}
	}
	slices.SortFunc(l.items, (*item).compare)
	l.staleItems = false
}

// setLocks is setItems for the locks.
func (l *listing) setLocks(locks []string) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.locked)
	for _, name := range locks {
		l.locked[name] = true
	}
	for _, i := range l.items {
		i.claimed = i.claimed && l.locked[i.name]
	}
	l.staleLocks = false
}

func (i *item) compare(other *item) int {
	if c := i.order.Compare(other.order); c != 0 {
		return c
	}
	return strings.Compare(i.name, other.name)
}

// insert adds an item, unless it is known. l.mu is held.
func (l *listing) insert(name string) {
	if !l.kind.IsItem(name) {
		l.noteForeign(name, l.foreign[name])
		return
	}
	added := &item{name: name, order: l.kind.Order(name)}
	at, known := slices.BinarySearchFunc(l.items, added, (*item).compare)
	if !known {
		l.items = slices.Insert(l.items, at, added)
	}
}

// noteForeign remembers a node that is no item. l.mu is held.
func (l *listing) noteForeign(name string, known bool) {
	l.foreign[name] = true
	if !known {
		l.skipForeign(name)
	}
}

// remove forgets an item. l.mu is held.
func (l *listing) remove(name string) {
	if at, known := l.find(name); known {
		l.items = slices.Delete(l.items, at, at+1)
	}
	delete(l.foreign, name)
}

func (l *listing) find(name string) (at int, known bool) {
	return slices.BinarySearchFunc(l.items, &item{name: name, order: l.kind.Order(name)}, (*item).compare)
}

// errNotInOrder is returned for an answer that was not taken over on the connection's goroutine:
// events that followed it may have been told before it. The lists are then read again.
var errNotInOrder error = &zkconn.TransportError{Err: zkconn.ErrConnectionLoss, Detail: errors.New("the connection ended before the lists were read")}

// listError says whose list a server has refused.
type listError struct {
	dir string // the server's path
	err error
}

func (e *listError) Error() string { return e.err.Error() }

func (e *listError) Unwrap() error { return e.err }

// read reads the names of the items, and of the locks. The requests go out together, but each
// answer is taken over by itself: an event that comes between the two is about a change that the
// first list does not show.
func (l *listing) read(ctx context.Context, conn *zkconn.Conn) error {
	lists := []func() error{readList(ctx, conn, l.dir, l.setItems)}
	if l.locks != "" {
		lists = append(lists, readList(ctx, conn, l.locks, l.setLocks))
	}
	var err error
	for _, wait := range lists {
		err = errors.Join(err, wait())
	}
	return err
}

// readList sends the request for the children of a node, and returns a function that waits until
// set was called with the answer.
func readList(ctx context.Context, conn *zkconn.Conn, dir string, set func(names []string)) (wait func() error) {
	call := zkconn.List(dir, nil)
	done := make(chan error, 1)
	flight, queued := conn.Start(0, func(f *zkconn.Flight) {
		err := f.Wait(ctx) // returns at once on the connection's goroutine
		if err == nil && call.Err != nil {
			err = &listError{dir, call.Err}
		}
		if err == nil || isNoNode(err) {
			set(call.Names())
			err = nil
		}
		done <- zkclient.NotApplied(err)
	}, call)
	return func() error {
		if !queued {
			if err := flight.Wait(ctx); err != nil {
				return zkclient.NotApplied(err)
			}
			return errNotInOrder
		}
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// status reports whether a list has to be read, and whether the client is closed.
func (l *listing) status() (stale, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.staleItems || l.staleLocks, l.closed
}

// next returns the item that goes first, and marks it as one that this consumer works on. It
// returns nil if no item can be taken now.
func (l *listing) next(now time.Time) *item {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, _ := l.look(now)
	if first != nil {
		first.busy = true
	}
	return first
}

// ready reports whether next would return an item. If not, in is the time until an item can be
// tried; it is negative if there is no such item.
func (l *listing) ready(now time.Time) (ok bool, in time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, in := l.look(now)
	return first != nil, in
}

// look returns the item that goes first, or nil and the in of ready. l.mu is held.
func (l *listing) look(now time.Time) (*item, time.Duration) {
	if l.staleItems || l.staleLocks || l.closed {
		return nil, -1
	}
	if left := l.rest.Sub(now); left > 0 {
		return nil, left
	}
	nearest := time.Duration(-1)
	later := func(d time.Duration) {
		if nearest < 0 || d < nearest {
			nearest = d
		}
	}
	for _, i := range l.items {
		wait := i.not.Sub(now)
		switch at := now.UnixMilli(); {
		case i.busy, l.locked[i.name]:
		case i.order.Due > at: // the items behind are due later
			later(max(wait, untilDue(i.order.Due-at)))
			return nil, nearest
		case wait > 0:
			later(wait)
		default:
			return i, 0
		}
	}
	return nil, nearest
}

// longestWait bounds the wait for a time: the clock of the machine may be set meanwhile.
const longestWait = time.Minute

func untilDue(ms int64) time.Duration {
	if ms < 0 || ms > longestWait.Milliseconds() { // it overflows for a clock that is before 1970
		return longestWait
	}
	return time.Duration(ms) * time.Millisecond
}
