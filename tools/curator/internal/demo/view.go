package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/lockview"
	"github.com/go-curator/curator/tools/curator/internal/screen"
)

// nameWidth is how many columns the name of a worker takes.
const nameWidth = 13

// scene is what there is to see at one moment.
type scene struct {
	Connect string
	Elapsed time.Duration
	Queues  []lockview.Lock
	Events  []Event
	States  map[string]State
}

// View returns the queues as they are on the server now, and below them the last events, as many
// as there is room for in so many rows. It asks the server. ctx bounds that.
func (f *Fleet) View(ctx context.Context, rows int) ([]screen.Line, error) {
	now, err := f.look(ctx)
	if err != nil {
		return nil, err
	}
	return now.lines(rows), nil
}

// look returns the present scene.
func (f *Fleet) look(ctx context.Context) (scene, error) {
	queues, err := lockview.Below(ctx, f.client, "/")
	if err != nil {
		return scene{}, err
	}
	events, _ := f.Events(0)
	return scene{f.connect, f.Elapsed(), queues, events, f.States()}, nil
}

// lines draws the scene in so many rows.
func (s scene) lines(rows int) []screen.Line {
	lines := []screen.Line{
		screen.Text(screen.Strong, "curator demo").And(screen.Faint, "  a ZooKeeper server inside this process, at "+s.Connect),
		nil,
	}
	for _, path := range []string{OrdersPath, CatalogPath, SchedulerPath} {
		queue := lockview.Lock{Path: path}
		if i := slices.IndexFunc(s.Queues, func(l lockview.Lock) bool { return l.Path == path }); i >= 0 {
			queue = s.Queues[i]
		}
		lines = append(lines, s.queueLines(queue)...)
		lines = append(lines, nil)
	}
	// Readers and the writer come and go too often to be listed.
	told := slices.DeleteFunc(slices.Clone(s.Events), func(e Event) bool { return e.Path == CatalogPath && e.Kind == Took })
	room := max(rows-len(lines), 3)
	for _, e := range told[max(len(told)-room, 0):] {
		lines = append(lines, e.Line())
	}
	return lines
}

// kinds are the words for the kinds of locks.
var kinds = map[string]string{
	OrdersPath: "a mutex", CatalogPath: "a read-write lock", SchedulerPath: "an election",
}

// roomOf is how many workers there are at a path: the lines below it do not move.
var roomOf = map[string]int{OrdersPath: 3, CatalogPath: 3, SchedulerPath: 3}

func (s scene) queueLines(queue lockview.Lock) []screen.Line {
	lines := []screen.Line{screen.Text(screen.Strong, queue.Path).And(screen.Faint, "  "+kinds[queue.Path])}
	for _, c := range queue.Holders {
		since := ""
		if i := slices.IndexFunc(s.Events, func(e Event) bool { return e.Kind == Took && e.Token == c.Token }); i >= 0 {
			since = fmt.Sprintf(" for %.1f s", (s.Elapsed - s.Events[i].At).Seconds())
		}
		verb := "has it"
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

// nameOf returns the worker's name.
func nameOf(c lockview.Contender) string {
	if c.Label != "" {
		return c.Label
	}
	return c.Owner // that of an election is its id
}

func contender(name, mark string, style screen.Style, text string, state State) screen.Line {
	line := screen.Text(style, "  "+mark+" "+screen.Pad(name, nameWidth)).And(screen.Plain, text)
	switch state {
	case StateKilled:
		return line.And(screen.Bad, "   killed: its session is left")
	case StateFrozen:
		return line.And(screen.Bad, "   frozen")
	}
	return line
}

// Line returns the event with its time, as a line of a screen.
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
