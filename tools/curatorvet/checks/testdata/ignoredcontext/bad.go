// Package ignoredcontext has functions that ignore the context that they get under a lease.
package ignoredcontext

import (
	"context"
	"database/sql"
	"net/http"
	"os/exec"
	"time"

	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

type service struct{ db *sql.DB }

func (s *service) sibling(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(_ context.Context, lease *locks.Lease) error { // want `the function of locks.Do ignores its context, and continues after the lock is lost: call ExecContext instead of Exec`
		_, err := s.db.Exec("update t set v = 1 where fence <= $1", lease.Token())
		return err
	})
}

func command(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.TryDo(ctx, mutex, func(context.Context, *locks.Lease) error { // want `the function of locks.TryDo ignores its context, .*: call CommandContext instead of Command`
		return exec.Command("backup").Run()
	})
}

func request(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error { // want `call http.NewRequestWithContext and Client.Do instead of Get`
		answer, err := http.Get("http://orders.example.com")
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
}

func (s *service) outOfNothing(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error { // want `pass ctx to s.store`
		return s.store(context.Background(), lease.Token())
	})
}

func (s *service) named(ctx context.Context, selector *leader.LeaderSelector) error {
	return selector.Run(ctx, s.lead)
}

func (s *service) lead(ctx context.Context, lease *locks.Lease) error { // want `the function of LeaderSelector.Run ignores its context, .*: check ctx.Err\(\) in the loop`
	for {
		println(lease.Token())
	}
}

func sleep(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error { // want `wait for a timer and ctx.Done\(\) instead of time.Sleep`
		time.Sleep(time.Minute)
		return nil
	})
}

func ownFunction(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error { // want `give storeAll a parameter for a context`
		return storeAll()
	})
}

func storeAll() error { return nil }

func (s *service) store(ctx context.Context, token int64) error {
	_, err := s.db.ExecContext(ctx, "update t set v = 1 where fence <= $1", token)
	return err
}

func noReason(ctx context.Context, mutex *locks.InterProcessMutex) error {
	// want +1 `a directive that silences ignoredcontext needs a reason after the name`
	//curatorvet:ignore ignoredcontext
	return locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error { // want `give storeAll a parameter for a context`
		return storeAll()
	})
}
