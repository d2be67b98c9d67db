package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
	"github.com/go-curator/curator/tools/curator/internal/settings"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

const lsHelp = `Lists the names of the children of the node at PATH, / by default, in
alphabetical order. Characters that are not printable are escaped. With -o json
the output is {"path": PATH, "children": [NAME...]}.`

func (p *program) lsCommand() *cobra.Command {
	return p.requestCommand(request{
		use: "ls [PATH]", short: "List the children of a node", help: lsHelp, most: 1, prints: true,
		run: func(ctx context.Context, a *answer, args []string) error {
			path := "/"
			if len(args) > 0 {
				path = args[0]
			}
			names, err := a.Client.GetChildren().ForPath(ctx, path)
			if err != nil {
				return err
			}
			slices.Sort(names)
			if a.Format != view.AsTable {
				return a.Document(struct {
					Path     string   `json:"path"`
					Children []string `json:"children"`
				}{path, slices.Concat([]string{}, names)})
			}
			rows := make([][]string, len(names))
			for i, name := range names {
				rows[i] = []string{name}
			}
			return a.Table(rows)
		},
	})
}

const statHelp = `Shows the Stat of the node at PATH, with the names that ZooKeeper's shell has.
With -o json it is one object with the same names. Times are UTC.`

func (p *program) statCommand() *cobra.Command {
	return p.requestCommand(request{
		use: "stat PATH", short: "Show the versions and times of a node", help: statHelp, least: 1, most: 1, prints: true,
		run: func(ctx context.Context, a *answer, args []string) error {
			var stat framework.Stat
			exists, err := a.Client.CheckExists().StoringStatIn(&stat).ForPath(ctx, args[0])
			switch {
			case err != nil:
				return err
			case !exists:
				return console.Exitf(console.ExitNo, "there is no node %s", args[0])
			case a.Format != view.AsTable:
				return a.Document(view.NewNodeStat(args[0], stat))
			}
			return a.Table(view.NewNodeStat(args[0], stat).Rows())
		},
	})
}

const getHelp = `Prints the data of the node at PATH, unchanged. On a terminal, characters that
are not printable are escaped, and a line feed follows. With -o json the output
is the object of curator stat with data added, or dataBase64 if the data is not
UTF-8.`

func (p *program) getCommand() *cobra.Command {
	return p.requestCommand(request{
		use: "get PATH", short: "Print the data of a node", help: getHelp, least: 1, most: 1, prints: true,
		run: func(ctx context.Context, a *answer, args []string) error {
			var stat framework.Stat
			data, err := a.Client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, args[0])
			switch {
			case err != nil:
				return err
			case a.Format != view.AsTable:
				return a.Document(view.NewNodeData(args[0], stat, data))
			case screen.Columns(a.Stdout.File) > 0:
				a.Stdout.Printf("%s\n", output.Block(string(data)))
				return nil
			}
			_, err = a.Stdout.Write(data)
			return err
		},
	})
}

const aclHelp = `Shows the ACL of the node at PATH, an entry scheme:id:perms on each line. With
-o json the output is {"path": PATH, "aversion": N, "acl": [{"scheme": S, "id":
I, "perms": P}...]}, where P has letters of cdrwa.

With --set the command sets the ACL instead. The value is open, creator, or
entries separated by commas.`

func (p *program) aclCommand() *cobra.Command {
	text := ""
	given := func() bool { return false }
	var acl []framework.ACL
	return p.requestCommand(request{
		use: "acl PATH", short: "Show or set the ACL of a node", help: aclHelp, least: 1, most: 1, prints: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&text, "set", "", "set the `ACL`: open, creator, or scheme:id:perms,...")
			given = func() bool { return cmd.Flags().Changed("set") }
		},
		check: func([]string) (err error) {
			if !given() {
				return nil
			}
			if acl, err = settings.ParseACL(text); err != nil {
				return console.Usagef("--set: %v", err)
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			switch {
			case !given():
				return showACL(ctx, a, args)
			case a.Settings.ReadOnly:
				return console.Usagef("curator acl --set writes to the ensemble, and --read-only is set")
			}
			_, err := a.Client.SetACL().ForPath(ctx, args[0], acl)
			return err
		},
	})
}

func showACL(ctx context.Context, a *answer, args []string) error {
	var stat framework.Stat
	list, err := a.Client.GetACL().StoringStatIn(&stat).ForPath(ctx, args[0])
	if err != nil {
		return err
	}
	if a.Format == view.AsTable {
		rows := make([][]string, len(list))
		for i, acl := range list {
			rows[i] = []string{acl.String()}
		}
		return a.Table(rows)
	}
	type entry struct {
		Scheme string `json:"scheme"`
		ID     string `json:"id"`
		Perms  string `json:"perms"`
	}
	entries := make([]entry, len(list))
	for i, acl := range list {
		entries[i] = entry{acl.Scheme, acl.ID, acl.Perms.String()}
	}
	return a.Document(struct {
		Path     string  `json:"path"`
		Aversion int32   `json:"aversion"`
		ACL      []entry `json:"acl"`
	}{args[0], stat.Aversion, entries})
}

// anyVersion matches every version of a node.
const anyVersion = -1

// versionFlag adds --version to a command that changes a node.
func versionFlag(version *int32) func(cmd *cobra.Command) {
	return func(cmd *cobra.Command) {
		cmd.Flags().Int32Var(version, "version", anyVersion, "do it only if the node has the version `N`; -1 is any")
	}
}

