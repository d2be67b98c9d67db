package tree

import (
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// watchMode tells how long a watch lasts and what it sees.
type watchMode int

const (
	oneShot      watchMode = iota // one event of its own node
	lasting                       // every event of its own node
	lastingBelow                  // every event of its node and of all below, but no NodeChildrenChanged
)

// watchTable has the watches of one sort: on data, or on children. As in ZooKeeper 3.8 a
// connection has one watch at most on a path in each table, and the mode it was last set
// with: a one-shot watch replaces a persistent one.
type watchTable struct {
	byPath   map[string]map[*Client]watchMode
	byClient map[*Client]map[string]struct{}
}

func newWatchTable() watchTable {
	return watchTable{map[string]map[*Client]watchMode{}, map[*Client]map[string]struct{}{}}
}

// add sets a watch.
func (w *watchTable) add(path string, c *Client, mode watchMode) {
	if w.byPath[path] == nil {
		w.byPath[path] = map[*Client]watchMode{}
	}
	w.byPath[path][c] = mode
	if w.byClient[c] == nil {
		w.byClient[c] = map[string]struct{}{}
	}
	w.byClient[c][path] = struct{}{}
}

// remove takes a watch away. It fails with NoWatcher if there is none.
func (w *watchTable) remove(path string, c *Client) jute.Code {
	if _, ok := w.byPath[path][c]; !ok {
		return jute.CodeNoWatcher
	}
	delete(w.byPath[path], c)
	if len(w.byPath[path]) == 0 {
		delete(w.byPath, path)
	}
	delete(w.byClient[c], path)
	if len(w.byClient[c]) == 0 {
		delete(w.byClient, c)
	}
	return jute.CodeOK
}

// removeClient takes away every watch of a connection.
func (w *watchTable) removeClient(c *Client) {
	for path := range w.byClient[c] {
		w.remove(path, c)
	}
}

// find answers checkWatches as ZooKeeper 3.8 does, which finds the watches of all clients. It fails for
// a path without a slash. If there is no watch on the path, but recursive ones elsewhere, it also fails
// for a path that does not begin with a slash.
func (w *watchTable) find(path string) jute.Code {
	switch {
	case path == "":
		return jute.CodeNoWatcher
	case !strings.Contains(path, "/"):
		return jute.CodeMarshallingError
	case len(w.byPath[path]) > 0:
		return jute.CodeOK
	case path[0] != '/' && w.count(func(mode watchMode) bool { return mode == lastingBelow }) > 0:
		return jute.CodeMarshallingError
	}
	return jute.CodeNoWatcher
}

// fire sends an event to the clients that watch for it, except to those in told, and returns the clients
// that watch for it. Clients that may not read the node by its acl get nothing.
func (w *watchTable) fire(event int32, path string, acl []jute.ACL, told map[*Client]bool) map[*Client]bool {
	meant := map[*Client]bool{}
	for c, mode := range w.byPath[path] {
		if mode == lastingBelow && event == jute.EventNodeChildrenChanged {
			continue
		}
		meant[c] = true
		if mode == oneShot {
			w.remove(path, c)
		}
	}
	if event != jute.EventNodeChildrenChanged {
		for above := path; above != rootPath; {
			above, _ = parentOf(above)
			if above == "" {
				above = rootPath
			}
			for c, mode := range w.byPath[above] {
				if mode == lastingBelow {
					meant[c] = true
				}
			}
		}
	}
	for c := range meant {
		if !told[c] && permits(acl, jute.PermRead, c.Identities) {
			c.Notify(event, path)
		}
	}
	return meant
}

// count returns how many watches satisfy counts.
func (w *watchTable) count(counts func(watchMode) bool) int {
	n := 0
	for _, watches := range w.byPath {
		for _, mode := range watches {
			if counts(mode) {
				n++
			}
		}
	}
	return n
}
