// Curator is the command line of Apache Curator's locks, and of the ZooKeeper ensemble that
// they are kept in. It runs commands under locks, shows who holds them, and reads and changes
// nodes:
//
//	curator lock|rlock|wlock|semaphore|elect [flags] PATH -- CMD [ARG...]
//	curator locks|leaders|queues|services|watch|ls|get|stat|acl|tree|du|health
//	curator revoke|break|verify|set|create|rm
//	curator ui [--listen ADDR] [PATH]
//	curator demo [--ui]
//	curator server [--listen ADDR]
//	curator completion|man|version
//
// Their --help and docs/cli.md describe them and their exit codes.
//
// CMD is a process group, not a process: signals go to all its processes, and the lock is kept
// until all of them have ended. On a terminal it has the foreground while it runs. When it is
// stopped there, for example by Ctrl-Z, curator stops with it, as a shell expects of a job.
// When it continues, curator checks the lock first. A CMD that is stopped without a terminal
// keeps the lock, like a slow one.
//
// On systems without process groups only CMD's own process is ended when the lock is lost, and
// no signal is passed on.
package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/hold"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

func main() {
	hold.GuardIfAsked(os.Args[1:], os.Stdin)
	self, err := os.Executable()
	if err != nil {
		self = "" // there is no guard then
	}
	os.Exit(run(context.Background(), os.Args[1:], [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, os.Environ(), self))
}

// run runs the command that args name, and returns the exit code. files are stdin, stdout and
// stderr, env has the form of os.Environ, and self is the path of this binary, "" if it is not known.
func run(ctx context.Context, args []string, files [3]*os.File, env []string, self string) int {
	p := &program{console.New(args, files, env, self), settings.New()}
	defer p.Notes.Flush()
	err := p.command().ExecuteContext(ctx)
	if failed := p.Stdout.Failure(); failed != nil {
		err = failed // other errors may only be consequences of it
	}
	code, text := console.ExitOf(err)
	if text != "" {
		p.Notes.Say("%s", text)
	}
	return code
}

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
			return console.Usagef("unknown command %q: did you mean %s? see curator --help", args[0], strings.Join(like, " or "))
		}
		return console.Usagef("unknown command %q: see curator --help", args[0])
	}
	root.RunE = func(*cobra.Command, []string) error {
		return console.Usagef("a command is missing: see curator --help")
	}
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
		return console.Usagef("%v; see %s --help", err, cmd.CommandPath())
	})
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
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
				return console.Usagef("no help for %q: see curator --help", strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

const rootHelp = `Curator runs commands under the locks of Apache Curator, which are nodes in a
ZooKeeper ensemble. It shows who holds locks, and reads and changes nodes.

Name the ensemble with --connect, or with --ensemble, which takes it from a
section of the configuration file. Without these flags the ensemble is that of
CURATOR_CONNECT, by default 127.0.0.1:2181. The configuration file is
$XDG_CONFIG_HOME/curator/config, by default ~/.config/curator/config;
CURATOR_CONFIG names another file. The keys of a section are the flags of the
ensemble, and auth for credentials:

  # a comment
  [prod]
  connect = zk1,zk2,zk3/app
  tls-ca = prod-ca.pem
  auth = digest:ops:secret

A relative file name in a section is relative to the directory of the
configuration file. A file with credentials or a private key must not be
readable by users other than its owner. No flag takes a password, because other
users can see the arguments of a process.
` + exitHelp
