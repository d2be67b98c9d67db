// Package listen has the listener sets of the client and of the recipes.
//
// A source of events has a [Set] and hands out its [Listenable], to which listeners are
// added. Every listener gets every event that is notified while it is in the set, in one
// order for all of them, one at a time.
//
// Events from before a listener was added are not replayed. A slow listener delays no others. Its
// queue has a limit that its source sets, see [Set.Limit]. When the queue is full, the source merges
// later events into fewer that say the same in the end, or into one that says to read again: the
// source's documentation says what its listeners get. Without a limit a blocked listener costs memory
// for each event; connection states have none, because they are few.
//
// Everything is safe for concurrent use. A listener is called on a goroutine that exists only
// while it has events to deliver, so a set without events and a removed listener cost nothing.
// A panic in a listener is not recovered.
//
// The context of a listener ends only when the set is closed.
//
// The counterparts in Java are Listenable and the ListenerManager classes of
// org.apache.curator.framework.listen. There the caller passes an executor; here each
// listener has its own goroutine.
package listen

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/background"
)

// Set is the other side of a [Listenable], for authors of recipes. The zero value is
// ready to use; a Set must not be copied after its first use.
//
// Java: StandardListenerManager.
type Set[T any] struct {
	mu        sync.Mutex
	listeners []*listener[T] // in the order of their addition
	running   int            // goroutines of listeners, also of removed ones
	exited    chan struct{}  // closed when one of them ends or calls Close; nil while nobody waits
	ctx       context.Context
	cancel    context.CancelFunc
	closed    bool
	closing   map[*listener[T]]int // those that are in a Close of the set, and in how many
	most      int                  // see Limit
	backlog   func() Backlog[T]    // nil for no limit
}

// listener has what the set knows about one function; the set's mutex guards it.
type listener[T any] struct {
	fn      func(ctx context.Context, event T)
	ctx     context.Context
	queue   background.Bounded[T]
	running bool
}

// Listenable returns the side to hand out.
func (s *Set[T]) Listenable() Listenable[T] { return Listenable[T]{s} }

// Len returns the number of listeners. A source can skip work for events if it is zero.
func (s *Set[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners)
}

// Limit bounds the queue of each listener, which has no limit without it. When most events wait for a
// listener, later ones go to a Backlog, until the listener has got those that wait. It then gets what Take
// of the Backlog returns, and later events come behind that. backlog makes a Backlog; it is called each time
// that a queue is full. A source calls Limit before it has listeners.
//
// Java: none; there the queue of the executor decides.
func (s *Set[T]) Limit(most int, backlog func() Backlog[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most, s.backlog = most, backlog
}

// Notify delivers event to every listener. It never blocks, and may be called from a
// listener. Events of concurrent calls have the same order for all listeners. After Close it
// does nothing.
func (s *Set[T]) Notify(event T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, l := range s.listeners {
		l.queue.Add(event)
		s.wake(l)
	}
}

// Close ends the listeners' contexts, delivers the events notified before, and joins the
// listeners' goroutines. When ctx ends first, undelivered events are dropped, and the error
// says how many listeners are still running. Close may be called again to wait for them.
//
// A listener that closes its own set should pass its own context, or one derived from it. Close
// then does not wait for this listener, nor for others that are in a Close of this kind. Close ends that
// context, so to wait for the other listeners pass a context that is derived through
// [context.WithoutCancel]. With an unrelated context Close waits for its own caller until the context ends.
func (s *Set[T]) Close(ctx context.Context) error {
	self, _ := ctx.Value(callerKey[T]{s}).(*listener[T])

	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	if self != nil && self.running {
		defer s.enterClose(self)()
	}
	for {
		others := s.running
		if self != nil {
			others -= len(s.closing)
		}
		if others == 0 {
			return nil
		}
		if ctx.Err() != nil {
			for _, l := range s.listeners {
				l.queue.Clear()
			}
			return fmt.Errorf("listeners still running: %d: %w", others, context.Cause(ctx))
		}
		s.await(ctx)
	}
}

// enterClose takes note of a listener that calls Close, and leave of its end. The mutex is held.
func (s *Set[T]) enterClose(l *listener[T]) (leave func()) {
	if s.closing == nil {
		s.closing = map[*listener[T]]int{}
	}
	s.closing[l]++
	s.changed()
	return func() {
		if s.closing[l]--; s.closing[l] == 0 {
			delete(s.closing, l)
		}
	}
}

// changed wakes those who wait in await. The mutex is held.
func (s *Set[T]) changed() {
	if s.exited != nil {
		close(s.exited)
		s.exited = nil
	}
}

// await waits, without the lock, until a goroutine of the set or ctx ends.
func (s *Set[T]) await(ctx context.Context) {
	if s.exited == nil {
		s.exited = make(chan struct{})
	}
	exited := s.exited
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-exited:
	case <-ctx.Done():
	}
}

