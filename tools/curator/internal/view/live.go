package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
)

const (
	// livePause is the minimum time between two calls of Look, which limits the load on the
	// ensemble while there are many changes.
	livePause = 250 * time.Millisecond
	// pollPause is the time between calls if the servers have no persistent watches.
	pollPause = time.Second
	// closeTimeout bounds the wait until a watch is removed.
	closeTimeout = 2 * time.Second
)

// Live shows what Look returns, and shows it again whenever something at or below Path changes: on the
// terminal that Open returns, or printed if there is none.
type Live struct {
	Printer
	Client *framework.Client
	Name   string // of the command
	Path   string
	Open   func() (*screen.Terminal, error) // returns screen.ErrNoTerminal if there is none
	Look   func(ctx context.Context) (Result, error)
}

// Run shows the results until ctx ends or the user types q.
func (l Live) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	v := &liveView{Live: l, changed: wait.NewSignal(), news: wait.NewSignal()}
	defer v.looking.Wait()
	defer cancel()
	stop, err := v.subscribe(ctx)
	if err != nil {
		return err
	}
	defer stop()
	terminal, err := l.Open()
	if err != nil && !errors.Is(err, screen.ErrNoTerminal) {
		return err
	}
	v.looking.Go(func() { v.look(ctx) })
	if terminal == nil {
		return v.write(ctx)
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	return v.draw(ctx, terminal)
}

// liveView is a Live that runs.
type liveView struct {
	Live
	changed wait.Signal   // something has changed at the server
	news    wait.Signal   // there is something new to show
	poll    time.Duration // the time between calls without an event; 0 is no limit
	looking sync.WaitGroup

	mu    sync.Mutex
	found *Result
	err   error     // of the last call
	away  time.Time // since when there is no connection; zero if there is one
}

// subscribe sets a watch at the path, which wakes changed, and a listener for the connection state. stop
// removes both.
func (v *liveView) subscribe(ctx context.Context) (stop func(), err error) {
	remove := v.Client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) {
		v.mu.Lock()
		switch now {
		case state.Suspended, state.Lost:
			if v.away.IsZero() {
				v.away = time.Now()
			}
		default:
			v.away = time.Time{}
		}
		v.mu.Unlock()
		v.news.Set()
	})
	watcher, err := watch.NewPersistentWatcher(v.Client, v.Path, framework.PersistentRecursive)
	if err != nil {
		remove()
		return nil, err
	}
	watcher.Listenable().Add(func(context.Context, framework.WatchedEvent) { v.changed.Set() })
	switch err := watcher.Start(ctx); {
	case errors.Is(err, framework.ErrUnimplemented):
		v.poll = pollPause
	case err != nil:
		remove()
		return nil, err
	}
	return func() {
		remove()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = watcher.Close(ctx) // the server removes the watch at the end of the session
	}, nil
}

// look calls Look at once and after each change, until ctx ends.
func (v *liveView) look(ctx context.Context) {
	for {
		begun := time.Now()
		found, err := v.Look(ctx)
		if ctx.Err() != nil {
			return
		}
		v.mu.Lock()
		if v.err = err; err == nil {
			v.found = &found
		}
		v.mu.Unlock()
		v.news.Set()
		if wait.For(ctx, max(livePause, time.Since(begun))) != nil || !v.awaitChange(ctx) {
			return
		}
	}
}

// awaitChange returns true when Look has to be called again, false when ctx has ended.
func (v *liveView) awaitChange(ctx context.Context) bool {
	var again <-chan time.Time
	if v.poll > 0 {
		timer := time.NewTimer(v.poll)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-v.changed:
		return true
	case <-again:
		return true
	case <-ctx.Done():
		return false
	}
}

// latest returns the last result, since when there is no connection, and the last error.
func (v *liveView) latest() (found *Result, away time.Time, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.found, v.away, v.err
}

// write prints each result that differs from the one before it.
func (v *liveView) write(ctx context.Context) error {
	var before []byte
	for {
		select {
		case <-v.news:
		case <-ctx.Done():
			return ctx.Err()
		}
		found, _, err := v.latest()
		if err != nil {
			return err
		}
		if found == nil {
			continue // only the connection has changed
		}
		text, err := output.JSONLine(found.Document)
		if err != nil {
			return err
		}
		if bytes.Equal(text, before) {
			continue
		}
		if err := v.append(text, *found, before == nil); err != nil {
			return err
		}
		before = text
	}
}

// append prints one of several results. There is an empty line between tables.
func (v *liveView) append(text []byte, r Result, first bool) error {
	if v.Format != AsTable {
		return v.Next(text)
	}
	if !first {
		if _, err := io.WriteString(v.Out, "\n"); err != nil {
			return err
		}
	}
	return v.Table(r.Rows())
}

// ageRefresh is the time after which the ages on the screen are updated.
const ageRefresh = time.Second

// Lines of a screen that are not rows of the table.
const (
	headLines = 3 // the command with the status, an empty line, and the names of the columns
	footLines = 2
)

// draw shows the latest result on the terminal until ctx ends or the user types q.
func (v *liveView) draw(ctx context.Context, terminal *screen.Terminal) error {
	top := 0
	for {
		width, rows := terminal.Size()
		room := max(rows-headLines-footLines, 1)
		lines, most := v.lines(width, room, top)
		top = min(top, most)
		if err := terminal.Draw(lines); err != nil {
			return err
		}
		switch key, err := terminal.Wait(ctx, v.news, ageRefresh); {
		case err != nil:
			return err
		case key == 'q' || key == 'Q':
			return nil
		default:
			top = min(max(top+scroll(key, room), 0), most)
		}
	}
}

// scroll returns by how many rows a key moves the table.
func scroll(key byte, room int) int {
	switch key {
	case 'j', screen.KeyDown:
		return 1
	case 'k', screen.KeyUp:
		return -1
	case ' ', screen.KeyPageDown:
		return room
	case 'b', screen.KeyPageUp:
		return -room
	}
	return 0
}

// lines returns the lines of the screen, with the rows of the table from number top on, and the
// greatest possible value of top.
func (v *liveView) lines(width, room, top int) (lines []screen.Line, most int) {
	found, away, err := v.latest()
	name := "curator " + v.Name + " " + v.Path
	status := screen.Span{Text: time.Now().Format(time.TimeOnly), Style: screen.Faint}
	switch {
	case !away.IsZero():
		status = screen.Span{Text: "the ensemble does not answer: no connection since " + away.Format(time.TimeOnly), Style: screen.Bad}
	case err != nil:
		status = screen.Span{Text: err.Error(), Style: screen.Bad}
	}
	space := max(width-screen.Width(name)-screen.Width(status.Text), 2)
	lines = []screen.Line{screen.Text(screen.Strong, name+strings.Repeat(" ", space)).And(status.Style, status.Text), nil}
	foot := "q quits"
	if found != nil {
		table := columns(found.Rows())
		most = max(len(table)-1-room, 0)
		top = min(top, most)
		lines = append(lines, screen.Text(screen.Faint, table[0]))
		last := min(top+room, len(table)-1)
		for _, row := range table[1+top : 1+last] {
			lines = append(lines, screen.Text(screen.Plain, row))
		}
		if most > 0 {
			foot += fmt.Sprintf("; rows %d to %d of %d, j and k scroll", top+1, last, len(table)-1)
		}
		if len(table) == 1 {
			lines = append(lines, screen.Text(screen.Faint, "(none)"))
		}
	}
	for len(lines) < headLines+room {
		lines = append(lines, nil)
	}
	return append(lines, nil, screen.Text(screen.Faint, foot)), most
}
