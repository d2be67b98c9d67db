package nemesis

import (
	"context"

	"github.com/go-curator/curator/internal/verify/chaos/fleet"
	"github.com/go-curator/curator/internal/wait"
)

func workerStopped(ctx context.Context, a *attack) bool  { return a.stop(ctx, a.Workers) }
func foreignStopped(ctx context.Context, a *attack) bool { return a.stop(ctx, a.Foreign) }
func workerKilled(ctx context.Context, a *attack) bool   { return a.kill(ctx, a.Workers) }
func foreignKilled(ctx context.Context, a *attack) bool  { return a.kill(ctx, a.Foreign) }

// stop has a worker stand still, half of the time for longer than its session.
func (a *attack) stop(ctx context.Context, workers []*fleet.Member) (made bool) {
	if len(workers) == 0 {
		return false
	}
	m := some(a.random, workers)
	m.Use(func() {
		a.begin("%s", m.Name())
		made = m.Stop() == nil
		if a.random.IntN(2) == 0 {
			a.last(ctx, a.Session*5/4, a.Session*2)
		} else {
			a.last(ctx, 0, a.Session)
		}
		made = m.Continue() == nil && made
	})
	return made
}

// kill ends a worker, and starts another one in its place.
func (a *attack) kill(ctx context.Context, workers []*fleet.Member) (made bool) {
	if len(workers) == 0 {
		return false
	}
	m := some(a.random, workers)
	m.Use(func() {
		a.begin("%s", m.Name())
		m.Kill()
		_ = wait.For(ctx, a.Session/8) // then it is started at once
		a.last(ctx, 0, 0)
		if err := m.Start(); err != nil {
			panic(Broken{err.Error()})
		}
		made = true
	})
	return made
}
