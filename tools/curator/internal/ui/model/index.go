package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/layout"
)

// index has the nodes by path, by parent and by session.
type index struct {
	nodes    map[string]*Node
	dirs     map[string]*dir // the nodes with children
	sessions map[int64]map[string]*Node
}

// dir is a node with children.
type dir struct {
	path     string
	children map[string]*child
	counts   [instanceNode + 1]int // by class
	ids      int                   // the number of lock nodes whose data is an id
	// line has the children that belong to recipes, in order, and some that were deleted. The last
	// loose children are not in order yet. gone is the number of deleted ones.
	line  []*child
	loose int
	gone  int
}

// child is a node below another one.
type child struct {
	name  string
	class layout.Class
	order string
	node  *Node
	gone  bool
}

// instanceNode is the class of a node that describes an instance of a service. Only its data tells.
const instanceNode = layout.Classes

// classify returns the class of a node, and the text by which nodes of a class are ordered.
func classify(name string, n *Node) (class layout.Class, order string) {
	class, order = layout.Classify(name, n.Session != 0)
	if n.Facts.Service != nil && slices.Contains(anyName, class) {
		return instanceNode, name
	}
	return class, order
}

// anyName has the classes of nodes that may be an instance of a service.
var anyName = []layout.Class{layout.Other, layout.MemberNode, layout.BarrierNode, layout.ReadyNode, layout.LeasesNode, layout.LocksNode}

func newIndex() *index {
	return &index{nodes: map[string]*Node{}, dirs: map[string]*dir{}, sessions: map[int64]map[string]*Node{}}
}

// put adds a node. It replaces a node with the same path.
func (x *index) put(n *Node) {
	if old := x.nodes[n.Path]; old != nil {
		x.remove(old)
	}
	x.nodes[n.Path] = n
	if n.Session != 0 {
		owned := x.sessions[n.Session]
		if owned == nil {
			owned = map[string]*Node{}
			x.sessions[n.Session] = owned
		}
		owned[n.Path] = n
	}
	parent, name := split(n.Path)
	if parent == "" {
		return
	}
	d := x.dirs[parent]
	if d == nil {
		d = &dir{path: parent, children: map[string]*child{}}
		x.dirs[parent] = d
	}
	d.add(name, n)
}

// remove removes a node.
func (x *index) remove(n *Node) {
	delete(x.nodes, n.Path)
	if owned := x.sessions[n.Session]; owned != nil {
		delete(owned, n.Path)
		if len(owned) == 0 {
			delete(x.sessions, n.Session)
		}
	}
	parent, name := split(n.Path)
	d := x.dirs[parent]
	if d == nil {
		return
	}
	d.remove(name)
	if len(d.children) == 0 {
		delete(x.dirs, parent)
	}
}

func (d *dir) add(name string, n *Node) {
	c := &child{name: name, node: n}
	c.class, c.order = classify(name, n)
	d.children[name] = c
	d.counts[c.class]++
	if c.class == layout.LockNode && n.Facts.ID {
		d.ids++
	}
	if c.class != layout.Other {
		d.line = append(d.line, c)
		d.loose++
	}
}

func (d *dir) remove(name string) {
	c := d.children[name]
	if c == nil {
		return
	}
	delete(d.children, name)
	d.counts[c.class]--
	if c.class == layout.LockNode && c.node.Facts.ID {
		d.ids--
	}
	if c.class != layout.Other {
		c.gone = true
		d.gone++
	}
}

func compareChildren(a, b *child) int {
	return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.name, b.name))
}

// fewLoose is the maximum number of children that sorted inserts one by one.
const fewLoose = 32

// sorted returns line in order. It may still contain deleted children.
func (d *dir) sorted() []*child {
	if d == nil {
		return nil
	}
	if d.gone > 16 && d.gone > len(d.line)/4 {
		d.line = slices.DeleteFunc(d.line, func(c *child) bool { return c.gone })
		d.gone, d.loose = 0, len(d.line) // some of the loose children were removed, so check all
		if slices.IsSortedFunc(d.line, compareChildren) {
			d.loose = 0
		}
	}
	if d.loose > fewLoose {
		slices.SortFunc(d.line, compareChildren)
		d.loose = 0
	}
	for ; d.loose > 0; d.loose-- {
		end := len(d.line) - d.loose
		c := d.line[end]
		at, _ := slices.BinarySearchFunc(d.line[:end], c, compareChildren)
		copy(d.line[at+1:end+1], d.line[at:end])
		d.line[at] = c
	}
	return d.line
}

// live returns the number of children of some classes that were not deleted.
func (d *dir) live(list ...layout.Class) (n int) {
	if d == nil {
		return 0
	}
	for _, c := range list {
		n += d.counts[c]
	}
	return n
}

// count returns the number of all children but instances, by class. A dir that is nil has none.
func (d *dir) count() (c layout.Children) {
	if d != nil {
		copy(c[:], d.counts[:])
	}
	return c
}

// each calls fn for the children of some classes, in order, until fn returns false.
func (d *dir) each(fn func(c *child) bool, list ...layout.Class) {
	for _, c := range d.sorted() {
		if !c.gone && slices.Contains(list, c.class) && !fn(c) {
			return
		}
	}
}

// Node is a node of the tree. It must not be modified.
type Node struct {
	Path     string
	Czxid    int64
	Created  time.Time // by the server's clock
	Modified time.Time
	Session  int64 // the session that owns it, 0 if it is not ephemeral
	Version  int32
	Size     int32 // the length of its data
	Facts    Facts
}

// Change is the creation, the change or the deletion of a node. A node that was deleted and created
// again has two changes.
type Change struct {
	Node    *Node // after a deletion, the former node
	Deleted bool
}

// split returns the path of the parent and the name of a node. The parent of / is "".
func split(path string) (parent, name string) {
	if path == "/" {
		return "", ""
	}
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

// join returns the path of a child.
func join(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }

// SessionName returns the id of a session in the form of ZooKeeper's logs, "" for 0.
func SessionName(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x", uint64(id))
}

// tokenOf returns the fencing token of a contender, as text.
func tokenOf(n *Node) string { return strconv.FormatInt(n.Czxid, 10) }
