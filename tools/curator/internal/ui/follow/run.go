package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

// Times of a Follower.
const (
	maxLag       = 50 * time.Millisecond  // the maximum lag of the cache during continuous changes
	frameGap     = 150 * time.Millisecond // the minimum time between two frames
	tick         = 500 * time.Millisecond // the maximum time between two checks for changes, because some come with time
	askGap       = 2 * time.Second        // the pause between two requests for the servers' state
	askTimeout   = 1500 * time.Millisecond
	restartPause = 2 * time.Second // the pause after the tree could not be read
	closeTimeout = 2 * time.Second
)

// Run follows the tree until ctx ends. It joins all its goroutines.
func (f *Follower) Run(ctx context.Context) {
	stop := f.cfg.Client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) { f.onState(now) })
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { f.publish(ctx) })
	wg.Go(func() { f.ask(ctx) })
	f.follow(ctx)
	wg.Wait()
}

// publish publishes a frame after each change.
func (f *Follower) publish(ctx context.Context) {
	timer := time.NewTicker(tick)
	defer timer.Stop()
	for {
		select {
		case <-f.dirty:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		f.frame()
		if err := wait.For(ctx, frameGap); err != nil {
			return
		}
	}
}

// follow reads the tree and follows it, and starts again after an error.
func (f *Follower) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := f.read(ctx); err != nil {
			f.mu.Lock()
			f.why = explain(f.cfg.Root, err)
			f.mu.Unlock()
			f.dirty.Set()
		}
		_ = wait.For(ctx, restartPause) // ctx ends the loop
	}
}

// explain returns a sentence that says why the tree cannot be read.
func explain(root string, err error) string {
	switch {
	case errors.Is(err, framework.ErrNoAuth):
		return fmt.Sprintf("The node %s may not be read with these credentials.", root)
	case errors.Is(err, framework.ErrTooLarge):
		return fmt.Sprintf("A node has more children than a reply can carry: %v", err)
	}
	return err.Error()
}

// read reads the tree and follows it until ctx ends.
func (f *Follower) read(ctx context.Context) error {
	tree, err := cache.NewCuratorCache(f.cfg.Client, f.cfg.Root, cache.WithoutData(), cache.WithMaxLag(maxLag))
	if err != nil {
		return err
	}
	view, err := cache.NewTyped(tree, func(node cache.ChildData) (model.Facts, error) { return model.Read(node.Data), nil })
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = tree.Close(ctx) // it fails only if listeners have not returned, and there are none
	}()
	if err := tree.Start(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	f.cache, f.view = tree, view
	f.mu.Unlock()
	for events := range view.Updates(ctx) {
		f.apply(events)
	}
	return ctx.Err()
}

// ask asks the servers for their state, at first once, and then while there are subscribers.
func (f *Follower) ask(ctx context.Context) {
	for ctx.Err() == nil {
		if len(f.cfg.Servers) > 0 && (f.frames.subscribers() > 0 || f.knows() == nil) {
			f.askOnce(ctx)
		}
		_ = wait.For(ctx, askGap) // ctx ends the loop
	}
}

func (f *Follower) knows() *Ensemble {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ensemble
}

func (f *Follower) askOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var figures []health.Figures
	var wg sync.WaitGroup
	wg.Go(func() { figures = health.AskFigures(ctx, f.cfg.Dial, f.cfg.Servers) })
	servers := health.Ask(ctx, f.cfg.Dial, f.cfg.Servers, f.cfg.Admin)
	wg.Wait()
	f.mu.Lock()
	f.ensemble = &Ensemble{
		Asked: time.Now().UnixMilli(), Healthy: health.Healthy(servers), Problems: health.Problems(servers),
		Servers: servers, Figures: figures,
	}
	f.asked = true
	f.mu.Unlock()
	f.dirty.Set()
}
