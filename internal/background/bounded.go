package background

// Backlog has what is to be told instead of the values for which a [Bounded] queue has no room. The owner of
// the queue guards it.
type Backlog[T any] interface {
	// Add takes a value for which there is no room. Values come in order.
	Add(value T)
	// Take returns what is to be told instead of the values that were added, in order. There may be nothing. It
	// is called once, and ends the backlog.
	Take() []T
}

// Bounded is a queue with a limit, for a function that may be slow or blocked. When it is full, values go to
// a backlog until the queue is empty: what the backlog has made of them comes then, behind the values that
// were kept and ahead of later ones. The zero value has no limit. It is not safe for concurrent use.
type Bounded[T any] struct {
	most    int
	backlog func() Backlog[T] // nil for no limit
	values  []T
	over    Backlog[T] // has the values since the queue was full; nil if it was not
}

// NewBounded returns a queue for most values, with a new backlog each time that it is full.
func NewBounded[T any](most int, backlog func() Backlog[T]) Bounded[T] {
	return Bounded[T]{most: most, backlog: backlog}
}

// Add appends a value, and reports whether there was room for it.
func (q *Bounded[T]) Add(value T) (kept bool) {
	if q.over == nil && (q.backlog == nil || len(q.values) < q.most) {
		q.values = append(q.values, value)
		return true
	}
	if q.over == nil {
		q.over = q.backlog()
	}
	q.over.Add(value)
	return false
}

// Next takes the first value off the queue.
func (q *Bounded[T]) Next() (value T, ok bool) {
	if len(q.values) == 0 {
		q.values = nil // also its array
		if q.over == nil {
			return value, false
		}
		q.values, q.over = q.over.Take(), nil
		if len(q.values) == 0 {
			return value, false
		}
	}
	value = q.values[0]
	clear(q.values[:1]) // or the array would keep the value alive
	q.values = q.values[1:]
	return value, true
}

// Empty reports whether there is nothing to take. What a backlog has made of its values may be nothing.
func (q *Bounded[T]) Empty() bool { return len(q.values) == 0 && q.over == nil }

// Clear drops everything.
func (q *Bounded[T]) Clear() { q.values, q.over = nil, nil }
