package layout

import (
	"cmp"
	"slices"
	"strings"
)

// Owned is a node of a semaphore in Java's layout, and the session that owns it.
type Owned struct {
	Name           string
	Session, Czxid int64
}

// SemaphoreV2 has the holders and waiters of a semaphore in Java's layout.
//
// Such a semaphore, an InterProcessSemaphoreV2 or InterProcessSemaphoreMutex, has two children. Below
// "leases" is a node for each lease. Every child there counts, whatever its name is, and their order does
// not matter. Below "locks" is a mutex. A client that takes a lease holds the mutex meanwhile: it creates
// the lease's node, and waits until there are at most as many as the maximum. The maximum is a convention
// of the users, and no node has it.
type SemaphoreV2 struct {
	Holders []Owned // nodes of leases
	// Undecided is the node of a lease that is being taken, nil for none. The lease is granted at once, or
	// waits until another one is returned, and the nodes are the same in both cases. Its owner is the first
	// of Waiters.
	Undecided *Owned
	Waiters   []Owned // nodes of the mutex, in order
}

// ReadSemaphoreV2 reads the children of "leases" and of "locks".
func ReadSemaphoreV2(leases, locks []Owned) (s SemaphoreV2) {
	s.Holders, s.Waiters = inOrder(leases, Tail), inOrder(locks, func(name string) string { return Number(name, LockMark) })
	if len(s.Holders) == 0 || len(s.Waiters) == 0 {
		return s
	}
	last := slices.MaxFunc(s.Holders, func(a, b Owned) int { return cmp.Compare(a.Czxid, b.Czxid) })
	if IsUndecided(last, s.Waiters[0]) {
		s.Holders = slices.DeleteFunc(s.Holders, func(o Owned) bool { return o == last })
		s.Undecided = &last
	}
	return s
}

// IsUndecided reports whether the youngest lease of a semaphore is being taken by the first contender of
// its mutex: it is of the same session, and younger than the mutex's node. If a contender takes several
// leases one by one, those before the youngest are held. If a session has several contenders, the lease may
// be that of an earlier one, until the first one has made its own: then a lease that is held looks undecided
// for a moment. Names do not show which lease is the youngest: they may be any text, and the server's counter
// wraps around.
func IsUndecided(last, first Owned) bool {
	return last.Session == first.Session && last.Session != 0 && last.Czxid > first.Czxid
}

func inOrder(nodes []Owned, order func(name string) string) []Owned {
	sorted := slices.DeleteFunc(slices.Clone(nodes), func(n Owned) bool { return order(n.Name) == "" })
	slices.SortFunc(sorted, func(a, b Owned) int {
		return cmp.Or(strings.Compare(order(a.Name), order(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return sorted
}
