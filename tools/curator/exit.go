package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Exit codes, which are the same for all commands. Most of those from 64 to 77 are from sysexits.h,
// those from 124 on from timeout(1) and the shell. The user's description is exitHelp.
const (
	exitNo            = 1
	exitUsage         = 64
	exitUnavailable   = 69
	exitInternal      = 70
	exitOutput        = 74
	exitBusy          = 75
	exitLost          = 76
	exitForbidden     = 77
	exitMaxHold       = 124
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128 // plus the number of the signal
)

// exit is an error with the exit code of the process.
type exit struct {
	code int
	text string // is written to stderr unless it is empty
}

// Error returns the text.
func (e *exit) Error() string { return e.text }

// exitWith returns an exit with a formatted text.
func exitWith(code int, format string, args ...any) error {
	return &exit{code, fmt.Sprintf(format, args...)}
}

// usage returns an exit for a mistake of the user, such as one in the command line.
func usage(format string, args ...any) error { return exitWith(exitUsage, format, args...) }

// exitOf returns the exit code for err, and the text to write to stderr.
func exitOf(err error) (code int, text string) {
	var e *exit
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &e):
		return e.code, e.text
	}
	return exitInternal, err.Error()
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
