package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// stdout is standard output. It keeps the first error, such as that of a full disk, so that
// no writer of a table or of a help text needs to.
type stdout struct {
	file *os.File
	err  error
}

// Write writes.
func (o *stdout) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	var n int
	n, o.err = o.file.Write(p)
	return n, o.err
}

// printf writes a text. Its error is told at the end of the program.
func (o *stdout) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, args...)
}

// exit returns the exit for what was not written, nil if everything was. The reader of a
// pipe that has gone away, as head does, is told nothing, as by other programs.
func (o *stdout) exit() error {
	switch {
	case o.err == nil:
		return nil
	case errors.Is(o.err, syscall.EPIPE):
		return &exit{code: exitSignal + sigpipe}
	}
	if cause, ok := errors.AsType[syscall.Errno](o.err); ok {
		return exitWith(exitOutput, "cannot write to standard output: %v", cause)
	}
	return exitWith(exitOutput, "cannot write to standard output: %v", o.err)
}

// sigpipe is the number of SIGPIPE wherever there is one.
const sigpipe = 13
