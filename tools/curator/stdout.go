package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// stdout is standard output. It keeps the first error, such as that of a full disk, so that the code
// that prints does not have to check each write.
type stdout struct {
	file *os.File
	err  error
}

// Write writes p, unless an earlier write has failed.
func (o *stdout) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	var n int
	n, o.err = o.file.Write(p)
	return n, o.err
}

// printf writes a formatted text. Method exit reports its error.
func (o *stdout) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, args...)
}

// exit returns an exit if a write has failed, otherwise nil. If the reader of a pipe has gone, as
// head does, the exit has no text, and the code of SIGPIPE, which ends other programs then.
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

// sigpipe is the number of SIGPIPE on all systems that have it.
const sigpipe = 13
