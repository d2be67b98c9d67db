package tree

import (
	"math/bits"
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// watchModes are how long watches last and what they see: one mode or several.
type watchModes int

const (
	oneShot      watchModes = 1 << iota // one event of its own node
	lasting                             // every event of its own node
	lastingBelow                        // every event of its node and of all below, but no NodeChildrenChanged

	anyMode = oneShot | lasting | lastingBelow
)

// watchTable has the watches of one sort: on data, or on children. As in ZooKeeper 3.8 a
// connection has one watch at most on a path in each table, and the mode it was last set
// with: a one-shot watch replaces a persistent one. In 3.9 it has one of each mode.
type watchTable struct {
	release  Release
	byPath   map[string]map[*Client]watchModes
	byClient map[*Client]map[string]struct{}
}

func newWatchTable(release Release) watchTable {
	return watchTable{release, map[string]map[*Client]watchModes{}, map[*Client]map[string]struct{}{}}
}

// add sets a watch.
func (w *watchTable) add(path string, c *Client, mode watchModes) {
	if w.byPath[path] == nil {
		w.byPath[path] = map[*Client]watchModes{}
	}
	if w.release.hasModes() {
		mode |= w.byPath[path][c]
	}
	w.byPath[path][c] = mode
	if w.byClient[c] == nil {
		w.byClient[c] = map[string]struct{}{}
	}
	w.byClient[c][path] = struct{}{}
}

// remove takes a client's watches of the modes away. It fails with NoWatcher if there is none.
func (w *watchTable) remove(path string, c *Client, modes watchModes) jute.Code {
	before := w.byPath[path][c]
	if before&modes == 0 {
		return jute.CodeNoWatcher
	}
	if left := before &^ modes; left != 0 {
		w.byPath[path][c] = left
		return jute.CodeOK
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
		w.remove(path, c, anyMode)
	}
}

// has answers checkWatches as ZooKeeper 3.9 does: whether the client has a watch of one of the modes.
func (w *watchTable) has(path string, c *Client, modes watchModes) jute.Code {
	if w.byPath[path][c]&modes == 0 {
		return jute.CodeNoWatcher
	}
	return jute.CodeOK
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
	case path[0] != '/' && w.count(lastingBelow) > 0:
		return jute.CodeMarshallingError
	}
	return jute.CodeNoWatcher
}

// fire sends an event to the clients that watch for it, except to those in told, and returns the clients
// that watch for it. Clients that may not read the node by its acl get nothing.
func (w *watchTable) fire(event int32, path string, zxid int64, acl []jute.ACL, told map[*Client]bool) map[*Client]bool {
	meant := map[*Client]bool{}
	for c, modes := range w.byPath[path] {
		if modes == lastingBelow && event == jute.EventNodeChildrenChanged {
			continue
		}
		meant[c] = true
		w.remove(path, c, oneShot)
	}
	if event != jute.EventNodeChildrenChanged {
		for above := path; above != rootPath; {
			above, _ = parentOf(above)
			if above == "" {
				above = rootPath
			}
			for c, modes := range w.byPath[above] {
				if modes&lastingBelow != 0 {
					meant[c] = true
				}
			}
		}
	}
	for c := range meant {
		if !told[c] && permits(acl, jute.PermRead, c.Identities) {
			c.Notify(event, path, zxid)
		}
	}
	return meant
}

// count returns how many watches of the modes there are.
func (w *watchTable) count(modes watchModes) int {
	n := 0
	for _, watches := range w.byPath {
		for _, set := range watches {
			n += bits.OnesCount(uint(set & modes))
		}
	}
	return n
}

// entries returns how many watches there are, where those of a client on a path count as one.
func (w *watchTable) entries() int {
	n := 0
	for _, watches := range w.byPath {
		n += len(watches)
	}
	return n
}
