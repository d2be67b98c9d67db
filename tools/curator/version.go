package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionCommand does what --version does.
func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Long: "Prints the version of curator, as --version does.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("curator version takes no argument %q", args[0])
			}
			return nil
		},
		Run: func(*cobra.Command, []string) { p.stdout.printf("curator version %s\n", version()) },
	}
}

// version returns the version of the module from which this binary was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
