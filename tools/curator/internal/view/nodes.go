package view

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

// NodeStat is the Stat of a node, with the names that ZooKeeper's shell has.
type NodeStat struct {
	Path           string    `json:"path"`
	Czxid          string    `json:"czxid"`
	Ctime          time.Time `json:"ctime"`
	Mzxid          string    `json:"mzxid"`
	Mtime          time.Time `json:"mtime"`
	Pzxid          string    `json:"pzxid"`
	Version        int32     `json:"version"`
	Cversion       int32     `json:"cversion"`
	Aversion       int32     `json:"aversion"`
	EphemeralOwner string    `json:"ephemeralOwner"`
	DataLength     int32     `json:"dataLength"`
	NumChildren    int32     `json:"numChildren"`
}

// NewNodeStat returns the Stat of the node at path.
func NewNodeStat(path string, s framework.Stat) NodeStat {
	return NodeStat{
		Path: path, Czxid: output.Hex(s.Czxid), Ctime: s.Ctime.UTC(), Mzxid: output.Hex(s.Mzxid), Mtime: s.Mtime.UTC(),
		Pzxid: output.Hex(s.Pzxid), Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: output.Hex(s.EphemeralOwner), DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// Rows returns the rows of the table of curator stat.
func (n NodeStat) Rows() [][]string {
	number := func(v int32) string { return strconv.Itoa(int(v)) }
	date := func(t time.Time) string { return t.Format(time.RFC3339Nano) }
	return [][]string{
		{"path", n.Path},
		{"czxid", n.Czxid},
		{"ctime", date(n.Ctime)},
		{"mzxid", n.Mzxid},
		{"mtime", date(n.Mtime)},
		{"pzxid", n.Pzxid},
		{"version", number(n.Version)},
		{"cversion", number(n.Cversion)},
		{"aversion", number(n.Aversion)},
		{"ephemeralOwner", n.EphemeralOwner},
		{"dataLength", number(n.DataLength)},
		{"numChildren", number(n.NumChildren)},
	}
}

// NodeData is a node's Stat and data.
type NodeData struct {
	NodeStat
	Data       *string `json:"data,omitempty"`
	DataBase64 string  `json:"dataBase64,omitempty"`
}

// NewNodeData returns the Stat and the data of the node at path.
func NewNodeData(path string, stat framework.Stat, data []byte) NodeData {
	n := NodeData{NodeStat: NewNodeStat(path, stat)}
	if utf8.Valid(data) {
		text := string(data)
		n.Data = &text
	} else {
		n.DataBase64 = base64.StdEncoding.EncodeToString(data)
	}
	return n
}

// TreeNode is a node of curator tree.
type TreeNode struct {
	Path       string     `json:"path"`
	DataLength int32      `json:"dataLength"`
	Ephemeral  bool       `json:"ephemeral"`
	Children   []TreeNode `json:"children"`
}

// ReadTree reads a node, and the nodes down to the given number of levels below it. A negative
// number is all levels.
func ReadTree(ctx context.Context, client *framework.Client, path string, levels int) (TreeNode, error) {
	var stat framework.Stat
	names, err := client.GetChildren().StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil {
		return TreeNode{}, err
	}
	node := TreeNode{Path: path, DataLength: stat.DataLength, Ephemeral: stat.EphemeralOwner != 0, Children: []TreeNode{}}
	if levels == 0 {
		return node, nil
	}
	slices.Sort(names)
	for _, name := range names {
		child, err := ReadTree(ctx, client, join(path, name), levels-1)
		if vanished(err) {
			continue
		}
		if err != nil {
			return node, err
		}
		node.Children = append(node.Children, child)
	}
	return node, nil
}

// Print writes the node and the nodes below it, one on each line.
func (n TreeNode) Print(w io.Writer) error { return n.print(w, n.Path, "", "") }

// print writes the node after the text first, and the nodes below it after the text indent.
func (n TreeNode) print(w io.Writer, name, first, indent string) error {
	text := first + output.Line(name) + "  " + strconv.Itoa(int(n.DataLength))
	if n.Ephemeral {
		text += " ephemeral"
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		return err
	}
	for i, child := range n.Children {
		branch, below := "├─ ", "│  "
		if i == len(n.Children)-1 {
			branch, below = "└─ ", "   "
		}
		if err := child.print(w, baseOf(child.Path), indent+branch, indent+below); err != nil {
			return err
		}
	}
	return nil
}

// Usage is the number of nodes at a path and below it, and of the bytes of their data.
type Usage struct {
	Path  string `json:"path"`
	Nodes int64  `json:"nodes"`
	Bytes int64  `json:"bytes"`
}

// UsageOf returns the usage of the node at path with all nodes below it, and that of each of its children.
func UsageOf(ctx context.Context, client *framework.Client, path string) (total Usage, children []Usage, err error) {
	var stat framework.Stat
	names, err := client.GetChildren().StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil {
		return total, nil, err
	}
	total = Usage{path, 1, int64(stat.DataLength)}
	children = []Usage{}
	slices.Sort(names)
	for _, name := range names {
		child := Usage{Path: join(path, name)}
		if err := child.count(ctx, client, child.Path); err != nil {
			return total, nil, err
		}
		children = append(children, child)
		total.Nodes += child.Nodes
		total.Bytes += child.Bytes
	}
	return total, children, nil
}

// count adds the nodes at path and below it to the usage.
func (u *Usage) count(ctx context.Context, client *framework.Client, path string) error {
	var stat framework.Stat
	names, err := client.GetChildren().StoringStatIn(&stat).ForPath(ctx, path)
	if vanished(err) {
		return nil
	}
	if err != nil {
		return err
	}
	u.Nodes++
	u.Bytes += int64(stat.DataLength)
	for _, name := range names {
		if err := u.count(ctx, client, join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// vanished reports whether err says that a node was deleted while a tree was read. That is not a
// failure of the command.
func vanished(err error) bool { return errors.Is(err, framework.ErrNoNode) }

// join returns the path of a child.
func join(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }

// baseOf returns the name of the node at path.
func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
