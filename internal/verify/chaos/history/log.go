package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Log writes events as lines of JSON. Its methods may be called from several goroutines. A
// process may be killed at any moment: every line is one write.
type Log struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

// NewLog returns a log that writes to out.
func NewLog(out io.Writer) *Log { return &Log{out: out} }

// Add writes an event. It sets its time if that is zero.
func (l *Log) Add(e Event) {
	if e.At == 0 {
		e.At = Now()
	}
	line, err := json.Marshal(e)
	if err == nil {
		line = append(line, '\n')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.err == nil {
		_, err = l.out.Write(line)
	}
	if l.err == nil {
		l.err = err
	}
}

// Err returns the first error of the log.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// maxLine bounds a line: stacks of goroutines are events, too.
const maxLine = 4 << 20

// Read calls each with the events of a log, until it ends. A last line that was cut off when its
// process was killed is left out; another line that is no event is an error.
func Read(in io.Reader, each func(e Event)) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if len(line) > maxLine {
			return fmt.Errorf("a line of %d bytes", len(line))
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%w: %q", err, line)
		}
		each(e)
	}
}
