package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Node is a node of the tree. It must not be changed.
type Node struct {
	Path     string
	Czxid    int64
	Created  time.Time // by the server's clock
	Modified time.Time
	Session  int64 // of its owner, 0 if it is not ephemeral
	Version  int32
	Size     int32 // of its data
	Facts    Facts
}

// Change is a node that was created or has changed, or one that was deleted. A node that was
// deleted and created again is two changes.
type Change struct {
	Node    *Node // of a deleted one, as it was
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

// SessionName writes the id of a session as ZooKeeper's logs do, "" for none.
func SessionName(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x", uint64(id))
}

// tokenOf returns the fencing token of a contender, as text.
func tokenOf(n *Node) string { return strconv.FormatInt(n.Czxid, 10) }
