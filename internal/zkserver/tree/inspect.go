package tree

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

// Get returns a node's data and Stat, and whether there is one.
func (st *State) Get(path string) ([]byte, jute.Stat, bool) {
	n := st.nodes.get(path)
	if n == nil {
		return nil, jute.Stat{}, false
	}
	return bytes.Clone(n.data), n.stat(), true
}

// Children returns the names of a node's children, sorted; none if there is no such node.
func (st *State) Children(path string) []string {
	n := st.nodes.get(path)
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.children))
}

// SetSequence sets the number that the next sequential child of a node gets. Its Cversion
// changes with it. It is false if there is no such node.
func (st *State) SetSequence(path string, next int32) bool {
	n := st.nodes.get(path)
	if n == nil {
		return false
	}
	n.creates = next
	return true
}

// Watches returns how many watches clients have set. A persistent one counts once.
func (st *State) Watches() int {
	return st.data.count(everyMode) + st.children.count(func(mode watchMode) bool { return mode == oneShot })
}

func everyMode(watchMode) bool { return true }

// Figures are counts of what a State has, as ZooKeeper's four-letter words count.
type Figures struct {
	Nodes      int // the root counts twice
	Ephemerals int
	Bytes      int // of data and paths
	Sessions   int
	Watches    int // in both tables: a persistent one is in each

	WatchingClients, WatchedPaths, DataWatches int // watches on data only
}

// Figures counts what there is.
func (st *State) Figures() Figures {
	f := Figures{
		Nodes:           len(st.nodes) + 1,
		Sessions:        len(st.sessions),
		WatchingClients: len(st.data.byClient),
		WatchedPaths:    len(st.data.byPath),
		DataWatches:     st.data.count(everyMode),
	}
	f.Watches = f.DataWatches + st.children.count(everyMode)
	for _, sess := range st.sessions {
		f.Ephemerals += len(sess.ephemerals)
	}
	for path, n := range st.nodes {
		f.Bytes += len(path) + len(n.data)
	}
	return f
}
