package main

import (
	"fmt"
	"io"
	"time"
)

const (
	// maxNotes is how many notes are kept while stderr is blocked. Further notes are dropped.
	maxNotes = 100
	// flushTimeout bounds how long the end of the process waits until the notes are written, and
	// how long the start of CMD waits until the status line is cleared.
	flushTimeout = time.Second
	// wipe moves the cursor to the beginning of the line, and clears the line.
	wipe = "\r\x1b[K"
)

// note is something to write to stderr.
type note struct {
	text   string
	status bool          // it is a status line, which the next note replaces
	shown  chan struct{} // closed when it is written, if not nil
}

// notes writes lines to stderr on its own goroutine. Otherwise a pager that does not read could keep
// this process from ending a CMD that has lost its lock.
type notes struct {
	lines   chan note
	written chan struct{}
}

func newNotes(w io.Writer) *notes {
	n := &notes{make(chan note, maxNotes), make(chan struct{})}
	go func() {
		defer close(n.written)
		before := "" // is written before the next note
		for line := range n.lines {
			text := before + line.text
			switch before = ""; {
			case line.status && line.text != "":
				before = wipe
			case !line.status:
				text += "\n"
			}
			_, _ = io.WriteString(w, text) // stderr is where an error would be written
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

// status shows a line on a terminal until the next note replaces it.
func (n *notes) status(text string) { n.add(note{text: "curator: " + oneLine(text), status: true}) }

// endStatus clears the status line. It waits until that is done, but at most for flushTimeout.
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

// flush ends the notes. It waits until they are written, but at most for flushTimeout.
func (n *notes) flush() {
	close(n.lines)
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-n.written:
	case <-timer.C:
	}
}
