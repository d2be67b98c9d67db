package listen

import "context"

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
