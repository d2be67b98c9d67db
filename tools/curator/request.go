package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

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
	*session
	name   string // of the command
	format string
	again  bool // the node at PATH existed before, so that its deletion is not an error
}

// gone reports whether err says that the node at PATH was deleted after it was shown.
func (a *answer) gone(err error) bool { return a.again && errors.Is(err, framework.ErrNoNode) }

// requestCommand returns the command of curator for a request.
func (p *program) requestCommand(a request) *cobra.Command {
	name, _, _ := strings.Cut(a.use, " ")
	return p.commandOf(a, func(ctx context.Context, format string, args []string) error {
		return p.ask(ctx, name, format, a, args)
	})
}

// commandOf returns a command of curator that has the flags and checks of a request, and calls run.
func (p *program) commandOf(a request, run func(ctx context.Context, format string, args []string) error) *cobra.Command {
	format := asTable
	name, _, _ := strings.Cut(a.use, " ")
	cmd := &cobra.Command{Use: a.use, Short: a.short, Long: a.help, Example: a.example}
	if a.prints {
		cmd.Flags().StringVarP(&format, "output", "o", asTable, "the `FORMAT` of the output: table, json or yaml")
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
			return usage("curator %s needs more arguments: curator %s", name, a.use)
		case len(args) > a.most:
			return usage("curator %s takes no argument %q: curator %s", name, args[a.most], a.use)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != asTable && format != asJSON && format != asYAML {
			return usage("--output must be table, json or yaml, not %q", format)
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
	if err := p.settings.Complete(p.lookupEnv); err != nil {
		return usage("%v", err)
	}
	if a.writes && p.settings.ReadOnly {
		return usage("curator %s writes to the ensemble, and --read-only is set", name)
	}
	s, err := p.newSession(nil, framework.WithMaxReply(maxReply))
	if err != nil {
		return err
	}
	s.signals = listenSignals()
	defer s.signals.stop()
	interrupted, err := s.signals.until(ctx, func(ctx context.Context) error {
		if err := s.connect(ctx, connectTimeout); err != nil {
			return err
		}
		if a.lasts == nil || !a.lasts() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, answerTimeout)
			defer cancel()
		}
		return a.run(ctx, &answer{session: s, name: name, format: format}, args)
	})
	_ = s.close(ctx) // the session has no ephemeral nodes; if it cannot be closed, it expires
	switch {
	case interrupted != nil:
		return &exit{code: signalCode(interrupted.signal)}
	case errors.Is(err, framework.ErrNoNode):
		return exitWith(exitNo, "%v", err)
	case err != nil:
		return s.explain(err)
	}
	return nil
}

// document prints a value as JSON or YAML.
func (a *answer) document(value any) error {
	write := output.JSON
	if a.format == asYAML {
		write = output.JSONLine
	}
	text, err := write(value)
	if err == nil && a.format == asYAML {
		text, err = output.YAML(text)
	}
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	return err
}

// table prints rows in columns; see columnsOf.
func (a *answer) table(rows [][]string) error {
	for _, line := range columnsOf(rows) {
		a.stdout.printf("%s\n", line)
	}
	return a.stdout.err
}
