package discovery

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
)

// sweepPause is the time between two tries to remove what a lost create may have left.
const sweepPause = time.Second

// sweep removes, in the background, the node that a sequential create may have made whose answer
// was lost. Nobody knows its name. It goes with its session otherwise. done is closed when it is gone.
func (all *registrations[T]) sweep(want wanted[T]) (done <-chan struct{}) {
	session, gone := all.places.client.SessionID(), make(chan struct{})
	if !all.places.api.Go(func(ctx context.Context) {
		defer close(gone)
		for all.places.client.SessionID() == session {
			switch err := all.sweepOnce(ctx, want, session); {
			case err == nil, errors.Is(err, framework.ErrClosed):
				return
			case errors.Is(err, framework.ErrNoAuth), errors.Is(err, framework.ErrTooLarge):
				all.unreadable(want.path, err)
				return
			}
			if wait.For(ctx, sweepPause) != nil {
				return
			}
		}
	}) {
		close(gone)
	}
	return gone
}

func (all *registrations[T]) sweepOnce(ctx context.Context, want wanted[T], session int64) error {
	client := all.places.client
	dir, id := paths.ParentAndNode(want.path)
	// A server without a quorum, which may not know the node yet, is not asked.
	bound := zkclient.OnSession(ctx, session)
	names, err := client.GetChildren().ForPath(bound, dir)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		path := paths.Make(dir, name)
		if !layout.IsNumbered(name, id) || all.keeps(path) {
			continue
		}
		var stat framework.Stat
		data, err := client.GetData().StoringStatIn(&stat).ForPath(bound, path)
		switch {
		case errors.Is(err, framework.ErrNoNode):
			continue
		case errors.Is(err, framework.ErrNoAuth), errors.Is(err, framework.ErrTooLarge):
			all.unreadable(path, err)
			continue
		case err != nil:
			return err
		case stat.EphemeralOwner != session || !bytes.Equal(data, want.data):
			continue
		}
		if err := client.Delete().ForPath(ctx, path); err != nil && !errors.Is(err, framework.ErrNoNode) {
			return err
		}
	}
	return nil
}

// unreadable tells that what is at a path is left alone because it cannot be read, or not be deleted.
// Whether it is what is looked for cannot be seen. If it is, it goes with its session.
func (all *registrations[T]) unreadable(path string, err error) {
	all.places.api.Log(func() {
		all.places.client.Logger().Warn("discovery: a node is left alone while one is looked for that a lost create may have left", "path", path, "error", err)
	})
}

// keeps reports whether a node is one that is registered.
func (all *registrations[T]) keeps(path string) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.entries {
		if r.node != nil && r.node.ActualPath() == path {
			return true
		}
	}
	return false
}
