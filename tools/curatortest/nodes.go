package curatortest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// node is a node that a server starts with.
type node struct{ path, data string }

// maxNode bounds the length of a node that a server starts with, so that a client can read it.
const maxNode = 1<<20 - 1<<10

// newNodes returns the given nodes and their parents, parents first, or why a node is invalid.
func newNodes(given map[string]string) (nodes []node, why string) {
	all := map[string]string{}
	for path, data := range given {
		switch {
		case path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/"):
			return nil, path + " is reserved by ZooKeeper"
		case !strings.HasPrefix(path, "/") || path == "/":
			return nil, fmt.Sprintf("%q does not begin with a slash and a name", path)
		case len(path)+len(data) > maxNode:
			return nil, fmt.Sprintf("%s has %d bytes: more than a client could read", path, len(data))
		}
		all[path] = data
		for above := path[:strings.LastIndexByte(path, '/')]; above != ""; above = above[:strings.LastIndexByte(above, '/')] {
			all[above] = given[above]
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		nodes = append(nodes, node{path, all[path]})
	}
	return nodes, ""
}
