// Package console is what one run of the command line tool has around it: its arguments, environment
// and files, the notes on stderr, the signals that it receives, and its exit code. Notes and Signals are
// safe for concurrent use, but nothing may be called on Notes after Flush, and one goroutine at a time receives
// from Signals.C, or is in Until, which does so. A Stdout is for one goroutine.
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Console is what one run has around it.
type Console struct {
	Args          []string
	Stdin, Stderr *os.File
	Stdout        *Stdout
	Env           []string // has the form of os.Environ
	Self          string   // the path of this binary, "" if it is not known
	Notes         *Notes
}

// New returns a Console with notes on stderr. files are stdin, stdout and stderr.
func New(args []string, files [3]*os.File, env []string, self string) *Console {
	return &Console{
		Args: append([]string{}, args...), Stdin: files[0], Stdout: &Stdout{File: files[1]}, Stderr: files[2],
		Env: env, Self: self, Notes: NewNotes(files[2]),
	}
}

// LookupEnv returns the value of an environment variable, and whether it is set.
func (c *Console) LookupEnv(name string) (value string, ok bool) {
	for _, entry := range c.Env {
		if v, found := strings.CutPrefix(entry, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}

// Getenv returns the value of an environment variable, "" if it is not set.
func (c *Console) Getenv(name string) string {
	value, _ := c.LookupEnv(name)
	return value
}

const (
	// maxNotes is how many notes are kept while stderr is blocked. Further notes are dropped.
	maxNotes = 100
	// flushTimeout bounds how long the end of the process waits until the notes are written, and
	// how long the start of CMD waits until the status line is cleared.
	flushTimeout = time.Second
	// Wipe moves the cursor to the beginning of the line, and clears the line.
	Wipe = "\r\x1b[K"
)

// note is something to write to stderr.
type note struct {
	text   string
	status bool          // it is a status line, which the next note replaces
	shown  chan struct{} // closed when it is written, if not nil
}

// Notes writes lines to stderr on its own goroutine. Otherwise a pager that does not read could keep
// this process from ending a CMD that has lost its lock.
type Notes struct {
	lines   chan note
	written chan struct{}
}

// NewNotes returns notes on w. Flush ends them.
func NewNotes(w io.Writer) *Notes {
	n := &Notes{make(chan note, maxNotes), make(chan struct{})}
	go func() {
		defer close(n.written)
		before := "" // is written before the next note
		for line := range n.lines {
			text := before + line.text
			switch before = ""; {
			case line.status && line.text != "":
				before = Wipe
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

// Say adds a line.
func (n *Notes) Say(format string, args ...any) {
	n.add(note{text: "curator: " + oneLine(fmt.Sprintf(format, args...))})
}

// Status shows a line on a terminal until the next note replaces it.
func (n *Notes) Status(text string) { n.add(note{text: "curator: " + oneLine(text), status: true}) }

// EndStatus clears the status line. It waits until that is done, but at most for flushTimeout.
func (n *Notes) EndStatus() {
	shown := make(chan struct{})
	n.add(note{status: true, shown: shown})
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-shown:
	case <-timer.C:
	}
}

func (n *Notes) add(line note) {
	select {
	case n.lines <- line:
	default:
		if line.shown != nil {
			close(line.shown)
		}
	}
}

// Flush ends the notes. It waits until they are written, but at most for flushTimeout.
func (n *Notes) Flush() {
	close(n.lines)
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-n.written:
	case <-timer.C:
	}
}
