// Package exclusion finds two that believed at the same time to hold a lock for one, and holders of a
// semaphore of which there were more than it has leases. All proofs on real servers judge by it. It only
// computes.
package exclusion

import (
	"cmp"
	"slices"
	"time"
)

// Hold is a time in which somebody believed to hold a lock, or a lease of a semaphore. All instants are of
// one clock.
type Hold struct {
	Begin, End time.Duration
	// Through tells that the belief was noted at End. Else it was over by then, and another one may begin.
	Through bool
	// Shared tells that others may hold at the same time what is shared, too: at most Leases, with this
	// one, or any number if Leases is 0.
	Shared bool
	Leases int
	// Error is how much the instants may be wrong, in sum.
	Error time.Duration
}

// believed tells whether the hold, which had begun, was still believed at an instant.
func (h Hold) believed(at time.Duration) bool { return at < h.End || at == h.End && h.Through }

// atOnce is 1 for a hold that was over when it began, and else 0.
func (h Hold) atOnce() int {
	if h.believed(h.Begin) {
		return 0
	}
	return 1
}

// Conflict is a hold that began although others did not permit it: one that excludes it, or that it
// excludes, or all with which there are more than there are leases.
type Conflict[T any] struct {
	Others []T
	Begun  T
	By     time.Duration // for how long it and each of the others were believed
	Error  time.Duration // of By
}

// Doubtful tells whether there may have been no conflict, because its instants may be wrong by as much as it
// lasted. If they are exact, a conflict of one instant is none the less certain.
func (c Conflict[T]) Doubtful() bool { return c.Error > 0 && c.By <= c.Error }

// Find returns the conflicts of the holds of one lock, in the order of the instants at which they began.
// of returns what a hold was. How many there are does not depend on the order of holds. Of those that began at
// the same instant, one is found to have begun after those before it in holds; but one that was over at once
// is found to have begun after the others.
func Find[T any](holds []T, of func(T) Hold) (found []Conflict[T]) {
	sorted := slices.SortedStableFunc(slices.Values(holds), func(a, b T) int {
		return cmp.Or(cmp.Compare(of(a).Begin, of(b).Begin), cmp.Compare(of(a).atOnce(), of(b).atOnce()))
	})
	var active []T
	for _, begun := range sorted {
		h := of(begun)
		active = slices.DeleteFunc(active, func(other T) bool { return !of(other).believed(h.Begin) })
		var sharing []T
		for _, other := range active {
			if of(other).Shared && h.Shared {
				sharing = append(sharing, other)
			} else {
				found = append(found, conflict(begun, []T{other}, of))
			}
		}
		if h.Shared && h.Leases > 0 && len(sharing) >= h.Leases {
			found = append(found, conflict(begun, sharing, of))
		}
		active = append(active, begun)
	}
	return found
}

func conflict[T any](begun T, others []T, of func(T) Hold) Conflict[T] {
	h := of(begun)
	c := Conflict[T]{Others: others, Begun: begun, Error: h.Error}
	end := max(h.Begin, h.End)
	for _, other := range others {
		end = min(end, of(other).End)
		c.Error = max(c.Error, h.Error+of(other).Error)
	}
	c.By = end - h.Begin
	return c
}
