package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curator/internal/screen"
)

// lookCommand returns a command that shows what look returns for PATH, / by default. With --watch
// it does so again at each change.
func (p *program) lookCommand(r request, look func(ctx context.Context, a *answer, path string) (result, error)) *cobra.Command {
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
		ask := func(ctx context.Context) (result, error) { return look(ctx, a, path) }
		found, err := ask(ctx)
		switch {
		case err != nil:
			return err
		case !live:
			return a.show(found)
		}
		a.again = true
		return a.live(ctx, path, ask)
	}
	return p.requestCommand(r)
}

// show prints a result.
func (a *answer) show(r result) error {
	if a.format == asTable {
		return a.table(r.rows())
	}
	return a.document(r.document)
}

// live shows the results of look until ctx ends or the user types q.
func (a *answer) live(ctx context.Context, path string, look lookFunc) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	v := &liveView{answer: a, changed: wait.NewSignal(), news: wait.NewSignal()}
	defer v.looking.Wait()
	defer cancel()
	stop, err := v.subscribe(ctx, path)
	if err != nil {
		return err
	}
	defer stop()
	terminal, err := a.openScreen()
	if err != nil && !errors.Is(err, screen.ErrNoTerminal) {
		return err
	}
	v.looking.Go(func() { v.look(ctx, look) })
	if terminal == nil {
		return v.write(ctx)
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	return v.draw(ctx, path, terminal)
}
