package cache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

var _ framework.Component = (*CuratorCache)(nil)

// Start sets the watch and reads all nodes: when it returns nil the cache is loaded. ctx bounds
// the load. See framework.Component. With WithStartInBackground it does not wait; the cache is
// empty until it is loaded.
//
// A missing node is no error. Unreadable nodes below it are no error either. After an error
// nothing was started. Errors: framework.ErrNoAuth if the node itself may not be read;
// framework.ErrTooLarge, with its path, if a node has more children than one reply can carry,
// see framework.WithMaxReply; framework.ErrConnectionLoss when the client's retry policy has
// given up; framework.ErrAlreadyStarted, framework.ErrClosed, framework.ErrNotStarted for a
// client that is not started; ctx's. An error of a read has the path in an *framework.OpError.
//
// Java: start, and the event initialized.
func (c *CuratorCache) Start(ctx context.Context) error {
	if c == nil || c.client == nil {
		return fmt.Errorf("cache: %w", framework.ErrNotStarted)
	}
	if err := c.life.Start(ctx, c.load, c.follow); err != nil {
		return fmt.Errorf("cache of %s: %w", c.paths.root, err)
	}
	return nil
}

// load reads all nodes, on the goroutine of Start.
func (c *CuratorCache) load(ctx context.Context) (err error) {
	c.fix(true)
	ctx, end := c.telemetry.Load(ctx)
	err = zkclient.ErrPanicked // as long as nothing else is known
	defer func() {
		if err != nil {
			c.unload()
		}
		end(c.Snapshot().Len(), err)
	}()
	r := newReplica(&c.cfg, c.client, c.paths, output{show: c.show, stale: c.setStale, asked: c.takeAsked, heard: c.heard})
	if err = r.begin(ctx); err != nil {
		return err
	}
	c.replica, c.unmeasure = r, c.telemetry.Follow()
	wake := r.box.Wake
	c.wake.Store(&wake)
	return nil
}

// unload undoes a load that failed. If a decoder has panicked, views have a part of its nodes.
func (c *CuratorCache) unload() {
	for _, view := range c.views { // nobody adds one
		view.reset()
	}
	c.fix(c.cfg.background) // another try follows, whose views are these
	c.stale.Store(nil)
}

// prepare is what a Start in the background does before it returns.
func (c *CuratorCache) prepare(context.Context) error {
	c.fix(true)
	return nil
}

// fix sets whether views are refused from now on.
func (c *CuratorCache) fix(fixed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fixed = fixed
}

// follow is the cache's goroutine.
func (c *CuratorCache) follow(ctx context.Context) {
	_ = c.replica.run(ctx, func() bool { return false }) // the end of ctx is not an error
}

// Close removes the watch, ends Updates and the listeners, and joins every goroutine; the
// contents stay, and are Stale. It is idempotent, allowed before Start, and works with an ended
// ctx: it then waits for a second at most. Its error says that listeners are still running.
//
// Java: close, with DO_NOT_CLEAR_ON_CLOSE.
func (c *CuratorCache) Close(ctx context.Context) error {
	if c == nil || c.client == nil {
		return nil
	}
	err := c.life.Close(ctx, c.end)
	if ctx != nil {
		cleanUp, cancel := lifecycle.CleanUp(ctx)
		defer cancel()
		err = errors.Join(err, c.listeners.Close(cleanUp))
	}
	if err != nil {
		return fmt.Errorf("cache of %s: %w", c.paths.root, err)
	}
	return nil
}

// end undoes what load has done. The goroutine has ended.
func (c *CuratorCache) end(ctx context.Context) error {
	if c.replica != nil { // else a Start in the background has not succeeded
		c.unmeasure()
		c.replica.end(ctx)
	}
	if c.stale.Load() == nil {
		c.setStale(time.Now())
	}
	return nil
}

func (c *CuratorCache) setStale(since time.Time) {
	if since.IsZero() {
		c.stale.Store(nil)
	} else {
		c.stale.Store(&since)
	}
}
