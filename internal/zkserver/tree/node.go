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

// nodes is every node by its path.
type nodes map[string]*node

// newNodes returns the nodes that every server has.
func newNodes() nodes {
	return nodes{
		rootPath:   {data: []byte{}, acl: openACL, children: map[string]struct{}{"zookeeper": {}}},
		systemPath: {data: []byte{}, acl: openACL, children: map[string]struct{}{"quota": {}, "config": {}}},
		quotaPath:  {data: []byte{}, acl: openACL},
		configPath: {data: []byte{}, acl: readACL, aversion: -1},
	}
}

// get returns the node at path, nil if there is none. The root is also found as "", the
// parent of its children.
func (t nodes) get(path string) *node {
	if path == "" {
		path = rootPath
	}
	return t[path]
}

// add puts a node below its parent.
func (t nodes) add(path string, parent, n *node) {
	if parent.children == nil {
		parent.children = map[string]struct{}{}
	}
	parent.children[path[strings.LastIndexByte(path, '/')+1:]] = struct{}{}
	t[path] = n
}

// remove takes a node from its parent.
func (t nodes) remove(path string, parent *node) {
	delete(parent.children, path[strings.LastIndexByte(path, '/')+1:])
	delete(t, path)
}

// The nodes that are there from the start and can never be deleted.
const (
	rootPath   = "/"
	systemPath = "/zookeeper"
	quotaPath  = "/zookeeper/quota"
	configPath = "/zookeeper/config"
)

// isSystemPath tells whether path names a node that cannot be deleted.
func isSystemPath(path string) bool {
	return path == rootPath || path == systemPath || path == quotaPath || path == configPath
}

// parentOf returns the path of path's parent as the server splits it, before path has been
// checked: "" for a child of the root. It is false for what has no parent at all.
func parentOf(path string) (string, bool) {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", false
	}
	return path[:slash], true
}

// isValidPath tells whether a node may have the path.
func isValidPath(path string) bool {
	if path == rootPath {
		return true
	}
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return strings.IndexFunc(path, isForbidden) < 0
}

// isForbidden tells whether no path may have the character: a control character, one of
// the private use areas and, because ZooKeeper looks at UTF-16, every one beyond U+FFFF.
// Bytes that are not UTF-8 arrive as U+FFFD, which is forbidden, too.
func isForbidden(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}