// versionMismatch returns an Exit with its own code if err is framework.ErrBadVersion, otherwise err.
func versionMismatch(err error, path string, version int32) error {
	if errors.Is(err, framework.ErrBadVersion) {
		return console.Exitf(console.ExitNo, "%s does not have the version %d", path, version)
	}
	return err
}

// dataOf returns arg as data, or if it is - all of standard input.
func dataOf(c *console.Console, arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	data, err := io.ReadAll(c.Stdin)
	if err != nil {
		return nil, console.Usagef("cannot read standard input: %v", err)
	}
	return data, nil
}

const setHelp = `Replaces the data of the node at PATH. If DATA is -, the data is all of standard
input, unchanged. Exit status 1 if the node does not exist, or does not have the
version of --version.`

func (p *program) setCommand() *cobra.Command {
	var version int32
	return p.requestCommand(request{
		use: "set PATH DATA", short: "Replace the data of a node", help: setHelp,
		example: "  curator set /config/limit 20\n  curator set --version 7 /config/app - <app.json",
		least:   2, most: 2, writes: true, flags: versionFlag(&version),
		run: func(ctx context.Context, a *answer, args []string) error {
			data, err := dataOf(a.Console, args[1])
			if err != nil {
				return err
			}
			_, err = a.Client.SetData().WithVersion(version).ForPath(ctx, args[0], data)
			return versionMismatch(err, args[0], version)
		},
	})
}

const createHelp = `Creates a node at PATH, and prints its path. The server adds a number to the
path of a sequential node. If DATA is -, the data is all of standard input;
without DATA the node has no data. There are no ephemeral modes, because the
node would be deleted at the end of this command. Exit status 1 if the node
exists, or its parent does not.`

// modes are the values of --mode. For a node with a TTL there is --ttl.
var modes = map[string]framework.CreateMode{
	"persistent": framework.Persistent, "sequential": framework.PersistentSequential, "container": framework.Container,
}

func (p *program) createCommand() *cobra.Command {
	mode, parents, ttl := "persistent", false, time.Duration(0)
	return p.requestCommand(request{
		use: "create PATH [DATA]", short: "Create a node", help: createHelp,
		example: "  curator create -p /config/limit 20\n  curator create --mode sequential /jobs/job- - <job.json",
		least:   1, most: 2, writes: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&mode, "mode", mode, "the `MODE`: persistent, sequential or container")
			cmd.Flags().BoolVarP(&parents, "parents", "p", false, "create missing parents")
			cmd.Flags().Var(settings.Duration{Value: &ttl, Least: time.Millisecond, Most: maxTTL}, "ttl", "let the server delete the node when it has no children and has not changed for `D`")
		},
		check: func([]string) error {
			if _, known := modes[mode]; !known {
				return console.Usagef("--mode must be persistent, sequential or container, not %q", mode)
			}
			if ttl > 0 && mode == "container" {
				return console.Usagef("--ttl and --mode container cannot be used together")
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			create := a.Client.Create().WithMode(createMode(mode, ttl)).WithData(nil)
			if ttl > 0 {
				create = create.WithTTL(ttl)
			}
			if parents {
				create = create.CreatingParentsIfNeeded()
			}
			if len(args) > 1 {
				data, err := dataOf(a.Console, args[1])
				if err != nil {
					return err
				}
				create = create.WithData(data)
			}
			path, err := create.ForPath(ctx, args[0])
			switch {
			case errors.Is(err, framework.ErrNodeExists):
				return console.Exitf(console.ExitNo, "%s exists already", args[0])
			case err != nil:
				return err
			}
			a.Stdout.Printf("%s\n", output.Line(path))
			return nil
		},
	})
}

// maxTTL is the longest TTL that ZooKeeper accepts, rounded down to days.
const maxTTL = 12725 * 24 * time.Hour

func createMode(mode string, ttl time.Duration) framework.CreateMode {
	switch m := modes[mode]; {
	case ttl > 0 && m == framework.PersistentSequential:
		return framework.PersistentSequentialWithTTL
	case ttl > 0:
		return framework.PersistentWithTTL
	default:
		return m
	}
}

const rmHelp = `Deletes the node at PATH. With -r it first deletes the nodes below it, one by
one; if the command fails, some of them may be deleted. Exit status 1 if the
node does not exist, has children and -r is not given, or does not have the
version of --version.`

func (p *program) rmCommand() *cobra.Command {
	var version int32
	recursive := false
	return p.requestCommand(request{
		use: "rm PATH", short: "Delete a node", help: rmHelp, least: 1, most: 1, writes: true,
		flags: func(cmd *cobra.Command) {
			versionFlag(&version)(cmd)
			cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "delete the nodes below it, too")
		},
		check: func(args []string) error {
			if strings.Trim(args[0], "/") == "" {
				return console.Usagef("%q cannot be deleted", args[0])
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			remove := a.Client.Delete().WithVersion(version)
			if recursive {
				remove = remove.DeletingChildrenIfNeeded()
			}
			err := remove.ForPath(ctx, args[0])
			if errors.Is(err, framework.ErrNotEmpty) {
				return console.Exitf(console.ExitNo, "%s has children; -r deletes them, too", args[0])
			}
			return versionMismatch(err, args[0], version)
		},
	})
}
