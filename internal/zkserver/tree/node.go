package tree

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// nodeKind tells how a node may end on its own.
type nodeKind int

const (
	persistent nodeKind = iota
	ephemeral           // with its owner's session
	container           // when its last child has gone
	timed               // when it was not written for its time to live and has no children
)

// node is one node of the tree.
type node struct {
	data     []byte
	acl      []jute.ACL
	kind     nodeKind
	owner    int64         // the session of an ephemeral node
	ttl      time.Duration // of a timed node
	children map[string]struct{}

	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	version, aversion   int32
	// creates is how many children were ever created. Sequence numbers come from it;
	// clients see it only as part of Cversion.
	creates int32
}

// stat returns what a client is told of the node.
func (n *node) stat() jute.Stat {
	children := int32(len(n.children))
	return jute.Stat{
		Czxid:          n.czxid,
		Mzxid:          n.mzxid,
		Ctime:          n.ctime,
		Mtime:          n.mtime,
		Version:        n.version,
		Cversion:       n.creates*2 - children, // creates and deletes together
		Aversion:       n.aversion,
		EphemeralOwner: n.owner,
		DataLength:     int32(len(n.data)),
		NumChildren:    children,
		Pzxid:          n.pzxid,
	}
}

// childNames returns the names of the node's children, never nil, in an order that is the
// same each time and, as ZooKeeper's, not sorted: who needs an order must sort.
func (n *node) childNames() []string {
	type hashed struct {
		name string
		hash uint32
	}
	names := make([]hashed, 0, len(n.children))
	for name := range n.children {
		h := fnv.New32a()
		h.Write([]byte(name))
		names = append(names, hashed{name, h.Sum32()})
	}
	slices.SortFunc(names, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(a.name, b.name))
	})
	sorted := make([]string, len(names))
	for i := range names {
		sorted[i] = names[i].name
	}
	return sorted
}
