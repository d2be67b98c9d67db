// Package outercontext has contexts from outside in functions that run under a lease.
package outercontext

import (
	"context"
	"database/sql"
	"net/http"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

type service struct {
	ctx    context.Context
	db     *sql.DB
	client *framework.Client
}

func (s *service) otherName(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(held context.Context, lease *locks.Lease) error {
		_, err := s.db.ExecContext(ctx, "update t", lease.Token()) // want `ctx is from outside of the function of locks.Do: it does not end with the lease, and does not re-enter; pass held, the function's own context`
		return err
	})
}

func (s *service) noName(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.TryDo(ctx, mutex, func(context.Context, *locks.Lease) error {
		return s.client.Delete().ForPath(ctx, "/orders/1") // want `ctx is from outside of the function of locks.TryDo: .*; give the function's own context a name and pass it`
	})
}

func (s *service) field(mutex *locks.InterProcessMutex) error {
	return locks.Do(s.ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return s.store(s.ctx, lease.Token()) // want `s.ctx is from outside`
	})
}

func (s *service) ofRequest(r *http.Request, mutex *locks.InterProcessMutex) error {
	return locks.Do(r.Context(), mutex, func(ctx context.Context, lease *locks.Lease) error {
		return s.store(r.Context(), lease.Token()) // want `r.Context\(\) is from outside`
	})
}

func (s *service) derived(ctx context.Context, selector *leader.LeaderSelector) error {
	return selector.Run(ctx, func(term context.Context, lease *locks.Lease) error {
		short, cancel := context.WithTimeout(ctx, time.Second) // want `ctx is from outside of the function of LeaderSelector.Run`
		defer cancel()
		return s.store(short, lease.Token())
	})
}

func (s *service) nested(ctx context.Context, orders, stock *locks.InterProcessMutex) error {
	return locks.Do(ctx, orders, func(first context.Context, _ *locks.Lease) error {
		return locks.Do(first, stock, func(second context.Context, lease *locks.Lease) error {
			return s.store(first, lease.Token()) // want `first is from outside of the function of locks.Do: .* pass second`
		})
	})
}

func (s *service) waitsForItself(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(held context.Context, _ *locks.Lease) error {
		lease, err := mutex.Acquire(ctx) // want `ctx is from outside`
		if err != nil {
			return err
		}
		return lease.Release(held)
	})
}

func (s *service) inGoroutine(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(held context.Context, lease *locks.Lease) error {
		stored := make(chan error)
		go func() { stored <- s.store(ctx, lease.Token()) }() // want `ctx is from outside`
		select {
		case err := <-stored:
			return err
		case <-held.Done():
			return context.Cause(held)
		}
	})
}

func (s *service) store(ctx context.Context, token int64) error {
	_, err := s.db.ExecContext(ctx, "update t", token)
	return err
}
