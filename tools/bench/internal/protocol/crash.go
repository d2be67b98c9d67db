package protocol

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// Outlive lets p wait for a lock that another process of the same program holds, kills that process,
// and returns the time until p had the lock. cmd may have been started before. timeout is the session
// timeout of the holder.
func (p *Peer) Outlive(ctx context.Context, cmd *exec.Cmd, path string, timeout time.Duration) (time.Duration, error) {
	another := exec.Command(cmd.Path, cmd.Args[1:]...)
	another.Env, another.Dir = cmd.Env, cmd.Dir
	holder, err := Start(ctx, another)
	if err != nil {
		return 0, fmt.Errorf("the holder: %w", err)
	}
	defer holder.Kill()
	if _, err := holder.Run(ctx, Request{Workload: Hold, Path: path, TimeoutMS: timeout.Milliseconds()}); err != nil {
		return 0, fmt.Errorf("the holder: %w", err)
	}
	waiting, answered := context.WithCancel(ctx)
	defer answered()
	var wg sync.WaitGroup
	var granted time.Time
	var waitErr error
	wg.Go(func() {
		defer answered() // ends the wait for the waiter in the queue
		var result Result
		result, waitErr = p.Run(ctx, Request{Workload: Wait, Path: path})
		granted = time.Now().Add(-time.Duration(result.ElapsedNS))
	})
	_, err = holder.Run(waiting, Request{Workload: Queued, Path: path})
	killed := time.Now()
	holder.Kill()
	wg.Wait()
	switch {
	case waitErr != nil:
		return 0, fmt.Errorf("the waiter: %w", waitErr)
	case granted.Before(killed):
		return 0, errors.New("the lock was granted while it was held")
	case err != nil:
		return 0, fmt.Errorf("the holder: %w", err)
	}
	return granted.Sub(killed), nil
}
