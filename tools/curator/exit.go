package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Exit codes; those from 64 to 77 are of sysexits.h, and from 124 on the shell's and
// timeout's. They are the same for all commands; help.go has the table.
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
	exitSignal        = 128 // and the signal's number
)

// exit is an error that says how the process is to end.
type exit struct {
	code int
	text string // for stderr; nothing is written if it is empty
}

// Error returns the text.
func (e *exit) Error() string { return e.text }

// exitWith makes an exit with a text.
func exitWith(code int, format string, args ...any) error {
	return &exit{code, fmt.Sprintf(format, args...)}
}

// usage makes an exit for a mistake in the command line.
func usage(format string, args ...any) error { return exitWith(exitUsage, format, args...) }

// exitOf returns the code and the text that err ends the process with.
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

// oneLine makes a text fit on one line, whatever there is in the names that it mentions.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
}
