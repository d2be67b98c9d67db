package discovery

import (
	"context"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/turns"
)

const (
	// atOnce is how many instances are registered, registered again or unregistered at a time.
	atOnce = 16
	// crowd is how many instances are registered again without waiting.
	crowd = 100
	// spacing is what each of more instances adds to the random time.
	spacing = 200 * time.Microsecond
)

// registrations are the instances of a ServiceDiscovery.
type registrations[T any] struct {
	places *places[T]
	turns  *turns.Turns

	mu      sync.Mutex
	entries map[key]*registration[T]
	live    bool // from Start to Close
	closed  bool
}

func newRegistrations[T any](p *places[T]) *registrations[T] {
	all := &registrations[T]{places: p, entries: map[key]*registration[T]{}}
	all.turns = turns.New(atOnce, all.spread)
	return all
}

// spread is the time over which instances are registered again.
func (all *registrations[T]) spread() time.Duration {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.entries) <= crowd {
		return 0
	}
	return time.Duration(len(all.entries)) * spacing
}

// take waits for the turn of an instance, and returns nil if it is not known and not to be
// created. give ends the turn.
func (all *registrations[T]) take(ctx context.Context, k key, create bool) (*registration[T], error) {
	for {
		r, err := all.find(k, create)
		if r == nil || err != nil {
			return nil, err
		}
		if err := r.lock(ctx); err != nil {
			return nil, err
		}
		again, err := all.find(k, false)
		if again == r && err == nil {
			return r, nil
		}
		r.unlock() // it was forgotten meanwhile
		if err != nil {
			return nil, err
		}
	}
}

func (all *registrations[T]) find(k key, create bool) (*registration[T], error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return nil, framework.ErrClosed
	}
	r := all.entries[k]
	if r == nil && create {
		r = newRegistration[T]()
		all.entries[k] = r
	}
	return r, nil
}

// give ends the turn of an instance, and forgets it if nothing is left of it.
func (all *registrations[T]) give(k key, r *registration[T]) {
	all.mu.Lock()
	if r.state == absent && all.entries[k] == r { // r may be forgotten already, and k registered again
		delete(all.entries, k)
	}
	all.mu.Unlock()
	r.unlock()
}

// set changes a registration, unless everything is closed.
func (all *registrations[T]) set(change func()) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return framework.ErrClosed
	}
	change()
	return nil
}

func (all *registrations[T]) isLive() bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.live
}
