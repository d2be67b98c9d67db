package cache

import (
	"context"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// awaitPause is how often the server is asked again for a zxid that it has not reached.
const awaitPause = 200 * time.Millisecond

// Await waits until the cache has every change up to zxid, such as the Mzxid of a Stat that a
// write returned, or that another process has sent. After a write without a Stat, such as Delete,
// framework.Client.LastZxid has a zxid to wait for. It does not wait for changes of nodes that the
// cache cannot read, see NodeUnreadable. Errors: ctx's, framework.ErrClosed,
// framework.ErrNotStarted. Only zxids of one ensemble can be compared, and only as long as its
// servers do not lose their data: when they have, Await waits for the new data, with a zxid from
// before in most cases until ctx ends, as for each zxid that the servers do not reach.
//
// Java: none.
func (c *CuratorCache) Await(ctx context.Context, zxid int64) error {
	if c.current() == nil {
		return fmt.Errorf("cache: %w", framework.ErrNotStarted)
	}
	if ctx == nil {
		return fmt.Errorf("cache of %s: %w: the context is nil", c.paths.root, framework.ErrInvalidOption)
	}
	if err := c.await(ctx, zxid); err != nil {
		return fmt.Errorf("cache of %s: waiting for zxid 0x%x: %w", c.paths.root, uint64(zxid), err)
	}
	return nil
}

func (c *CuratorCache) await(ctx context.Context, zxid int64) error {
	if err := c.life.Started(); err != nil {
		return err
	}
	again := time.NewTicker(awaitPause)
	defer again.Stop()
	for {
		now := c.state.Load()
		conn, err := c.inside.Conn()
		if now.Zxid() >= zxid && (err != nil || now.epoch == conn.Epoch()) {
			return nil
		}
		if err != nil {
			return err
		}
		c.ask(zxid)
		select {
		case <-now.next:
		case <-again.C:
		case <-c.life.Done():
			return framework.ErrClosed
		case <-ctx.Done():
			return zkclient.ContextError(ctx)
		}
	}
}

// ask has the replica find out what the server has, up to zxid.
func (c *CuratorCache) ask(zxid int64) {
	for {
		asked := c.asked.Load()
		if asked >= zxid || c.asked.CompareAndSwap(asked, zxid) {
			break
		}
	}
	if wake := c.wake.Load(); wake != nil { // else the cache is being loaded
		(*wake)()
	}
}

// takeAsked returns what was asked for since the last call.
func (c *CuratorCache) takeAsked() int64 { return c.asked.Swap(0) }
