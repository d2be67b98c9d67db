package screen

import "errors"

// ErrNoTerminal is returned by Open when out is not a terminal that can be drawn on.
var ErrNoTerminal = errors.New("this is not a terminal")

// Keys that are not characters.
const (
	KeyUp byte = iota + 0x80
	KeyDown
	KeyPageUp
	KeyPageDown
)

// keys has the sequences that terminals send for these keys.
var keys = map[string]byte{
	"\x1b[A": KeyUp, "\x1bOA": KeyUp, "\x1b[B": KeyDown, "\x1bOB": KeyDown, "\x1b[5~": KeyPageUp, "\x1b[6~": KeyPageDown,
}

// Options of a Terminal.
type Options struct {
	// Stop stops this process, and returns when the process is continued. Wait calls it when the
	// user types Ctrl-Z, after it has restored the terminal.
	Stop func()
	// Colourless turns colours off.
	Colourless bool
}

// codes are the control sequences of the styles. The colours are among the eight that every terminal
// has and that users can configure.
var codes = map[Style]string{
	Strong: "\x1b[1m", Faint: "\x1b[2m", Good: "\x1b[32m", Bad: "\x1b[1;31m", Note: "\x1b[33m",
}

// colourless are the control sequences without colours.
var colourless = map[Style]string{Strong: "\x1b[1m", Faint: "\x1b[2m", Bad: "\x1b[1m"}
