package listen

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
