package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

const path = "/jobs/report"

func TestOnceADay(t *testing.T) {
	server := curatortest.Start(t)
	for _, day := range []string{"2026-02-27", "2026-02-28", "2026-03-01"} {
		var done atomic.Int32
		var g errgroup.Group
		for range 4 {
			client := server.Client(t)
			g.Go(func() error {
				_, err := once(t.Context(), client, path, day, func(context.Context) error {
					done.Add(1)
					return nil
				})
				return err
			})
		}
		if err := g.Wait(); err != nil || done.Load() != 1 {
			t.Errorf("%s: done %d times: %v", day, done.Load(), err)
		}
	}
	// A process whose clock is behind does not do yesterday's again.
	ran, err := once(t.Context(), server.Client(t), path, "2026-02-28", func(context.Context) error { return nil })
	if ran || err != nil {
		t.Errorf("ran for a day that is over: %t, %v", ran, err)
	}
}

func TestFailedJobIsDoneAgain(t *testing.T) {
	server := curatortest.Start(t)
	client := server.Client(t)
	failed := errors.New("no paper")
	if ran, err := once(t.Context(), client, path, "2026-03-01", func(context.Context) error { return failed }); ran || !errors.Is(err, failed) {
		t.Errorf("a job that failed: %t, %v", ran, err)
	}
	if ran, err := once(t.Context(), client, path, "2026-03-01", func(context.Context) error { return nil }); !ran || err != nil {
		t.Errorf("the next try: %t, %v", ran, err)
	}
}

// A process that has lost the lock while it worked does not record the day.
func TestLostLockIsNotRecorded(t *testing.T) {
	server := curatortest.Start(t)
	client := server.Client(t)
	ran, err := once(t.Context(), client, path, "2026-03-01", func(context.Context) error {
		server.ExpireSession(client.SessionID())
		return nil // the job has not noticed
	})
	if ran || !errors.Is(err, locks.ErrLockLost) {
		t.Errorf("after the loss: %t, %v", ran, err)
	}
	if data, ok := server.Get(path + "/last"); !ok || len(data) > 0 {
		t.Errorf("recorded: %q, %t", data, ok)
	}
}
