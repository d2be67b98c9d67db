package discoverygrpc

import (
	"context"
	"iter"
	"sync"

	"github.com/go-curator/curator/recipes/discovery"
)

// instances is what is needed of a discovery.ServiceProvider.
type instances[T any] interface {
	Start(ctx context.Context) error
	Close(ctx context.Context) error
	Instance() (discovery.ServiceInstance[T], error)
	Updates(ctx context.Context) iter.Seq[[]discovery.ServiceInstance[T]]
}

// watched is a service with its list of instances, which all resolvers of the service share.
type watched[T any] struct {
	name  string
	open  func() (instances[T], error) // makes the list once
	users int                          // guarded by Builder.mu

	turn    chan struct{} // holds one value while a resolver starts the list
	started bool          // guarded by turn
}

func newWatched[T any](name string, open func(string) (instances[T], error)) *watched[T] {
	return &watched[T]{
		name: name, turn: make(chan struct{}, 1),
		open: sync.OnceValues(func() (instances[T], error) { return open(name) }),
	}
}

// start starts the list, unless it is started. ctx bounds only this call: if it ends first, another
// resolver starts the list.
func (w *watched[T]) start(ctx context.Context, list instances[T]) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.turn }()
	if w.started {
		return nil
	}
	if err := list.Start(ctx); err != nil {
		return err
	}
	w.started = true
	return nil
}
