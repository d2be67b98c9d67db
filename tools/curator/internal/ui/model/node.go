package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
