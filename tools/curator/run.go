package main

import (
	"context"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// program is one run of the command line tool.
type program struct {
	args                  []string
	stdin, stdout, stderr *os.File
	env                   []string
	notes                 *notes
}

// run does what the arguments ask for and returns the exit code. env is the environment,
// as os.Environ has it.
func run(ctx context.Context, args []string, stdin, stdout, stderr *os.File, env []string) int {
	p := &program{append([]string{}, args...), stdin, stdout, stderr, env, newNotes(stderr)}
	defer p.notes.flush()
	code, text := exitOf(p.command().ExecuteContext(ctx))
	if text != "" {
		p.notes.say("%s", text)
	}
	return code
}

// getenv returns a variable of the environment, "" if there is none.
func (p *program) getenv(name string) string {
	value := ""
	for _, entry := range p.env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:               "curator",
		Short:             "Run commands under ZooKeeper locks",
		Long:              "Curator runs commands under locks that are kept in a ZooKeeper ensemble.",
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q: there are lock and server, see curator --help", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return usage("which command? there are lock and server, see curator --help")
		},
	}
	root.AddCommand(p.lockCommand(), p.serverCommand())
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

// helpCommand is cobra's but for an unknown topic, which is an error of one line.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage("no help for %q: there are lock and server", strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// version returns the version that the module was built at.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
