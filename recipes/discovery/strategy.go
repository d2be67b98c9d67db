package discovery

import (
	"math/rand/v2"
	"sync/atomic"
)

// Strategy chooses one of the instances. There is at least one, and they are in the order of
// the names of their nodes. It is called by several goroutines, and must neither change the
// instances nor keep the slice. Strategies of this package have a state, so use a new one for
// each provider.
//
// Java: ProviderStrategy.
type Strategy[T any] interface {
	Pick(instances []ServiceInstance[T]) ServiceInstance[T]
}

// RoundRobin returns a strategy that chooses instances in turn. When instances come or go, some
// may be chosen twice, or not at all, in that round.
//
// Java: RoundRobinStrategy.
func RoundRobin[T any]() Strategy[T] { return new(roundRobin[T]) }

type roundRobin[T any] struct{ next atomic.Uint64 }

// Pick takes the next one.
func (s *roundRobin[T]) Pick(instances []ServiceInstance[T]) ServiceInstance[T] {
	return instances[(s.next.Add(1)-1)%uint64(len(instances))]
}

// Random returns a strategy that chooses at random, each instance with the same probability.
//
// Java: RandomStrategy.
func Random[T any]() Strategy[T] { return random[T]{} }

type random[T any] struct{}

// Pick takes any.
func (random[T]) Pick(instances []ServiceInstance[T]) ServiceInstance[T] {
	return instances[rand.IntN(len(instances))]
}

// Sticky returns a strategy that chooses the same instance while it is in the list, by its id,
// address and ports, and then an instance that inner chooses. A nil inner is RoundRobin.
//
// Java: StickyStrategy.
func Sticky[T any](inner Strategy[T]) Strategy[T] {
	if inner == nil {
		inner = RoundRobin[T]()
	}
	return &sticky[T]{inner: inner}
}

type sticky[T any] struct {
	inner Strategy[T]
	last  atomic.Pointer[stuck]
}

// stuck is the instance that was taken, and where it was in the list.
type stuck struct {
	endpoint endpoint
	index    int
}

// Pick takes the same again. Of several goroutines that find it gone at the same time the first
// one decides.
func (s *sticky[T]) Pick(instances []ServiceInstance[T]) ServiceInstance[T] {
	for {
		last := s.last.Load()
		if last != nil {
			if i := last.index; i < len(instances) && instances[i].endpoint() == last.endpoint {
				return instances[i]
			}
			for i := range instances {
				if instances[i].endpoint() == last.endpoint {
					s.last.CompareAndSwap(last, &stuck{last.endpoint, i})
					return instances[i]
				}
			}
		}
		picked := s.inner.Pick(instances)
		if s.last.CompareAndSwap(last, &stuck{endpoint: picked.endpoint()}) {
			return picked
		}
	}
}
