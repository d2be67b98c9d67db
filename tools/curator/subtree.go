package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

// below returns the path of a child.
func below(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }

const treeHelp = `Shows the nodes at PATH and below it, / by default, each with the size of its
data. Nodes that are deleted meanwhile are left out. With -o json the output is
a NODE: {"path": PATH, "dataLength": N, "ephemeral": BOOL, "children":
[NODE...]}.`

// treeNode is a node of curator tree.
type treeNode struct {
	Path       string     `json:"path"`
	DataLength int32      `json:"dataLength"`
	Ephemeral  bool       `json:"ephemeral"`
	Children   []treeNode `json:"children"`
}

func (p *program) treeCommand() *cobra.Command {
	depth := 0
	return p.requestCommand(request{
		use: "tree [PATH]", short: "Show the nodes below a node", help: treeHelp, most: 1, prints: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVarP(&depth, "depth", "L", 0, "show only `N` levels below PATH; 0 is all")
		},
		check: func([]string) error {
			if depth < 0 {
				return usage("--depth %d is less than 0", depth)
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			path := "/"
			if len(args) > 0 {
				path = args[0]
			}
			if depth == 0 {
				depth = -1
			}
			root, err := a.readTree(ctx, path, depth)
			if err != nil {
				return err
			}
			if a.format != asTable {
				return a.document(root)
			}
			a.printTree(root, root.Path, "", "")
			return nil
		},
	})
}

// readTree reads a node, and the nodes down to the given number of levels below it. A negative
// number is all levels.
func (a *answer) readTree(ctx context.Context, path string, levels int) (treeNode, error) {
	var stat framework.Stat
	names, err := a.client.GetChildren().StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil {
		return treeNode{}, err
	}
	node := treeNode{Path: path, DataLength: stat.DataLength, Ephemeral: stat.EphemeralOwner != 0, Children: []treeNode{}}
	if levels == 0 {
		return node, nil
	}
	slices.Sort(names)
	for _, name := range names {
		child, err := a.readTree(ctx, below(path, name), levels-1)
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

// printTree prints a node after the text first, and the nodes below it after the text indent.
func (a *answer) printTree(n treeNode, name, first, indent string) {
	text := first + output.Line(name) + "  " + strconv.Itoa(int(n.DataLength))
	if n.Ephemeral {
		text += " ephemeral"
	}
	a.stdout.printf("%s\n", text)
	for i, child := range n.Children {
		name := child.Path[strings.LastIndexByte(child.Path, '/')+1:]
		if i == len(n.Children)-1 {
			a.printTree(child, name, indent+"└─ ", indent+"   ")
		} else {
			a.printTree(child, name, indent+"├─ ", indent+"│  ")
		}
	}
}

const duHelp = `Counts the nodes at PATH and below it, / by default, and the bytes of their
data. It prints a line for each child of PATH, which includes all nodes below
the child, and the total. The bytes of names are not counted. With -o json the
output is {"path": PATH, "nodes": N, "bytes": N, "children": [{"path": PATH,
"nodes": N, "bytes": N}...]}.`

// usageOf is the number of nodes at a path and below it, and of the bytes of their data.
type usageOf struct {
	Path  string `json:"path"`
	Nodes int64  `json:"nodes"`
	Bytes int64  `json:"bytes"`
}

func (p *program) duCommand() *cobra.Command {
	return p.requestCommand(request{
		use: "du [PATH]", short: "Count the nodes below a node, and their bytes", help: duHelp, most: 1, prints: true,
		run: showUsage,
	})
}

func showUsage(ctx context.Context, a *answer, args []string) error {
	path := "/"
	if len(args) > 0 {
		path = args[0]
	}
	var stat framework.Stat
	names, err := a.client.GetChildren().StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil {
		return err
	}
	total := usageOf{path, 1, int64(stat.DataLength)}
	children := []usageOf{}
	slices.Sort(names)
	for _, name := range names {
		child := usageOf{Path: below(path, name)}
		if err := a.count(ctx, child.Path, &child); err != nil {
			return err
		}
		children = append(children, child)
		total.Nodes += child.Nodes
		total.Bytes += child.Bytes
	}
	if a.format != asTable {
		return a.document(struct {
			usageOf
			Children []usageOf `json:"children"`
		}{total, children})
	}
	rows := [][]string{{"NODES", "BYTES", "PATH"}}
	for _, u := range append(children, total) {
		rows = append(rows, []string{strconv.FormatInt(u.Nodes, 10), strconv.FormatInt(u.Bytes, 10), u.Path})
	}
	return a.table(rows)
}

// count adds the nodes at path and below it to u.
func (a *answer) count(ctx context.Context, path string, u *usageOf) error {
	var stat framework.Stat
	names, err := a.client.GetChildren().StoringStatIn(&stat).ForPath(ctx, path)
	if vanished(err) {
		return nil
	}
	if err != nil {
		return err
	}
	u.Nodes++
	u.Bytes += int64(stat.DataLength)
	for _, name := range names {
		if err := a.count(ctx, below(path, name), u); err != nil {
			return err
		}
	}
	return nil
}
