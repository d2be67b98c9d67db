package listen

import "context"

// Listenable takes listeners for events of type T. The zero value takes none.
//
// Java: Listenable.
type Listenable[T any] struct{ set *Set[T] }

// Add registers fn and returns a function that removes it. Events are delivered in order
// and one at a time, on a goroutine of the listener's own; there is no replay of what
// happened before. fn's context ends when the source is closed.
//
// After remove returns no new call begins and what was not delivered is dropped; a call
// that is running is not waited for, so remove may be called from fn, and more than once.
// Add(nil) does nothing, and neither does Add once the source is closed. A panic in fn is
// not recovered.
//
// Java: Listenable.addListener and removeListener.
func (l Listenable[T]) Add(fn func(ctx context.Context, event T)) (remove func()) {
	if l.set == nil || fn == nil {
		return func() {}
	}
	return l.set.add(fn)
}
