package screen

import "errors"

// ErrNoTerminal is returned by Open when there is nothing to draw on.
var ErrNoTerminal = errors.New("this is no terminal")

// Keys that are no characters.
const (
	KeyUp byte = iota + 0x80
	KeyDown
	KeyPageUp
	KeyPageDown
)

// keys are what terminals send for them.
var keys = map[string]byte{
	"\x1b[A": KeyUp, "\x1bOA": KeyUp, "\x1b[B": KeyDown, "\x1bOB": KeyDown, "\x1b[5~": KeyPageUp, "\x1b[6~": KeyPageDown,
}

// Options of a Terminal.
type Options struct {
	// Stop stops this process until it is to go on. Wait calls it when the user asks for that
	// (Ctrl-Z), with the terminal as it was before.
	Stop func()
	// Colourless leaves colours out.
	Colourless bool
}

// codes are what a terminal is told for the styles: colours among the eight that every one has,
// which their user may have chosen.
var codes = map[Style]string{
	Strong: "\x1b[1m", Faint: "\x1b[2m", Good: "\x1b[32m", Bad: "\x1b[1;31m", Note: "\x1b[33m",
}

// colourless are the codes without colours.
var colourless = map[Style]string{Strong: "\x1b[1m", Faint: "\x1b[2m", Bad: "\x1b[1m"}
