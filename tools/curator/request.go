package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/hold"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
	"github.com/go-curator/curator/tools/curator/internal/settings"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

// program is one run of the command line tool.
type program struct {
	*console.Console
	settings *settings.Settings
}

// maxReply is the maximum size of a reply, enough for 100,000 children with long names.
const maxReply = 64 << 20

// answerTimeout bounds a command that does not follow changes. It is long because the command
// retries while there is no connection.
const answerTimeout = 10 * time.Minute

// request describes a command that reads from the ensemble or writes to it.
type request struct {
	use, short, help, example string
	least, most               int  // numbers of arguments
	writes                    bool // it writes to the ensemble
	prints                    bool // it has --output
	flags                     func(cmd *cobra.Command)
	check                     func(args []string) error // checks what needs no server; may be nil
	lasts                     func() bool               // reports whether it runs until the user ends it; nil is false
	run                       func(ctx context.Context, a *answer, args []string) error
}

// answer is the session of a request, and the form of its output.
type answer struct {
	*settings.Session
	view.Printer
	name  string // of the command
	again bool   // the node at PATH existed before, so that its deletion is not an error
}

// requestCommand returns the command of curator for a request.
func (p *program) requestCommand(a request) *cobra.Command {
	name, _, _ := strings.Cut(a.use, " ")
	return p.commandOf(a, func(ctx context.Context, format string, args []string) error {
		return p.ask(ctx, name, format, a, args)
	})
}

// commandOf returns a command of curator that has the flags and checks of a request, and calls run.
func (p *program) commandOf(a request, run func(ctx context.Context, format string, args []string) error) *cobra.Command {
	format := view.AsTable
	name, _, _ := strings.Cut(a.use, " ")
	cmd := &cobra.Command{Use: a.use, Short: a.short, Long: a.help, Example: a.example}
	if a.prints {
		cmd.Flags().StringVarP(&format, "output", "o", view.AsTable, "the `FORMAT` of the output: table, json or yaml")
	}
	if a.flags != nil {
		a.flags(cmd)
	}
	completeFlags(cmd)
	if strings.Contains(a.use, " PATH") || strings.Contains(a.use, "[PATH]") {
		p.completePaths(cmd)
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < a.least:
			return console.Usagef("curator %s needs more arguments: curator %s", name, a.use)
		case len(args) > a.most:
			return console.Usagef("curator %s takes no argument %q: curator %s", name, args[a.most], a.use)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != view.AsTable && format != view.AsJSON && format != view.AsYAML {
			return console.Usagef("--output must be table, json or yaml, not %q", format)
		}
		if a.check != nil {
			if err := a.check(args); err != nil {
				return err
			}
		}
		return run(cmd.Context(), format, args)
	}
	return cmd
}

// ask connects, runs the request and ends the session.
func (p *program) ask(ctx context.Context, name, format string, a request, args []string) error {
	if err := p.settings.Complete(p.LookupEnv); err != nil {
		return console.Usagef("%v", err)
	}
	if a.writes && p.settings.ReadOnly {
		return console.Usagef("curator %s writes to the ensemble, and --read-only is set", name)
	}
	s, err := settings.NewSession(p.Console, p.settings, settings.Server{}, framework.WithMaxReply(maxReply))
	if err != nil {
		return err
	}
	s.Signals = console.Listen()
	defer s.Signals.Stop()
	interrupted, err := s.Signals.Until(ctx, func(ctx context.Context) error {
		if err := s.Connect(ctx, settings.ConnectTimeout); err != nil {
			return err
		}
		if a.lasts == nil || !a.lasts() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, answerTimeout)
			defer cancel()
		}
		return a.run(ctx, &answer{Session: s, Printer: view.Printer{Out: s.Stdout, Format: format}, name: name}, args)
	})
	_ = s.Close(ctx) // the session has no ephemeral nodes; if it cannot be closed, it expires
	switch {
	case interrupted != nil:
		return &console.Exit{Code: console.SignalCode(interrupted.Signal)}
	case errors.Is(err, framework.ErrNoNode):
		return console.Exitf(console.ExitNo, "%v", err)
	case err != nil:
		return s.Explain(err)
	}
	return nil
}

// lookCommand returns a command that shows what look returns for PATH, / by default. With --watch
// it does so again at each change.
func (p *program) lookCommand(r request, look func(ctx context.Context, a *answer, path string) (view.Result, error)) *cobra.Command {
	live := false
	r.most, r.prints = 1, true
	r.flags = func(cmd *cobra.Command) {
		cmd.Flags().BoolVarP(&live, "watch", "w", false, "show each change, until q or Ctrl-C")
	}
	r.lasts = func() bool { return live }
	r.run = func(ctx context.Context, a *answer, args []string) error {
		path := "/"
		if len(args) > 0 {
			path = args[0]
		}
		ask := func(ctx context.Context) (view.Result, error) { return look(ctx, a, path) }
		found, err := ask(ctx)
		switch {
		case err != nil:
			return err
		case !live:
			return a.Show(found)
		}
		a.again = true
		return view.Live{
			Printer: a.Printer, Client: a.Client, Name: a.name, Path: path, Look: ask,
			Open: func() (*screen.Terminal, error) { return openScreen(a.Console) },
		}.Run(ctx)
	}
	return p.requestCommand(r)
}

// shown is what a look command shows: a list under its name. If the node at PATH was deleted after it was
// shown, the list is empty.
func shown[T any](a *answer, name string, list []T, err error, rows func([]T) [][]string) (view.Result, error) {
	if a.again && errors.Is(err, framework.ErrNoNode) {
		list, err = []T{}, nil
	}
	return view.Result{Document: map[string][]T{name: list}, Rows: func() [][]string { return rows(list) }}, err
}

// openScreen prepares the terminal of standard output for drawing. It returns
// screen.ErrNoTerminal if there is none, or it cannot be drawn on.
func openScreen(c *console.Console) (*screen.Terminal, error) {
	if c.Getenv("TERM") == "dumb" {
		return nil, screen.ErrNoTerminal
	}
	return screen.Open(c.Stdin, c.Stdout.File, screen.Options{Stop: func() { hold.StopAsJob(c) }, Colourless: c.Getenv("NO_COLOR") != ""})
}

// completionTimeout bounds the requests to the ensemble for a completion, because the user waits.
const completionTimeout = 1500 * time.Millisecond

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
	if parent == "" || p.settings.Complete(p.LookupEnv) != nil {
		return []string{"/"}
	}
	s, err := settings.NewSession(p.Console, p.settings, settings.Server{})
	if err != nil {
		return nil
	}
	defer s.Close(ctx) //nolint:errcheck // the session has no ephemeral nodes
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	if s.Connect(ctx, completionTimeout) != nil {
		return nil
	}
	names, err := s.Client.GetChildren().ForPath(ctx, "/"+strings.Trim(parent, "/"))
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
	"output": {view.AsTable, view.AsJSON, view.AsYAML}, "mode": {"persistent", "sequential", "container"},
}

// completeFlags makes shells complete the values of a command's flags.
func completeFlags(cmd *cobra.Command) {
	for name, values := range flagValues {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // it fails only without the flag, or the second time
		}
	}
}
