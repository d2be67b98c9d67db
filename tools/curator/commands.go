package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usageTemplate is the template of cobra, but for 80 columns, and with the flags of the ensemble
// under a heading of their own.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if and .HasParent .HasAvailableInheritedFlags (not (index .Annotations "alone"))}}

Flags of the ensemble:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if not .HasParent}}

Flags of the ensemble, for all commands that connect to one:
{{.PersistentFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}

"curator help COMMAND" shows the help of a command.{{end}}
`

// command returns the tree of commands.
func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:               "curator",
		Short:             "Run commands under ZooKeeper locks, and show who holds locks",
		Long:              rootHelp,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if like := namesLike(root, args[0]); len(like) > 0 {
			return usage("unknown command %q: did you mean %s? see curator --help", args[0], strings.Join(like, " or "))
		}
		return usage("unknown command %q: see curator --help", args[0])
	}
	root.RunE = func(*cobra.Command, []string) error { return usage("a command is missing: see curator --help") }
	root.SuggestionsMinimumDistance = 2
	root.PersistentFlags().SortFlags = false
	root.PersistentFlags().AddFlagSet(p.settings.Flags())
	root.SetUsageTemplate(usageTemplate)
	for _, group := range p.groups() {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(helpCommand(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v; see %s --help", err, cmd.CommandPath())
	})
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	return root
}

// namesLike returns the commands that the user may have meant by an unknown name: the command that
// has this name in another tool, or else those with a similar name.
func namesLike(root *cobra.Command, name string) []string {
	for command, others := range otherNames {
		if slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(other, name) }) {
			return []string{command}
		}
	}
	return root.SuggestionsFor(name)
}

// otherNames are the names that other tools have for a command.
var otherNames = map[string][]string{
	"acl": {"getAcl", "setAcl"}, "create": {"mkdir", "touch"}, "get": {"cat"}, "health": {"status", "srvr"},
	"ls": {"list", "ls2"}, "rm": {"delete", "deleteall", "rmr"}, "tree": {"find"},
}

// alone marks a command that connects to no ensemble.
func alone(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{"alone": "yes"}
	return cmd
}

// group is a heading of the help, and the commands below it.
type group struct {
	title    string
	commands []*cobra.Command
}

func (p *program) groups() []group {
	var under []*cobra.Command
	for _, k := range kinds {
		under = append(under, p.runCommand(k))
	}
	return []group{
		{"Run a command under a lock", under},
		{"Show", []*cobra.Command{
			p.locksCommand(), p.leadersCommand(), p.queuesCommand(), p.servicesCommand(), p.watchCommand(), p.lsCommand(), p.getCommand(), p.statCommand(), p.aclCommand(), p.treeCommand(), p.duCommand(), p.healthCommand(), p.verifyCommand(),
		}},
		{"Change", []*cobra.Command{p.revokeCommand(), p.breakCommand(), p.setCommand(), p.createCommand(), p.rmCommand()}},
		{"Serve", []*cobra.Command{p.uiCommand(), alone(p.serverCommand())}},
		{"Try", []*cobra.Command{alone(p.demoCommand())}},
		{"Set up", []*cobra.Command{alone(p.completionCommand()), alone(p.manCommand()), alone(p.versionCommand())}},
	}
}

// helpCommand is the help command of cobra, but for an unknown topic its error has one line.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "Show the help of a command",
		Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage("no help for %q: see curator --help", strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
