package tree

import (
	"strings"
)

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
