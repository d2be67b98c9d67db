package lockqueue

// Rules are the differences between kinds of queues. The methods are pure functions.
type Rules interface {
	// Order returns the text that a child is sorted by. It is "" for a child that is no
	// contender.
	Order(name string) string
	// Check returns an error if the contender must not queue with these children, for example
	// those of another kind of lock.
	Check(names []string) error
	// Decide says whether own is let in, and if not, what must change first. queue has all
	// contenders in their order.
	Decide(queue []string, own string) Decision
	// Marks reports whether the holder of a node marks its release. See wait.go.
	Marks(name string) bool
}

// Decision is the answer of Rules.Decide.
type Decision struct {
	Admitted bool
	// Behind has names of nodes. At least one of them must be deleted first.
	Behind []string
	// Next says that only the one node of Behind is ahead, and that the contender is let in
	// when that node is deleted, because no other node can take its place.
	Next bool
	// Children says that any change of the children may let the contender in. Then Behind is
	// not used.
	Children bool
}
