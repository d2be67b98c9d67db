package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/screen"
)

// ageRefresh is the time after which the ages on the screen are updated.
const ageRefresh = time.Second

// Lines of a screen that are not rows of the table.
const (
	headLines = 3 // the command with the status, an empty line, and the names of the columns
	footLines = 2
)

// draw shows the latest result on the terminal until ctx ends or the user types q.
func (v *liveView) draw(ctx context.Context, path string, terminal *screen.Terminal) error {
	top := 0
	for {
		columns, rows := terminal.Size()
		room := max(rows-headLines-footLines, 1)
		lines, most := v.lines(path, columns, room, top)
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
func (v *liveView) lines(path string, columns, room, top int) (lines []screen.Line, most int) {
	found, away, err := v.latest()
	name := "curator " + v.name + " " + path
	status := screen.Span{Text: time.Now().Format(time.TimeOnly), Style: screen.Faint}
	switch {
	case !away.IsZero():
		status = screen.Span{Text: "the ensemble does not answer: no connection since " + away.Format(time.TimeOnly), Style: screen.Bad}
	case err != nil:
		status = screen.Span{Text: err.Error(), Style: screen.Bad}
	}
	space := max(columns-screen.Width(name)-screen.Width(status.Text), 2)
	lines = []screen.Line{screen.Text(screen.Strong, name+strings.Repeat(" ", space)).And(status.Style, status.Text), nil}
	foot := "q quits"
	if found != nil {
		table := columnsOf(found.rows())
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
