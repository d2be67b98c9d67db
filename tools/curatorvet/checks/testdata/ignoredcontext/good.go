package ignoredcontext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func (s *service) passed(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return s.store(ctx, lease.Token())
	})
}

// Nothing here can wait or fail.
func short(ctx context.Context, mutex *locks.InterProcessMutex) (n int, _ error) {
	return n, locks.Do(ctx, mutex, func(_ context.Context, lease *locks.Lease) error {
		n++
		fmt.Println("token", lease.Token())
		slog.Info("counted", "n", n)
		return nil
	})
}

// The function checks the lease, which shows the loss as the context does.
func (s *service) byLease(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(_ context.Context, lease *locks.Lease) error {
		return s.store(lease.Context(), lease.Token())
	})
}

func (s *service) polled(ctx context.Context, selector *leader.LeaderSelector) error {
	return selector.Run(ctx, func(_ context.Context, lease *locks.Lease) error {
		for lease.Err() == nil {
			time.Sleep(time.Second)
		}
		return nil
	})
}

// The function that gets the lease may check it.
func handedOn(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(_ context.Context, lease *locks.Lease) error {
		return work(lease)
	})
}

func work(lease *locks.Lease) error { return lease.Err() }

// The call cannot be stopped, but the other side checks the token.
func fenced(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(_ context.Context, lease *locks.Lease) error {
		return storeFenced(lease.Token())
	})
}

func storeFenced(token int64) error { return errors.New(fmt.Sprint(token)) }

func onPurpose(ctx context.Context, mutex *locks.InterProcessMutex) error {
	//curatorvet:ignore ignoredcontext storeAll may be done twice, and must not stop in the middle
	return locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error {
		return storeAll()
	})
}
