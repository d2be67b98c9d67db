package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// Watches starts operations on watches.
//
// Java: watchers.
func (c *Client) Watches() *Watches { return &Watches{c} }

// Watches has the operations on watches; see Client.Watches.
type Watches struct{ c *Client }

// watchScope returns the scope of the watches of a client.
func (c *Client) watchScope() watchScope {
	return watchScope{hub: c.core.watches, view: c.watches, prefix: c.inside().Root()}
}

func (p addParams) do(ctx context.Context, c *Client, path string, watcher *Watcher) error {
	full, err := c.inside().ServerPath(path)
	kind := kindRecursive
	switch {
	case err != nil:
	case watcher == nil:
		err = fmt.Errorf("%w: the watcher is nil", ErrInvalidBuilder)
	case p.mode == PersistentWatch:
		kind = kindPersistent
	case p.mode != PersistentRecursive:
		err = fmt.Errorf("%w: WithMode: there is no mode %d", ErrInvalidBuilder, p.mode)
	}
	if err == nil {
		_, err = c.inside().Usable(ctx) // also for a watch that is set already
	}
	if err != nil {
		return &OpError{Op: "addWatch", Path: path, Err: err}
	}
	s := watcher.subscribe(c.watchScope(), full, watchKind(kind))
	if s == nil {
		return nil
	}
	err = c.inside().Run(ctx, zkclient.Operation{Name: "addWatch", Path: path, Repeat: true}, func(ctx context.Context, conn *zkconn.Conn) error {
		if err := conn.Subscribe(ctx, s.sub); err != nil {
			return zkclient.NotApplied(err)
		}
		s.settle(conn)
		return nil
	})
	if err != nil {
		s.unset()
	}
	return err
}

func (p removeParams) do(ctx context.Context, c *Client, path string, watcher *Watcher) error {
	full, err := c.inside().ServerPath(path)
	if err == nil && (p.kind < AnyWatcher || p.kind > ChildrenWatcher) {
		err = fmt.Errorf("%w: OfType: there is no type %d", ErrInvalidBuilder, p.kind)
	}
	var conn *zkconn.Conn
	if err == nil {
		conn, err = c.inside().Usable(ctx)
	}
	if err != nil {
		return &OpError{Op: "removeWatches", Path: path, Err: err}
	}
	watchers := []*Watcher{watcher}
	if watcher == nil {
		watchers = c.core.watches.set.watchers()
	}
	n := giveBack(conn, watchers, func(s *registration) bool {
		named := s.id.full == full || s.config && path == configNode
		return named && s.id.hub == c.core.watches && p.fits(s.id.kind)
	})
	if n == 0 && !p.quietly {
		return &OpError{Op: "removeWatches", Path: path, Err: ErrNoWatcher}
	}
	if n == 0 || p.locally {
		return nil
	}
	if err = c.confirm(ctx, "removeWatches", path); p.guaranteed {
		return nil // with the connection the server's watches go, too
	}
	return err
}

// fits tells whether watches of a kind are to be removed.
func (p *removeParams) fits(kind watchKind) bool {
	switch p.kind {
	case DataWatcher:
		return kind == kindData
	case ChildrenWatcher:
		return kind == kindChildren
	default:
		return true
	}
}

// giveBack gives the registrations that fit back, and returns how many there were. All are taken before
// the first is given back, because to give back one may cause events of the others.
func giveBack(conn *zkconn.Conn, watchers []*Watcher, fits func(s *registration) bool) int {
	var taken []*registration
	for _, w := range watchers {
		taken = append(taken, w.take(fits)...)
	}
	for _, s := range taken {
		s.giveBack(conn)
	}
	return len(taken)
}

// confirm waits until the server has done what was sent to it before.
func (c *Client) confirm(ctx context.Context, op, path string) error {
	return c.inside().Run(ctx, zkclient.Operation{Name: op, Path: path, Repeat: true}, func(ctx context.Context, conn *zkconn.Conn) error {
		return zkclient.NotApplied(conn.Do(ctx, 0, &zkconn.Call{
			Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: "/"}, Res: &jute.StatResponse{},
		}))
	})
}

// WatcherRemovingView returns a view that remembers the watches set through it, and through its
// own views, so they can be removed together.
//
// Java: newWatcherRemoveCuratorFramework.
func (c *Client) WatcherRemovingView() WatcherRemovingView {
	if c == nil {
		return WatcherRemovingView{}
	}
	return WatcherRemovingView{c.viewOf(c.namespace, &registry{})}
}

// WatcherRemovingView is a view that can remove all its watches together.
//
// Java: WatcherRemoveCuratorFramework.
type WatcherRemovingView struct{ *Client }

// RemoveWatchers removes every watch set through this view that has not fired. After it
// returns, the only event of these watches is their removal (DataWatchRemoved and the other
// removal events). An error says that the server did not confirm the removal; the server
// forgets the watches with the connection.
//
// Java: removeWatchers.
func (v WatcherRemovingView) RemoveWatchers(ctx context.Context) error {
	if v.Client == nil || v.core == nil {
		return &OpError{Op: "removeWatches", Err: zkclient.ErrNilClient}
	}
	conn, err := v.inside().Usable(ctx)
	switch {
	case errors.Is(err, ErrClosed):
		return nil // they have ended with the client
	case err != nil:
		return &OpError{Op: "removeWatches", Err: err}
	}
	n := giveBack(conn, v.watches.watchers(), func(s *registration) bool { return s.view == v.watches })
	if n == 0 {
		return nil
	}
	return v.confirm(ctx, "removeWatches", "")
}
