package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

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
				return usage("--count %d is less than 0", count)
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
	watcher, err := watch.NewPersistentWatcher(a.client, path, mode)
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
		return exitWith(exitUnavailable, "the server does not have persistent watches: they need ZooKeeper 3.6 or later")
	} else if err != nil {
		return err
	}
	if err := a.event(nodeEvent{time.Now().UTC(), "watching", path, sessionName(0)}); err != nil {
		return err
	}
	for n := 0; count == 0 || n < count; n++ {
		select {
		case e := <-events:
			if err := a.event(nodeEvent{time.Now().UTC(), eventNames[e.Type], e.Path, sessionName(e.Zxid)}); err != nil {
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
	if a.format == asTable {
		a.stdout.printf("%s  %-8s  %s\n", e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Event, output.Line(e.Path))
		return a.stdout.err
	}
	text, err := output.JSONLine(e)
	if err == nil && a.format == asYAML {
		text, err = output.YAML(text)
		text = append([]byte("---\n"), text...)
	}
	if err != nil {
		return err
	}
	a.stdout.printf("%s", text)
	return a.stdout.err
}
