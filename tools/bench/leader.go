package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// latchLock is an election, as a lock: a latch is made and started by Acquire, which returns when
// it leads, and is closed by Release.
type latchLock struct {
	client *framework.Client
	path   string
}

func (l latchLock) Acquire(ctx context.Context) (lease, error) {
	started, err := startLatch(ctx, l.client, l.path)
	if err != nil {
		return nil, err
	}
	if _, err := started.Await(ctx); err != nil {
		return nil, errors.Join(err, started.Close(ctx))
	}
	return leading{started}, nil
}

func startLatch(ctx context.Context, client *framework.Client, path string) (*leader.LeaderLatch, error) {
	started, err := leader.NewLeaderLatch(client, path, leader.WithID("bench"))
	if err != nil {
		return nil, err
	}
	return started, started.Start(ctx)
}

// leading is a latch that leads.
type leading struct{ *leader.LeaderLatch }

func (l leading) Release(ctx context.Context) error { return l.Close(ctx) }

// succession is drain with leader latches.
func succession(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	return dissolved(ctx, l, latch, w, path)
}

// latchMemory starts many leader latches of one session, most of which wait, and measures what
// each takes of this process's memory. An operation is a Start.
func latchMemory(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	if l.name != results.Ours {
		return measure.Run{}, errUnsupported
	}
	sessions, err := l.connect(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	client := sessions[0].(*curatorSession).client
	latches := make([]*leader.LeaderLatch, w.waiters)
	latencies := make([]time.Duration, w.waiters)
	before := measure.Live()
	run, err := l.measured(func() (int, []time.Duration, error) {
		err := divided(len(latches), func(i int) (err error) {
			begin := time.Now()
			latches[i], err = startLatch(ctx, client, fmt.Sprintf("%s/%d", path, i/waitersEach))
			latencies[i] = time.Since(begin)
			return err
		})
		return len(latches), latencies, err
	})
	if err == nil {
		err = l.settled(ctx)
	}
	run.Memory = measure.Live().Each(before, len(latches))
	return run, errors.Join(err, l.writeHeapProfile(), divided(len(latches), func(i int) error {
		if latches[i] == nil {
			return nil
		}
		return latches[i].Close(ctx)
	}))
}

// settled returns when the peer sends nothing any more.
func (l *local) settled(ctx context.Context) error {
	ticker := time.NewTicker(quiet)
	defer ticker.Stop()
	for last := int64(-1); ; {
		sent := l.counter.Total().Sent
		if sent == last {
			return nil
		}
		last = sent
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