func (s *Set[T]) add(fn func(ctx context.Context, event T)) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return func() {}
	}
	if s.ctx == nil {
		// No caller's context would do: a listener outlives the call that added it.
		s.ctx, s.cancel = context.WithCancel(context.Background())
	}
	l := &listener[T]{fn: fn, queue: s.queue()}
	l.ctx = context.WithValue(s.ctx, callerKey[T]{s}, l)
	s.listeners = append(s.listeners, l)
	return func() { s.remove(l) }
}

// queue returns an empty queue for a listener.
func (s *Set[T]) queue() background.Bounded[T] {
	if s.backlog == nil {
		return background.Bounded[T]{}
	}
	return background.NewBounded(s.most, func() background.Backlog[T] { return s.backlog() })
}

func (s *Set[T]) remove(l *listener[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.queue.Clear()
	if i := slices.Index(s.listeners, l); i >= 0 {
		s.listeners = slices.Delete(s.listeners, i, i+1)
	}
}

// wake sees to it that l has a goroutine.
func (s *Set[T]) wake(l *listener[T]) {
	if l.running {
		return
	}
	l.running = true
	s.running++
	go s.deliver(l)
}

// deliver calls l until its queue is empty.
func (s *Set[T]) deliver(l *listener[T]) {
	defer s.exit(l)
	for {
		event, ok := s.next(l)
		if !ok {
			return
		}
		l.fn(l.ctx, event)
	}
}

// next takes the first event off l's queue.
func (s *Set[T]) next(l *listener[T]) (event T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.queue.Next()
}

// exit is deferred, so that a listener that ends its goroutine, as t.FailNow does, is not
// waited for and still gets the rest of its events.
func (s *Set[T]) exit(l *listener[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.running = false
	s.running--
	s.changed()
	if !l.queue.Empty() { // also what was notified since next found the queue empty
		s.wake(l)
	}
}

// callerKey is the key under which the context of a listener has the listener.
type callerKey[T any] struct{ set *Set[T] }

// Limits of the queue of one listener, for the sources of this module.
const (
	// MaxEvents is how many events wait for a listener of changes, such as those of a watch or a cache.
	MaxEvents = 1 << 16
	// MaxStates is how many events wait for a listener of states, of which only the newest is of use.
	MaxStates = 1 << 10
)

// Backlog has what a listener gets instead of the events for which its queue has no room; see
// [Set.Limit]. Its methods are called one at a time, while the set is locked: they must not block, nor use
// the set.
type Backlog[T any] interface {
	// Add takes an event for which there is no room. Events come in the order of Notify.
	Add(event T)
	// Take returns what the listener gets instead of the events that were added, in order. It is called once,
	// when the listener has got the events that were kept.
	Take() []T
}

// Newest returns a Backlog for events that are states: the listener gets the last of them.
func Newest[T any]() Backlog[T] { return &newest[T]{} }

type newest[T any] struct{ event [1]T }

func (n *newest[T]) Add(event T) { n.event[0] = event }
func (n *newest[T]) Take() []T   { return n.event[:] }

// Listenable takes listeners for events of type T. The zero value takes none.
//
// Java: Listenable.
type Listenable[T any] struct{ set *Set[T] }

// Add registers fn and returns a function that removes it. Events are delivered in order and
// one at a time, on the listener's own goroutine. Earlier events are not replayed. If fn is so slow
// that its queue is full, the source merges events; see [Set.Limit]. fn's context ends when the source
// is closed.
//
// After remove returns no new call begins, and undelivered events are dropped. remove does not
// wait for a running call, so fn may call it. It may be called more than once. Add(nil) does
// nothing, and neither does Add once the source is closed. A panic in fn is not recovered.
//
// Java: Listenable.addListener and removeListener.
func (l Listenable[T]) Add(fn func(ctx context.Context, event T)) (remove func()) {
	if l.set == nil || fn == nil {
		return func() {}
	}
	return l.set.add(fn)
}
