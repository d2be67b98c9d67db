package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/manpage"
)

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
				return usage("curator man takes no argument %q: curator man [COMMAND]", args[1])
			case len(args) == 1 && dir != "":
				return usage("--dir writes the pages of all commands: remove --dir or %q", args[0])
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
			return usage("no manual page for %q: see curator --help", args[0])
		}
		p.stdout.printf("%s", manpage.Page(of, version()))
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
			return exitWith(exitOutput, "cannot write the manual pages: %v", err)
		}
	}
	return nil
}
