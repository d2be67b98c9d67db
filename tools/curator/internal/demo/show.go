package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/screen"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

const (
	// frame is the pause between two updates of the screen.
	frame = 200 * time.Millisecond
	// lookTimeout bounds the requests for a screen, which waits for them.
	lookTimeout = time.Second
)

// Tell plays the story once, and writes it to w line by line.
func (f *Fleet) Tell(ctx context.Context, w io.Writer) error {
	if _, err := fmt.Fprintf(w, "curator demo: a ZooKeeper server inside this process, at %s\n", f.connect); err != nil {
		return err
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := f.Play(ctx)
		if ended <- err; err != nil {
			cancel() // a story that failed has no event Ended
		}
	}()
	for next := 0; ; {
		changed := f.Changed()
		var events []Event
		events, next = f.Events(next)
		for _, e := range events {
			if _, err := fmt.Fprintln(w, e.Line()); err != nil {
				cancel()
				<-ended //nolint:errcheck // it is the end of ctx
				return err
			}
			if e.Kind == Ended {
				return <-ended
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return <-ended
		}
	}
}

// Show shows the queues on the terminal, and plays the story repeatedly, until the user types
// q.
func (f *Fleet) Show(ctx context.Context, terminal *screen.Terminal) error {
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
			err = f.Play(ctx)
		}
		cancel(err)
	}()
	quit := screen.Text(screen.Faint, "q or Ctrl-C quits")
	var lines []screen.Line
	for {
		_, rows := terminal.Size()
		if now, err := f.viewInTime(ctx, rows-2); err == nil {
			lines = slices.Concat(now, []screen.Line{nil, quit})
		} else if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := terminal.Draw(lines); err != nil {
			return err
		}
		switch key, err := terminal.Wait(ctx, nil, frame); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case key == 'q' || key == 'Q':
			return nil
		}
	}
}

// viewInTime reads the queues within lookTimeout, because the screen waits for them.
func (f *Fleet) viewInTime(ctx context.Context, rows int) ([]screen.Line, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return f.View(ctx, rows)
}

// nameWidth is the width of a worker's name in columns.
const nameWidth = 13

// scene is everything that the screen shows at one moment.
type scene struct {
	Connect string
	Elapsed time.Duration
	Queues  []view.Lock
	Events  []Event
	States  map[string]State
}

// View reads the queues from the server, and returns a screen with the queues and, below them, as many
// of the last events as fit into the given number of rows. ctx bounds the requests.
func (f *Fleet) View(ctx context.Context, rows int) ([]screen.Line, error) {
	now, err := f.look(ctx)
	if err != nil {
		return nil, err
	}
	return now.lines(rows), nil
}

// look reads the present scene.
func (f *Fleet) look(ctx context.Context) (scene, error) {
	queues, err := view.Locks(ctx, f.client, "/")
	if err != nil {
		return scene{}, err
	}
	events, _ := f.Events(0)
	return scene{f.connect, f.Elapsed(), queues, events, f.States()}, nil
}

// lines returns the scene as lines of a screen with the given number of rows.
func (s scene) lines(rows int) []screen.Line {
	lines := []screen.Line{
		screen.Text(screen.Strong, "curator demo").And(screen.Faint, "  a ZooKeeper server inside this process, at "+s.Connect),
		nil,
	}
	for _, path := range []string{OrdersPath, CatalogPath, SchedulerPath} {
		queue := view.Lock{Path: path}
		if i := slices.IndexFunc(s.Queues, func(l view.Lock) bool { return l.Path == path }); i >= 0 {
			queue = s.Queues[i]
		}
		lines = append(lines, s.queueLines(queue)...)
		lines = append(lines, nil)
	}
	// The grants of the read-write lock are too frequent to be listed.
	listed := slices.DeleteFunc(slices.Clone(s.Events), func(e Event) bool { return e.Path == CatalogPath && e.Kind == Took })
	room := max(rows-len(lines), 3)
	for _, e := range listed[max(len(listed)-room, 0):] {
		lines = append(lines, e.Line())
	}
	return lines
}

// kinds are the names of the locks' kinds, by path.
var kinds = map[string]string{
	OrdersPath: "a mutex", CatalogPath: "a read-write lock", SchedulerPath: "an election",
}

// roomOf is the number of workers of each path. Each path has as many lines, so that the lines below
// do not move.
var roomOf = map[string]int{OrdersPath: 3, CatalogPath: 3, SchedulerPath: 3}

func (s scene) queueLines(queue view.Lock) []screen.Line {
	lines := []screen.Line{screen.Text(screen.Strong, queue.Path).And(screen.Faint, "  "+kinds[queue.Path])}
	for _, c := range queue.Holders {
		since := ""
		if i := slices.IndexFunc(s.Events, func(e Event) bool { return e.Kind == Took && e.Token == c.Token }); i >= 0 {
			since = fmt.Sprintf(" for %.1f s", (s.Elapsed - s.Events[i].At).Seconds())
		}
		verb := "holds it"
		if queue.Path == SchedulerPath {
			verb = "leads"
		}
		lines = append(lines, contender(nameOf(c), "●", screen.Good, fmt.Sprintf("%-20s token %d", verb+since, c.Token), s.States[nameOf(c)]))
	}
	for i, c := range queue.Waiters {
		lines = append(lines, contender(nameOf(c), "○", screen.Plain, fmt.Sprintf("waits, number %d", i+1), s.States[nameOf(c)]))
	}
	for len(lines) < 1+roomOf[queue.Path] {
		lines = append(lines, nil)
	}
	return lines
}

// nameOf returns the name of a contender's worker.
func nameOf(c view.Contender) string {
	if c.Label != "" {
		return c.Label
	}
	return c.Owner // in an election it is the participant's id
}

func contender(name, mark string, style screen.Style, text string, state State) screen.Line {
	line := screen.Text(style, "  "+mark+" "+screen.Pad(name, nameWidth)).And(screen.Plain, text)
	switch state {
	case StateKilled:
		return line.And(screen.Bad, "   killed, its session remains")
	case StateFrozen:
		return line.And(screen.Bad, "   frozen")
	}
	return line
}

// Line returns the event and its time as a line of a screen.
func (e Event) Line() screen.Line {
	style := screen.Plain
	switch e.Kind {
	case Killed, Frozen, Lost:
		style = screen.Bad
	case Thawed, Hired, Ended:
		style = screen.Note
	case Refused:
		style = screen.Good
	}
	return screen.Text(screen.Faint, fmt.Sprintf("%6.1fs  ", e.At.Seconds())).And(style, e.String())
}

// Events returns the events from number from on, and the number of the next event. The first event
// has the number 0. Only the last 256 events are kept.
func (f *Fleet) Events(from int) (events []Event, next int) {
	f.diary.mu.Lock()
	defer f.diary.mu.Unlock()
	next = f.diary.dropped + len(f.diary.events)
	first := min(max(from-f.diary.dropped, 0), len(f.diary.events))
	return slices.Clone(f.diary.events[first:]), next
}

// Changed returns a channel that is closed at the next event. Call it before Events, so that no event
// is missed.
func (f *Fleet) Changed() <-chan struct{} {
	f.diary.mu.Lock()
	defer f.diary.mu.Unlock()
	return f.diary.changed
}

// Elapsed returns the time since Start, 0 before Start.
func (f *Fleet) Elapsed() time.Duration {
	f.diary.mu.Lock()
	defer f.diary.mu.Unlock()
	if f.diary.begun.IsZero() {
		return 0
	}
	return time.Since(f.diary.begun)
}
