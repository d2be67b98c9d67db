package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/tools/curatortest"
)

func TestNoMoreThanTheLeases(t *testing.T) {
	const processes, tasks, leases = 3, 8, 4
	server := curatortest.Start(t)

	var mu sync.Mutex
	running, most, done := 0, 0, 0
	all := make(chan struct{}) // closed when as many run as may
	var g errgroup.Group
	for p := range processes {
		client := server.Client(t)
		names := make([]string, tasks)
		for i := range names {
			names[i] = fmt.Sprintf("%d-%d", p, i)
		}
		g.Go(func() error {
			return work(t.Context(), client, leases, names, func(ctx context.Context, _ string) error {
				mu.Lock()
				running++
				if running > most {
					most = running
					if most == leases {
						close(all)
					}
				}
				mu.Unlock()
				<-all // nobody leaves before
				mu.Lock()
				defer mu.Unlock()
				running--
				done++
				return ctx.Err()
			})
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if most != leases || done != processes*tasks {
		t.Errorf("%d at the same time, want %d; %d done, want %d", most, leases, done, processes*tasks)
	}
}

func TestFirstErrorEndsTheOthers(t *testing.T) {
	server := curatortest.Start(t)
	broken := errors.New("broken")
	err := work(t.Context(), server.Client(t), 2, []string{"bad", "good"}, func(ctx context.Context, task string) error {
		if task == "bad" {
			return broken
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
