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

const demoHelp = `Shows how locks are used and handed over. It needs no installation: it starts an
embedded ZooKeeper server inside this process, and nine workers with a session
each. Three share a mutex, three a read-write lock, and three take part in an
election.

On a terminal it shows, as it changes, who holds each lock, with which token,
and who waits. First the leader is killed. When its session has expired, another
worker leads, with a higher token. Then a worker that holds the mutex is frozen,
and another worker gets the mutex. When the frozen worker continues, its late
write is refused because its token is too low. This is repeated until q or
Ctrl-C. Without a terminal it is played once, and each event is a line.

The server listens on the loopback interface, at the address in the first line.
In another terminal, curator locks --watch --connect ADDR shows its locks. The
server stores nothing.

With --ui the command shows everything on the page of curator ui, with actions.
It prints the page's address, and runs until Ctrl-C.`

// demoFrame is the pause between two updates of the screen.
const demoFrame = 200 * time.Millisecond

func (p *program) demoCommand() *cobra.Command {
	speed, page := 1.0, false
	cmd := &cobra.Command{
		Use: "demo", Short: "Show how locks work, on an embedded server", Long: demoHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("curator demo takes no arguments, got %q", args[0])
			}
			if given := p.settings.Given(); len(given) > 0 {
				return usage("curator demo does not take %s: it starts its own server", given[0])
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
	cmd.Flags().Float64Var(&speed, "speed", speed, "play `N` times as fast, from 0.1 to 5")
	cmd.Flags().BoolVar(&page, "ui", false, "show it on the page of curator ui")
	return cmd
}

// demonstrate runs the demonstration until it ends, or until a signal asks this process to end.
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
			cancel() // a story that failed has no event demo.Ended
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
		if p.stdout.err != nil {
			cancel()
			<-ended    //nolint:errcheck // it is the end of ctx
			return nil // run reports the error of stdout
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return <-ended
		}
	}
}

// showStory shows the queues on the terminal, and plays the story repeatedly, until the user types
// q.
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
	quit := screen.Text(screen.Faint, "q or Ctrl-C quits")
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

// lookAtFleet reads the queues within lookTimeout, because the screen waits for them.
func lookAtFleet(ctx context.Context, fleet *demo.Fleet, rows int) ([]screen.Line, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return fleet.View(ctx, rows)
}
