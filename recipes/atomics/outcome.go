package atomics

import "time"

// AtomicValue is the outcome of a change.
//
// Java: AtomicValue.
type AtomicValue[T any] struct {
	Pre, Post T // before and after the change
	Stats     AtomicStats
}

// AtomicStats has the tries and times of a change.
//
// Java: AtomicStats.
type AtomicStats struct {
	OptimisticTries int // without the lock of WithPromotedToLock
	PromotedTries   int // while it was held
	OptimisticTime  time.Duration
	PromotedTime    time.Duration // includes the wait for the lock
}
