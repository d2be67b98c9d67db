package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/manpage"
)

const completionHelp = `Prints a script for a shell that completes commands, flags and paths of nodes.
To complete a path it reads from the ensemble that the command line names, for
at most 1.5 s. The script for bash needs the package bash-completion.`

func (p *program) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print the completion script for a shell", Long: completionHelp,
		Example: "  source <(curator completion bash)\n" +
			"  curator completion zsh >\"${fpath[1]}/_curator\"\n" +
			"  curator completion fish >~/.config/fish/completions/curator.fish",
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return console.Usagef("name one shell: curator completion bash|zsh|fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(p.Stdout, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(p.Stdout)
			}
			return cmd.Root().GenFishCompletion(p.Stdout, true)
		},
	}
}

const manHelp = `Prints the manual page of a command, or that of curator, in the format of
man(7). With --dir it writes the pages of all commands into an existing
directory.`

func (p *program) manCommand() *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use: "man [COMMAND]", Short: "Print or write manual pages", Long: manHelp,
		Example: "  curator man lock | man -l -\n  curator man --dir /usr/local/share/man/man1",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return console.Usagef("curator man takes no argument %q: curator man [COMMAND]", args[1])
			case len(args) == 1 && dir != "":
				return console.Usagef("--dir writes the pages of all commands: remove --dir or %q", args[0])
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of all commands into the directory `DIR`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if dir != "" {
			return writeManPages(cmd.Root(), dir)
		}
		of, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return console.Usagef("no manual page for %q: see curator --help", args[0])
		}
		p.Stdout.Printf("%s", manpage.Page(of, version()))
		return nil
	}
	return cmd
}

// writeManPages writes the pages of all commands into the directory dir.
func writeManPages(root *cobra.Command, dir string) error {
	for _, cmd := range append(root.Commands(), root) {
		if cmd != root && !cmd.IsAvailableCommand() {
			continue
		}
		path := filepath.Join(dir, manpage.Name(cmd)+".1")
		if err := os.WriteFile(path, []byte(manpage.Page(cmd, version())), 0o644); err != nil {
			return console.Exitf(console.ExitOutput, "cannot write the manual pages: %v", err)
		}
	}
	return nil
}

// versionCommand does what --version does.
func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Long: "Prints the version of curator, as --version does.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.Usagef("curator version takes no argument %q", args[0])
			}
			return nil
		},
		Run: func(*cobra.Command, []string) { p.Stdout.Printf("curator version %s\n", version()) },
	}
}

// version returns the version of the module from which this binary was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
