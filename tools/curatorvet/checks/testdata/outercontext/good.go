package outercontext

import (
	"context"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func (s *service) shadowed(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return s.store(ctx, lease.Token())
	})
}

// The caller's context may be used to check whether the caller has given up.
func (s *service) asked(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(held context.Context, lease *locks.Lease) error {
		err := s.store(held, lease.Token())
		if ctx.Err() != nil {
			log.Print("the caller has given up: ", context.Cause(ctx))
		}
		return err
	})
}

// Bind returns a context that ends with the lease.
func (s *service) bound(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(_ context.Context, lease *locks.Lease) error {
		return s.store(lease.Bind(ctx), lease.Token())
	})
}

func (s *service) released(ctx context.Context, mutex, other *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(held context.Context, _ *locks.Lease) (err error) {
		lease, err := other.Acquire(held)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lease.Release(ctx)) }()
		return s.store(lease.Bind(held), lease.Token())
	})
}

// The cleanup after a loss has its own context.
func (s *service) detached(ctx context.Context, mutex *locks.InterProcessMutex) error {
	cleanUp := context.WithoutCancel(ctx)
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		err := s.store(ctx, lease.Token())
		return errors.Join(err, s.client.Delete().ForPath(cleanUp, "/orders/1"))
	})
}

func (s *service) derivedInside(r *http.Request, selector *leader.LeaderSelector) error {
	return selector.Run(r.Context(), func(ctx context.Context, lease *locks.Lease) error {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		own := r.WithContext(short)
		return s.store(own.Context(), lease.Token())
	})
}

// The outer context is used, but not in the function.
func (s *service) outside(ctx context.Context, mutex *locks.InterProcessMutex) error {
	err := locks.Do(ctx, mutex, func(held context.Context, lease *locks.Lease) error {
		return s.store(held, lease.Token())
	})
	return errors.Join(err, s.store(ctx, 0))
}

func (s *service) onPurpose(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error {
		return s.store(ctx, 0) //curatorvet:ignore outercontext the lock only makes room, the write checks a version
	})
}
