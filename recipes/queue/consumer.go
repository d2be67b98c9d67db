package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// consumer is one Consume.
type consumer struct {
	worker
	failing atomic.Bool // a request of the consumer failed, which was logged
}

// consume runs until ctx ends or an error is final.
func (q *core) consume(ctx context.Context, p prepare) error {
	c := &consumer{worker: worker{q: q, prepare: p}}
	c.list = newListing(q.kind, q.full, q.locks, func(name string) {
		q.warn("a node that is no item is skipped", "node", q.itemPath(name))
	})
	if err := c.run(ctx); err != nil && ctx.Err() == nil {
		return q.failed(err)
	}
	return nil
}

// run watches the queue and hands out its items.
func (c *consumer) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.q.cfg.concurrency)
	defer func() { // also if the user's retry policy panics
		cancel() // the functions that run end when no more items can be handed out
		if failed := group.Wait(); failed != nil {
			err = failed
		}
	}()
	return c.watch(ctx, c.q.path, c.q.full, c.list.onItem, func(ctx context.Context) error {
		if c.q.locks == "" {
			return c.handOut(ctx, group)
		}
		return c.watch(ctx, c.q.cfg.lockPath, c.q.locks, c.list.onLock, func(ctx context.Context) error { return c.handOut(ctx, group) })
	})
}

// watch calls fn while everything at and below a path is watched. full is the server's name of it.
func (c *consumer) watch(ctx context.Context, path, full string, on func(zkconn.WatchEvent), fn func(ctx context.Context) error) error {
	w := watched{api: c.q.api, path: path, full: full, recursive: true, on: on}
	stop, err := w.begin(ctx, c.persist)
	if err != nil {
		return err
	}
	defer stop()
	return fn(ctx)
}

// persist tries a request about a path until it succeeds, ctx ends, or its error is final.
func (c *consumer) persist(ctx context.Context, op, path string, fn zkclient.Try) error {
	for {
		if err := c.ready(ctx); err != nil {
			return err
		}
		err := c.q.api.Retry(ctx, op, path, fn)
		c.report(err)
		if err == nil || ctx.Err() != nil || !framework.Retryable(err) {
			return err
		}
		if err := c.pause(ctx, longestPause); err != nil { // an event, or the client's Close, ends it
			return err
		}
	}
}

// ready waits for a connection.
func (c *consumer) ready(ctx context.Context) error {
	conn, err := c.q.api.Conn()
	if err != nil {
		return err
	}
	return conn.Ready(ctx)
}

// report logs when requests begin to fail, and when they succeed again.
func (c *consumer) report(err error) {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, framework.ErrClosed), errors.Is(err, framework.ErrUnimplemented):
	case err != nil && !c.failing.Swap(true):
		c.q.warn("consuming fails, and is tried again", "error", err)
	case err == nil && c.failing.Swap(false):
		c.q.warn("consuming goes on")
	}
}

// handOut starts a function for every item, until ctx ends.
func (c *consumer) handOut(ctx context.Context, group *errgroup.Group) error {
	for {
		if err := c.ready(ctx); err != nil {
			return err
		}
		switch stale, closed := c.list.status(); {
		case closed:
			return framework.ErrClosed
		case stale:
			if err := c.load(ctx); err != nil {
				return err
			}
			continue
		}
		if ok, in := c.list.ready(time.Now()); !ok {
			if err := c.pause(ctx, in); err != nil {
				return err
			}
			continue
		}
		c.start(ctx, group)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// pause waits until the list has changed, or for d if that is not negative.
func (c *consumer) pause(ctx context.Context, d time.Duration) error {
	var timer <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-c.list.wake:
	case <-timer:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// start waits for one of the limited functions to end, and then hands out the item that goes
// first by then.
func (c *consumer) start(ctx context.Context, group *errgroup.Group) {
	chosen := make(chan struct{})
	group.Go(func() error {
		i := c.list.next(time.Now())
		close(chosen)
		if i != nil && ctx.Err() == nil {
			return c.process(ctx, i)
		}
		return nil
	})
	<-chosen
}

// process takes an item and has it consumed. It returns an error that ends Consume.
func (c *consumer) process(ctx context.Context, i *item) error {
	err := c.work(ctx, i)
	if err != nil && ctx.Err() != nil {
		return nil //nolint:nilerr // the end of ctx ends Consume without an error
	}
	if refused, ok := errors.AsType[*unreadableError](err); ok {
		if c.list.unreadable(i, time.Now()) {
			c.q.warn("an item cannot be read and is skipped; it is tried again", "item", c.q.itemPath(i.name), "error", refused.err)
		}
		return nil
	}
	if ctx.Err() == nil { // else nothing goes on
		c.report(err)
	}
	for _, final := range []error{framework.ErrClosed, framework.ErrNoAuth, framework.ErrAuthFailed} {
		if errors.Is(err, final) {
			return err
		}
	}
	return nil
}

// load reads the lists. Its error names the node whose list was refused.
func (c *consumer) load(ctx context.Context) error {
	err := c.persist(ctx, "getChildren", c.q.path, c.list.read)
	if refused, ok := errors.AsType[*listError](err); ok && !framework.Retryable(err) && !framework.Retryable(refused.err) {
		return &framework.OpError{Op: "getChildren", Path: c.q.api.ClientPath(refused.dir), Attempts: 1, Err: refused.err}
	}
	return err
}
