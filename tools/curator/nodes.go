package main

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// nodeStat is the Stat of a node, with the names that ZooKeeper's shell has.
type nodeStat struct {
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

func newNodeStat(path string, s framework.Stat) nodeStat {
	return nodeStat{
		Path: path, Czxid: sessionName(s.Czxid), Ctime: s.Ctime.UTC(), Mzxid: sessionName(s.Mzxid), Mtime: s.Mtime.UTC(),
		Pzxid: sessionName(s.Pzxid), Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: sessionName(s.EphemeralOwner), DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// rows returns the rows of the table of curator stat.
func (n nodeStat) rows() [][]string {
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
			names, err := a.client.GetChildren().ForPath(ctx, path)
			if err != nil {
				return err
			}
			slices.Sort(names)
			if a.format != asTable {
				return a.document(struct {
					Path     string   `json:"path"`
					Children []string `json:"children"`
				}{path, slices.Concat([]string{}, names)})
			}
			rows := make([][]string, len(names))
			for i, name := range names {
				rows[i] = []string{name}
			}
			return a.table(rows)
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
			exists, err := a.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, args[0])
			switch {
			case err != nil:
				return err
			case !exists:
				return exitWith(exitNo, "there is no node %s", args[0])
			case a.format != asTable:
				return a.document(newNodeStat(args[0], stat))
			}
			return a.table(newNodeStat(args[0], stat).rows())
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
			data, err := a.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, args[0])
			switch {
			case err != nil:
				return err
			case a.format != asTable:
				return a.document(newNodeData(args[0], stat, data))
			case terminalWidth(a.stdout.file) > 0:
				a.stdout.printf("%s\n", output.Block(string(data)))
				return nil
			}
			_, err = a.stdout.Write(data)
			return err
		},
	})
}

// nodeData is a node's Stat and data.
type nodeData struct {
	nodeStat
	Data       *string `json:"data,omitempty"`
	DataBase64 string  `json:"dataBase64,omitempty"`
}

func newNodeData(path string, stat framework.Stat, data []byte) nodeData {
	n := nodeData{nodeStat: newNodeStat(path, stat)}
	if utf8.Valid(data) {
		text := string(data)
		n.Data = &text
	} else {
		n.DataBase64 = base64.StdEncoding.EncodeToString(data)
	}
	return n
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
				return usage("--set: %v", err)
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			switch {
			case !given():
				return showACL(ctx, a, args)
			case a.settings.ReadOnly:
				return usage("curator acl --set writes to the ensemble, and --read-only is set")
			}
			_, err := a.client.SetACL().ForPath(ctx, args[0], acl)
			return err
		},
	})
}

func showACL(ctx context.Context, a *answer, args []string) error {
	var stat framework.Stat
	list, err := a.client.GetACL().StoringStatIn(&stat).ForPath(ctx, args[0])
	if err != nil {
		return err
	}
	if a.format == asTable {
		rows := make([][]string, len(list))
		for i, acl := range list {
			rows[i] = []string{acl.String()}
		}
		return a.table(rows)
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
	return a.document(struct {
		Path     string  `json:"path"`
		Aversion int32   `json:"aversion"`
		ACL      []entry `json:"acl"`
	}{args[0], stat.Aversion, entries})
}

// vanished reports whether err says that a node was deleted while a tree was read. That is not a
// failure of the command.
func vanished(err error) bool { return errors.Is(err, framework.ErrNoNode) }
