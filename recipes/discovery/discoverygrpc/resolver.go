package discoverygrpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/resolver"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/retry"
)

const (
	firstLoadPause = 250 * time.Millisecond
	maxLoadPause   = 10 * time.Second
)

// serviceResolver tells one ClientConn of the instances of a service.
type serviceResolver[T any] struct {
	service    *watched[T]
	list       instances[T]
	cc         resolver.ClientConn
	endpointOf func(discovery.ServiceInstance[T]) (resolver.Endpoint, bool)
	shown      bool // a list with endpoints; of the resolver's goroutine

	cancel context.CancelFunc
	done   chan struct{}
}

// ResolveNow does nothing, because the list is always up to date.
func (r *serviceResolver[T]) ResolveNow(resolver.ResolveNowOptions) {}

// Close ends the resolver and joins its goroutine.
func (r *serviceResolver[T]) Close() {
	r.cancel()
	<-r.done
}

// run tells the ClientConn until ctx ends or the registry is closed.
func (r *serviceResolver[T]) run(ctx context.Context) {
	if err := r.load(ctx); err != nil {
		return
	}
	if _, err := r.list.Instance(); errors.Is(err, framework.ErrNotStarted) { // it is loaded in the background
		r.cc.ReportError(err)
	}
	for list := range r.list.Updates(ctx) {
		r.show(list)
	}
	if ctx.Err() == nil {
		r.cc.ReportError(fmt.Errorf("service %s: %w", r.service.name, framework.ErrClosed))
	}
}

// load starts the list, again and again until that succeeds, the registry is closed or ctx ends.
func (r *serviceResolver[T]) load(ctx context.Context) error {
	const growth = 10 // then the pauses have reached their maximum
	pauses := retry.BoundedExponentialBackoff(firstLoadPause, maxLoadPause, growth+1)
	for attempt := 0; ; attempt++ {
		err := r.service.start(ctx, r.list)
		if err == nil || ctx.Err() != nil {
			return err
		}
		r.cc.ReportError(err) // it names the service
		if errors.Is(err, framework.ErrClosed) {
			return err
		}
		pause, _ := pauses.Next(min(attempt, growth), 0, err)
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
}

// show hands the addresses of the instances to the ClientConn.
func (r *serviceResolver[T]) show(list []discovery.ServiceInstance[T]) {
	var state resolver.State
	for _, instance := range list {
		if endpoint, ok := r.endpointOf(instance); ok {
			state.Endpoints = append(state.Endpoints, endpoint)
			state.Addresses = append(state.Addresses, endpoint.Addresses...) // for policies that know no endpoints
		}
	}
	if len(state.Endpoints) > 0 {
		r.shown = true
		// The error would be that the policy does not like the list. The next list comes by itself.
		_ = r.cc.UpdateState(state)
		return
	}
	problem := r.noEndpoint(len(list))
	if problem == nil {
		return // there are instances again: the next list comes by itself
	}
	if r.shown { // else a policy would fail calls for its own reason until it is told ours
		_ = r.cc.UpdateState(withProblem(state, problem))
	}
	r.cc.ReportError(problem)
}

// noEndpoint says why a list of n instances has no endpoints.
func (r *serviceResolver[T]) noEndpoint(n int) error {
	if n > 0 {
		return fmt.Errorf("%w %s: none of %d has an address and a port", discovery.ErrNoInstance, r.service.name, n)
	}
	_, err := r.list.Instance() // it knows what is registered
	return err
}

// problemKey is the key of an attribute of a resolver.State.
type problemKey struct{}

// withProblem adds the reason why a state has no endpoints.
func withProblem(s resolver.State, err error) resolver.State {
	s.Attributes = s.Attributes.WithValue(problemKey{}, err)
	return s
}

// problemOf returns the reason why a state has no endpoints, nil if it has some.
func problemOf(s resolver.State) error {
	if len(s.Endpoints) > 0 {
		return nil
	}
	if err, ok := s.Attributes.Value(problemKey{}).(error); ok {
		return err
	}
	return discovery.ErrNoInstance
}
