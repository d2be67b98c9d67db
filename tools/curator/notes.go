package main

import (
	"fmt"
	"io"
	"time"
)

const (
	// maxNotes is how many lines wait for a stderr that nobody reads; more are dropped.
	maxNotes = 100
	// flushTimeout is how long the end of the process waits for them.
	flushTimeout = time.Second
)

// notes writes lines to stderr on a goroutine of its own: a pager that does not read must
// not keep us from ending a command that has lost its lock.
type notes struct {
	lines   chan string
	written chan struct{}
}

func newNotes(w io.Writer) *notes {
	n := &notes{make(chan string, maxNotes), make(chan struct{})}
	go func() {
		defer close(n.written)
		for line := range n.lines {
			fmt.Fprintln(w, line) // there is nobody to tell of an error
		}
	}()
	return n
}

// say adds a line.
func (n *notes) say(format string, args ...any) {
	select {
	case n.lines <- "curator: " + oneLine(fmt.Sprintf(format, args...)):
	default:
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
