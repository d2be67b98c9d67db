package discovery

import (
	"cmp"
	"slices"
	"time"
)

// gone is an instance that has left the list.
type gone[T any] struct {
	path     string // of its node
	instance ServiceInstance[T]
	at       time.Time
}

// leave returns what has left the list within a time, in the order of the paths. It is what
// EmptyProtection offers, so what was disabled is left out.
func leave[T any](before, now *list[T], keep time.Duration) []gone[T] {
	present := make(map[string]bool, len(now.paths))
	for _, path := range now.paths {
		present[path] = true
	}
	at := time.Now()
	var all []gone[T]
	for _, g := range before.gone {
		if !present[g.path] && at.Sub(g.at) < keep {
			all = append(all, g)
		}
	}
	for i, path := range before.paths {
		if !present[path] && !before.instances[i].Disabled {
			all = append(all, gone[T]{path, before.instances[i], at})
		}
	}
	slices.SortFunc(all, func(a, b gone[T]) int { return cmp.Compare(a.path, b.path) })
	return all
}
