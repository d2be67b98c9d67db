package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/demo"
	"github.com/go-curator/curator/tools/curator/internal/screen"
)

const demoHelp = `Shows locks at work, with nothing installed: an embedded ZooKeeper server inside
this process, and nine workers with a session each. Three share a mutex, three a
read-write lock, and three stand for election.

On a terminal it shows who has what, with which token, and who waits, live. The
leader is killed: another one leads when its session has expired, with a higher
token. A worker that holds the mutex is frozen: another one gets it, and when
the frozen one goes on, its late write is refused by its token. The story is
told again until q or Ctrl-C. Without a terminal it is told once, line by line.

The server listens on the loopback interface. The first line says where, so that
another terminal can look: curator locks --watch --connect ADDR. It keeps
nothing.

With --ui it shows all of it on the page of curator ui, with actions, and prints
the page's address, until Ctrl-C.`

// demoFrame is the pause between two pictures of the demonstration.
const demoFrame = 200 * time.Millisecond

func (p *program) demoCommand() *cobra.Command {
	speed, page := 1.0, false
	cmd := &cobra.Command{
		Use: "demo", Short: "Show locks at work, on a server of its own", Long: demoHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("curator demo takes no arguments, got %q", args[0])
			}
			if given := p.settings.Given(); len(given) > 0 {
				return usage("curator demo takes no %s: it is an ensemble of its own", given[0])
			}
			if !(speed >= 0.1 && speed <= 5) {
				return usage("--speed %v is not between 0.1 and 5", speed)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.demonstrate(cmd.Context(), time.Duration(float64(time.Second)/speed), page)
		},
	}
	cmd.Flags().Float64Var(&speed, "speed", speed, "how many times as fast, `N` from 0.1 to 5")
	cmd.Flags().BoolVar(&page, "ui", false, "show it on the page of curator ui")
	return cmd
}

// demonstrate runs the demonstration until it ends, or a signal asks us to.
func (p *program) demonstrate(ctx context.Context, unit time.Duration, page bool) error {
	sigs := listenSignals()
	defer sigs.stop()
	interrupted, err := sigs.until(ctx, func(ctx context.Context) (err error) {
		fleet := demo.New(demo.Options{Unit: unit})
		if err := fleet.Start(ctx); err != nil {
			return exitWith(exitUnavailable, "cannot start the demonstration: %v", err)
		}
		defer func() { err = errors.Join(err, fleet.Close(ctx)) }()
		if page {
			return p.showStoryOnPage(ctx, fleet)
		}
		terminal, err := p.openScreen()
		if errors.Is(err, screen.ErrNoTerminal) {
			return p.tellStory(ctx, fleet)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, terminal.Close()) }()
		return showStory(ctx, fleet, terminal)
	})
	if interrupted != nil {
		return &exit{code: signalCode(interrupted.signal)}
	}
	return err
}

// tellStory writes the story line by line, once.
func (p *program) tellStory(ctx context.Context, fleet *demo.Fleet) error {
	p.stdout.printf("curator demo: a ZooKeeper server inside this process, at %s\n", fleet.ConnectString())
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := fleet.Play(ctx)
		if ended <- err; err != nil {
			cancel() // a story that fails tells no end
		}
	}()
	for next := 0; ; {
		changed := fleet.Changed()
		var events []demo.Event
		events, next = fleet.Events(next)
		for _, e := range events {
			p.stdout.printf("%s\n", e.Line())
			if e.Kind == demo.Ended {
				return <-ended
			}
		}
		if p.stdout.err != nil { // nobody reads it; run tells
			cancel()
			<-ended //nolint:errcheck // nobody would read it
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return <-ended
		}
	}
}

// showStory shows the queues on the terminal, and tells the story again and again, until the user
// types q.
func showStory(ctx context.Context, fleet *demo.Fleet, terminal *screen.Terminal) error {
	ctx, cancel := context.WithCancelCause(ctx)
	told := make(chan struct{})
	defer func() {
		cancel(nil)
		<-told
	}()
	go func() {
		defer close(told)
		var err error
		for err == nil {
			err = fleet.Play(ctx)
		}
		cancel(err)
	}()
	quit := screen.Text(screen.Faint, "q or Ctrl-C ends it")
	var lines []screen.Line
	for {
		_, rows := terminal.Size()
		if now, err := lookAtFleet(ctx, fleet, rows-2); err == nil {
			lines = slices.Concat(now, []screen.Line{nil, quit})
		} else if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := terminal.Draw(lines); err != nil {
			return err
		}
		switch key, err := terminal.Wait(ctx, nil, demoFrame); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case key == 'q' || key == 'Q':
			return nil
		}
	}
}

// lookAtFleet asks for the queues, but not for long, because the terminal waits.
func lookAtFleet(ctx context.Context, fleet *demo.Fleet, rows int) ([]screen.Line, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return fleet.View(ctx, rows)
}
