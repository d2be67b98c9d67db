package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

const treeHelp = `Shows the nodes at PATH and below it, / by default, each with the size of its
data. Nodes that are deleted meanwhile are left out. With -o json the output is
a NODE: {"path": PATH, "dataLength": N, "ephemeral": BOOL, "children":
[NODE...]}.`

func (p *program) treeCommand() *cobra.Command {
	depth := 0
	return p.requestCommand(request{
		use: "tree [PATH]", short: "Show the nodes below a node", help: treeHelp, most: 1, prints: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVarP(&depth, "depth", "L", 0, "show only `N` levels below PATH; 0 is all")
		},
		check: func([]string) error {
			if depth < 0 {
				return console.Usagef("--depth %d is less than 0", depth)
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
			root, err := view.ReadTree(ctx, a.Client, path, depth)
			if err != nil {
				return err
			}
			if a.Format != view.AsTable {
				return a.Document(root)
			}
			return root.Print(a.Out)
		},
	})
}

const duHelp = `Counts the nodes at PATH and below it, / by default, and the bytes of their
data. It prints a line for each child of PATH, which includes all nodes below
the child, and the total. The bytes of names are not counted. With -o json the
output is {"path": PATH, "nodes": N, "bytes": N, "children": [{"path": PATH,
"nodes": N, "bytes": N}...]}.`

func (p *program) duCommand() *cobra.Command {
	return p.requestCommand(request{
		use: "du [PATH]", short: "Count the nodes below a node, and their bytes", help: duHelp, most: 1, prints: true,
		run: func(ctx context.Context, a *answer, args []string) error {
			path := "/"
			if len(args) > 0 {
				path = args[0]
			}
			total, children, err := view.UsageOf(ctx, a.Client, path)
			if err != nil {
				return err
			}
			if a.Format != view.AsTable {
				return a.Document(struct {
					view.Usage
					Children []view.Usage `json:"children"`
				}{total, children})
			}
			rows := [][]string{{"NODES", "BYTES", "PATH"}}
			for _, u := range append(children, total) {
				rows = append(rows, []string{strconv.FormatInt(u.Nodes, 10), strconv.FormatInt(u.Bytes, 10), u.Path})
			}
			return a.Table(rows)
		},
	})
}

const watchHelp = `Prints the events of the node at PATH and of the nodes below it, one on each
line, until a signal ends the command or, with -n, after a number of events. The
node need not exist. The events are

  watching  the server has set the watch: all later changes are reported
  created   a node was created
  deleted   a node was deleted
  changed   the data of a node was set
  children  with --node: a child was created or deleted
  reset     the connection was lost, and events may have been missed

An event does not have the new data: read the node to get it. Times are those of
this machine's clock. The servers must have ZooKeeper 3.6 or later.

With -o json each line is an object with time (UTC), event, path and zxid; zxid
is 0x0 if the server does not send it. With -o yaml each event is a document
after a line ---.`

// nodeEvent is an event of curator watch.
type nodeEvent struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	Path  string    `json:"path"`
	Zxid  string    `json:"zxid"`
}

// eventNames are the names of events in the output of curator watch.
var eventNames = map[framework.EventType]string{
	framework.NodeCreated: "created", framework.NodeDeleted: "deleted", framework.NodeDataChanged: "changed",
	framework.NodeChildrenChanged: "children", framework.WatchReset: "reset",
}

func (p *program) watchCommand() *cobra.Command {
	single, count := false, 0
	return p.requestCommand(request{
		use: "watch PATH", short: "Print changes of a node and of the nodes below it", help: watchHelp,
		example: "  curator watch /config\n  curator watch -o json /jobs | jq -r 'select(.event==\"created\").path'",
		least:   1, most: 1, prints: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&single, "node", false, "watch the node and its children's names, not the nodes below it")
			cmd.Flags().IntVarP(&count, "count", "n", 0, "end after `N` events; 0 is no limit")
		},
		check: func([]string) error {
			if count < 0 {
				return console.Usagef("--count %d is less than 0", count)
			}
			return nil
		},
		lasts: func() bool { return true },
		run: func(ctx context.Context, a *answer, args []string) error {
			mode := framework.PersistentRecursive
			if single {
				mode = framework.PersistentWatch
			}
			return a.followEvents(ctx, args[0], mode, count)
		},
	})
}

// followEvents prints events until ctx ends, or count of them if count is not 0.
func (a *answer) followEvents(ctx context.Context, path string, mode framework.AddWatchMode, count int) (err error) {
	watcher, err := watch.NewPersistentWatcher(a.Client, path, mode)
	if err != nil {
		return err
	}
	events := make(chan framework.WatchedEvent)
	returned := make(chan struct{})
	defer close(returned)
	watcher.Listenable().Add(func(_ context.Context, e framework.WatchedEvent) {
		select {
		case events <- e:
		case <-returned:
		}
	})
	if err := watcher.Start(ctx); errors.Is(err, framework.ErrUnimplemented) {
		return console.Exitf(console.ExitUnavailable, "the server does not have persistent watches: they need ZooKeeper 3.6 or later")
	} else if err != nil {
		return err
	}
	if err := a.event(nodeEvent{time.Now().UTC(), "watching", path, output.Hex(0)}); err != nil {
		return err
	}
	for n := 0; count == 0 || n < count; n++ {
		select {
		case e := <-events:
			if err := a.event(nodeEvent{time.Now().UTC(), eventNames[e.Type], e.Path, output.Hex(e.Zxid)}); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// event prints an event.
func (a *answer) event(e nodeEvent) error {
	if a.Format == view.AsTable {
		a.Stdout.Printf("%s  %-8s  %s\n", e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Event, output.Line(e.Path))
		return a.Stdout.Err()
	}
	text, err := output.JSONLine(e)
	if err != nil {
		return err
	}
	return a.Next(text)
}
