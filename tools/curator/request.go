package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/terminaltext"
	"github.com/go-curator/curator/tools/curator/internal/yaml"
)

// maxReply is how much a server may answer: 100,000 children with long names.
const maxReply = 64 << 20

// answerTimeout bounds what a command asks, while the ensemble may be away.
const answerTimeout = 10 * time.Minute

// request is a command that asks the ensemble, or changes something of it, and ends.
type request struct {
	use, short, help, example string
	least, most               int  // arguments
	writes                    bool // it changes something
	prints                    bool // it has --output
	flags                     func(cmd *cobra.Command)
	check                     func(args []string) error // without a server; may be nil
	lasts                     func() bool               // it goes on until somebody ends it; nil is no
	run                       func(ctx context.Context, a *answer, args []string) error
}

// answer is the session of a request, and where its result goes.
type answer struct {
	*session
	name   string // of the command
	format string
	again  bool // what is shown was there before: that it has gone is no error
}

// gone reports whether what was shown before is not there any more.
func (a *answer) gone(err error) bool { return a.again && errors.Is(err, framework.ErrNoNode) }

// requestCommand makes the command of curator for a request.
func (p *program) requestCommand(a request) *cobra.Command {
	name, _, _ := strings.Cut(a.use, " ")
	return p.commandOf(a, func(ctx context.Context, format string, args []string) error {
		return p.ask(ctx, name, format, a, args)
	})
}

// commandOf makes a command of curator with the flags and checks of a request.
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
			return usage("curator %s needs more: curator %s", name, a.use)
		case len(args) > a.most:
			return usage("curator %s takes no argument %q: curator %s", name, args[a.most], a.use)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != asTable && format != asJSON && format != asYAML {
			return usage("--output %q is none of table, json and yaml", format)
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
		return usage("read-only: curator %s writes to the ensemble", name)
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
	_ = s.close(ctx) // the session has no nodes; it expires if the server does not hear of it
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

// document writes a value as JSON or YAML.
func (a *answer) document(value any) error {
	text, err := terminaltext.JSON(value)
	if err == nil && a.format == asYAML {
		text, err = yaml.FromJSON(text)
	}
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	return err
}

// table writes rows of cells in columns. Cells may have any text.
func (a *answer) table(rows [][]string) error {
	for _, line := range columnsOf(rows) {
		a.stdout.printf("%s\n", line)
	}
	return a.stdout.err
}
