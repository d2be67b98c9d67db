package console

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unicode"
)

// The exit codes, which are the same for all commands. Most of those from 64 to 77 are from sysexits.h,
// those from 124 on from timeout(1) and the shell. The help of curator describes them to the user.
const (
	ExitNo            = 1
	ExitUsage         = 64
	ExitUnavailable   = 69
	ExitInternal      = 70
	ExitOutput        = 74
	ExitBusy          = 75
	ExitLost          = 76
	ExitForbidden     = 77
	ExitMaxHold       = 124
	ExitNotExecutable = 126
	ExitNotFound      = 127
	ExitSignal        = 128 // plus the number of the signal
)

// Exit is an error with the exit code of the process.
type Exit struct {
	Code int
	Text string // is written to stderr unless it is empty
}

// Error returns the text.
func (e *Exit) Error() string { return e.Text }

// Exitf returns an Exit with a formatted text.
func Exitf(code int, format string, args ...any) error {
	return &Exit{code, fmt.Sprintf(format, args...)}
}

// Usagef returns an Exit for a mistake of the user, such as one in the command line.
func Usagef(format string, args ...any) error { return Exitf(ExitUsage, format, args...) }

// ExitOf returns the exit code for err, and the text to write to stderr.
func ExitOf(err error) (code int, text string) {
	var e *Exit
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &e):
		return e.Code, e.Text
	}
	return ExitInternal, err.Error()
}

// oneLine replaces line breaks and control characters by spaces: a text may contain names and data
// of nodes.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
}

// Stdout is standard output. It keeps the first error, such as that of a full disk, so that the code
// that prints does not have to check each write.
type Stdout struct {
	File *os.File
	err  error
}

// Write writes p, unless an earlier write has failed.
func (o *Stdout) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	var n int
	n, o.err = o.File.Write(p)
	return n, o.err
}

// Printf writes a formatted text. Failure reports its error.
func (o *Stdout) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, args...)
}

// Err returns the error of the first write that has failed.
func (o *Stdout) Err() error { return o.err }

// Failure returns an Exit if a write has failed, otherwise nil. If the reader of a pipe has gone, as
// head does, the Exit has no text, and the code of SIGPIPE, which ends other programs then.
func (o *Stdout) Failure() error {
	switch {
	case o.err == nil:
		return nil
	case errors.Is(o.err, syscall.EPIPE):
		return &Exit{Code: ExitSignal + sigpipe}
	}
	if cause, ok := errors.AsType[syscall.Errno](o.err); ok {
		return Exitf(ExitOutput, "cannot write to standard output: %v", cause)
	}
	return Exitf(ExitOutput, "cannot write to standard output: %v", o.err)
}

// sigpipe is the number of SIGPIPE on all systems that have it.
const sigpipe = 13
