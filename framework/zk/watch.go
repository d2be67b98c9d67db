package zk

import (
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// watch returns a watch of a node, to be set by a read.
func (c *Conn) watch(full string, kind zkconn.WatchKind) *watcher {
	w := &watcher{of: &c.watchers, ch: make(chan Event, 1)}
	w.InitKept(full, kind, w.fire)
	return w
}

// read sends a read with a watch.
func (c *Conn) read(w *watcher, name string, call *zkconn.Call) error {
	kind := zkconn.WatchData
	if call.Op == jute.OpGetChildren2 {
		kind = zkconn.WatchChildren
	}
	c.watchers.add(w)
	err := c.do(name, w.Path(), call, func() {
		w.InitKept(w.Path(), kind, w.fire)
	})
	if err != nil && !(call.Op == jute.OpExists && err == ErrNoNode) { //nolint:errorlint // the driver's own value
		c.watchers.remove(w)
	}
	return err
}

// The three calls that set watches do it in the same way: the watch outlives the connection, and is set again on the
// next one, where it gets the event of a change that it has missed. The channel gets one event of the node, or
// EventNotWatching with ErrSessionExpired or ErrClosing when the session or the Conn ends, and is closed then.

// GetW returns the data and Stat of a node, and a channel that gets the next change of its data, or its deletion.
func (c *Conn) GetW(path string) ([]byte, *Stat, <-chan Event, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, nil, err
	}
	w := c.watch(full, zkconn.WatchData)
	call := zkconn.GetData(full, &w.Watch)
	if err := c.read(w, "getData", call); err != nil {
		return nil, nil, nil, err
	}
	return call.Data(), (*Stat)(call.Stat()), w.ch, nil
}

// ExistsW tells whether a node exists, with its Stat, and returns a channel that gets its creation, the next change of its
// data, or its deletion. The Stat of a node that is missing is not nil.
func (c *Conn) ExistsW(path string) (bool, *Stat, <-chan Event, error) {
	full, err := c.path(path, false)
	if err != nil {
		return false, nil, nil, err
	}
	w := c.watch(full, zkconn.WatchData)
	call := zkconn.Exists(full, &w.Watch)
	switch err := c.read(w, "exists", call); err {
	case nil:
		return true, (*Stat)(call.Stat()), w.ch, nil
	case ErrNoNode: //nolint:errorlint // the driver's own value
		return false, &Stat{}, w.ch, nil
	default:
		return false, nil, nil, err
	}
}

// ChildrenW returns the names of a node's children, and a channel that gets the next change of these, or the deletion
// of the node.
func (c *Conn) ChildrenW(path string) ([]string, *Stat, <-chan Event, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, nil, err
	}
	w := c.watch(full, zkconn.WatchChildren)
	call := zkconn.List(full, &w.Watch)
	if err := c.read(w, "getChildren2", call); err != nil {
		return nil, nil, nil, err
	}
	return call.Names(), (*Stat)(call.Stat()), w.ch, nil
}
