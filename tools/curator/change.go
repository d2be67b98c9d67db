package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// anyVersion matches every version of a node.
const anyVersion = -1

// versionFlag adds --version to a command that changes a node.
func versionFlag(version *int32) func(cmd *cobra.Command) {
	return func(cmd *cobra.Command) {
		cmd.Flags().Int32Var(version, "version", anyVersion, "do it only if the node has the version `N`; -1 is any")
	}
}

// versionMismatch returns an exit with its own code if err is framework.ErrBadVersion, otherwise err.
func versionMismatch(err error, path string, version int32) error {
	if errors.Is(err, framework.ErrBadVersion) {
		return exitWith(exitNo, "%s does not have the version %d", path, version)
	}
	return err
}

// dataOf returns arg as data, or if it is - all of standard input.
func (p *program) dataOf(arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	data, err := io.ReadAll(p.stdin)
	if err != nil {
		return nil, usage("cannot read standard input: %v", err)
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
			data, err := a.dataOf(args[1])
			if err != nil {
				return err
			}
			_, err = a.client.SetData().WithVersion(version).ForPath(ctx, args[0], data)
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
				return usage("--mode must be persistent, sequential or container, not %q", mode)
			}
			if ttl > 0 && mode == "container" {
				return usage("--ttl and --mode container cannot be used together")
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			create := a.client.Create().WithMode(createMode(mode, ttl)).WithData(nil)
			if ttl > 0 {
				create = create.WithTTL(ttl)
			}
			if parents {
				create = create.CreatingParentsIfNeeded()
			}
			if len(args) > 1 {
				data, err := a.dataOf(args[1])
				if err != nil {
					return err
				}
				create = create.WithData(data)
			}
			path, err := create.ForPath(ctx, args[0])
			switch {
			case errors.Is(err, framework.ErrNodeExists):
				return exitWith(exitNo, "%s exists already", args[0])
			case err != nil:
				return err
			}
			a.stdout.printf("%s\n", output.Line(path))
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
				return usage("%q cannot be deleted", args[0])
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			remove := a.client.Delete().WithVersion(version)
			if recursive {
				remove = remove.DeletingChildrenIfNeeded()
			}
			err := remove.ForPath(ctx, args[0])
			if errors.Is(err, framework.ErrNotEmpty) {
				return exitWith(exitNo, "%s has children; -r deletes them, too", args[0])
			}
			return versionMismatch(err, args[0], version)
		},
	})
}
