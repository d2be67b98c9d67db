package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/output"
)

// completionTimeout bounds the requests to the ensemble for a completion, because the user waits.
const completionTimeout = 1500 * time.Millisecond

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
				return usage("name one shell: curator completion bash|zsh|fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(p.stdout, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(p.stdout)
			}
			return cmd.Root().GenFishCompletion(p.stdout, true)
		},
	}
}

// completePaths makes shells complete the first argument of a command as the path of a node.
func (p *program) completePaths(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // CMD, or data in a file
		}
		return p.pathsLike(cmd.Context(), typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// pathsLike returns the paths of nodes that begin with the typed text, or none if the ensemble does
// not answer in time. It leaves out names with characters that are not printable, or that are
// special in a shell.
func (p *program) pathsLike(ctx context.Context, typed string) []string {
	parent := typed[:strings.LastIndexByte(typed, '/')+1]
	if parent == "" || p.settings.Complete(p.lookupEnv) != nil {
		return []string{"/"}
	}
	s, err := p.newSession(nil)
	if err != nil {
		return nil
	}
	defer s.close(ctx) //nolint:errcheck // the session has no ephemeral nodes
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	if s.connect(ctx, completionTimeout) != nil {
		return nil
	}
	names, err := s.client.GetChildren().ForPath(ctx, "/"+strings.Trim(parent, "/"))
	if err != nil {
		return nil
	}
	var paths []string
	for _, name := range names {
		path := parent + name
		if strings.HasPrefix(path, typed) && output.Line(name) == name && !strings.ContainsAny(name, " \t\"'\\$`&|;<>()*?[]") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// flagValues are the permitted values of flags, for the completion.
var flagValues = map[string][]string{
	"output": {asTable, asJSON, asYAML}, "mode": {"persistent", "sequential", "container"},
}

// completeFlags makes shells complete the values of a command's flags.
func completeFlags(cmd *cobra.Command) {
	for name, values := range flagValues {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // it fails only without the flag, or the second time
		}
	}
}
