package main

import (
	"fmt"
	"io"
	"time"
)

const (
	// maxNotes is how many lines wait for a stderr that nobody reads; more are dropped.
	maxNotes = 100
	// flushTimeout is how long the end of the process waits for them, and the start of CMD
	// for the end of a status line.
	flushTimeout = time.Second
	// wipe goes to the beginning of the line and empties it.
	wipe = "\r\x1b[K"
)

// note is something to write to stderr.
type note struct {
	text   string
	status bool          // it has no end yet: the next note takes its place
	shown  chan struct{} // closed when it is written, if not nil
}

// notes writes lines to stderr on a goroutine of its own: a pager that does not read must
// not keep us from ending a command that has lost its lock.
type notes struct {
	lines   chan note
	written chan struct{}
}

func newNotes(w io.Writer) *notes {
	n := &notes{make(chan note, maxNotes), make(chan struct{})}
	go func() {
		defer close(n.written)
		before := "" // what the next note begins with
		for line := range n.lines {
			text := before + line.text
			switch before = ""; {
			case line.status && line.text != "":
				before = wipe
			case !line.status:
				text += "\n"
			}
			_, _ = io.WriteString(w, text) // there is nobody to tell of an error
			if line.shown != nil {
				close(line.shown)
			}
		}
	}()
	return n
}

// say adds a line.
func (n *notes) say(format string, args ...any) {
	n.add(note{text: "curator: " + oneLine(fmt.Sprintf(format, args...))})
}

// status shows a line on a terminal until there is another one.
func (n *notes) status(text string) { n.add(note{text: "curator: " + oneLine(text), status: true}) }

// endStatus takes the status away, and returns when that is done, if it can be.
func (n *notes) endStatus() {
	shown := make(chan struct{})
	n.add(note{status: true, shown: shown})
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-shown:
	case <-timer.C:
	}
}

func (n *notes) add(line note) {
	select {
	case n.lines <- line:
	default:
		if line.shown != nil {
			close(line.shown)
		}
	}
}

// flush ends the notes and waits until they are written, if they can be.
func (n *notes) flush() {
	close(n.lines)
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-n.written:
	case <-timer.C:
	}
}
