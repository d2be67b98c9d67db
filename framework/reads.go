package framework

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// read runs a read that may set a watch.
func (c *Client) read(ctx context.Context, name, path string, op jute.Op, kind zkconn.WatchKind, watcher *Watcher, res jute.Record) error {
	if c == nil || c.core == nil {
		return &OpError{Op: name, Path: path, Err: ErrNotStarted}
	}
	full, err := c.fix(path, false)
	if err != nil {
		return &OpError{Op: name, Path: path, Err: err}
	}
	return c.run(ctx, operation{name: name, path: path, repeat: true}, func(ctx context.Context, conn *zkconn.Conn) error {
		call := &zkconn.Call{Op: op, Req: &jute.PathWatchRequest{Path: full, Watch: watcher != nil}, Res: res}
		unset := func() {}
		if watcher != nil {
			call.Watch, unset = watcher.watch(c, full, kind)
		}
		err := conn.Do(ctx, 0, call)
		if err == nil {
			err = call.Err
		}
		if err != nil && !(op == jute.OpExists && errors.Is(err, ErrNoNode)) {
			unset()
		}
		return harmless(err)
	})
}

func storeStat(to *Stat, stat jute.Stat) {
	if to != nil {
		*to = newStat(stat)
	}
}

func (p checkExistsParams) do(ctx context.Context, c *Client, path string) (bool, error) {
	var res jute.StatResponse
	err := c.read(ctx, "exists", path, jute.OpExists, zkconn.WatchData, p.watcher, &res)
	if errors.Is(err, ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	storeStat(p.stat, res.Stat)
	return true, nil
}

func (p getDataParams) do(ctx context.Context, c *Client, path string) ([]byte, error) {
	var res jute.GetDataResponse
	if err := c.read(ctx, "getData", path, jute.OpGetData, zkconn.WatchData, p.watcher, &res); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	return res.Data, nil
}

func (p getChildrenParams) do(ctx context.Context, c *Client, path string) ([]string, error) {
	var res jute.GetChildren2Response
	if err := c.read(ctx, "getChildren", path, jute.OpGetChildren2, zkconn.WatchChildren, p.watcher, &res); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	return res.Children, nil
}
