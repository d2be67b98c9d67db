package discovery

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/nodes"
)

// watch takes over what others write into the node of an instance from now on.
func (all *registrations[T]) watch(ctx context.Context, r *registration[T]) error {
	path := r.node.ActualPath()
	c, err := cache.NewNodeCache(all.places.client, path)
	if err != nil {
		return err
	}
	c.Listenable().Add(func(ctx context.Context, event cache.Event) {
		if event.Type == cache.NodeCreated || event.Type == cache.NodeChanged {
			all.onWritten(ctx, r, path, event.New.Data)
		}
	})
	if err := c.Start(ctx); err != nil {
		return err
	}
	if err := all.set(func() { r.watch = c }); err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	return nil
}

// onWritten checks whether others have written the data of a node. It is also called for our own
// writes, and later than they were made. So it waits until no operation on the instance runs,
// because the data that the node should have is not known before.
func (all *registrations[T]) onWritten(ctx context.Context, r *registration[T], path string, data []byte) {
	if err := r.lock(ctx); err != nil {
		return // the watch is being closed
	}
	defer r.unlock()
	if r.state != kept || bytes.Equal(data, r.want.data) && !r.pending {
		return
	}
	var stat framework.Stat
	data, err := all.places.client.GetData().StoringStatIn(&stat).ForPath(ctx, path)
	switch {
	case err != nil:
		return // there is another event when the node is made again, or after a reconnect
	case stat.EphemeralOwner != 0 && stat.EphemeralOwner != all.places.client.SessionID():
		return // another process has taken the instance over: its node, not what this one wants
	case bytes.Equal(data, r.want.data):
		_ = all.set(func() { r.pending = false })
		return
	case r.pending: // it has what was there before
		return
	}
	instance, err := all.places.decode(data)
	former := &r.want.instance
	if err != nil || instance.Name != former.Name || instance.ID != former.ID || instance.Type != former.Type {
		all.places.leaveOut(path, errors.Join(err, errForeignData))
		return
	}
	want := r.want
	want.instance, want.data = instance, data
	if err := r.node.SetData(ctx, data); err == nil || errors.Is(err, nodes.ErrPending) {
		_ = all.set(func() { r.want = want })
	}
}
