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

// read sends the read of a node with a watch. A missing node is an answer to exists, with ErrNoNode.
func (c *Conn) read(full string, kind zkconn.WatchKind, name string, of func(string, *zkconn.Watch) *zkconn.Call) (
	w *watcher, call *zkconn.Call, err error,
) {
	begin := func() *zkconn.Call {
		if w != nil {
			c.watchers.remove(w)
		}
		w = c.watch(full, kind)
		c.watchers.add(w)
		call = of(full, &w.Watch)
		return call
	}
	if err = c.do(name, full, begin(), begin); err != nil && (call.Op != jute.OpExists || err != ErrNoNode) {
		c.watchers.remove(w)
	}
	return w, call, err
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
	w, call, err := c.read(full, zkconn.WatchData, "getData", zkconn.GetData)
	if err != nil {
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
	w, call, err := c.read(full, zkconn.WatchData, "exists", zkconn.Exists)
	switch err {
	case nil:
		return true, (*Stat)(call.Stat()), w.ch, nil
	case ErrNoNode:
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
	w, call, err := c.read(full, zkconn.WatchChildren, "getChildren2", zkconn.List)
	if err != nil {
		return nil, nil, nil, err
	}
	return namesOf(call), (*Stat)(call.Stat()), w.ch, nil
}
